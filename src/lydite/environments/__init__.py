"""The worlds of episodes: tools, set-up, freezing, and what was left behind."""

from lydite.environments.protocol import Answer, Environment, Episode

__all__ = ["Answer", "Environment", "Episode"]
