"""The worlds of episodes: tools, set-up, freezing, and what was left behind."""

from lydite.environments.protocol import Answer, Environment, Episode, WorldLostError
from lydite.environments.registry import Environments, names

__all__ = ["Answer", "Environment", "Environments", "Episode", "WorldLostError", "names"]
