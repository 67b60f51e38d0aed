"""The shapes of the hosted platform, at the root."""
