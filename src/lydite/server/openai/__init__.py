"""The shapes of the OpenAI API, below ``/v1``."""
