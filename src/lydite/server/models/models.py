"""Models that can be talked to and trained: built-in ones, those under the home, and what runs of it trained."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from lydite.policies import SamplingParams
from lydite.policies.protocol import Attempt
from lydite.rollout import Message
from lydite.server.home import Home


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model.

    Attributes:
        id: what requests call it: ``builtin:tiny``, ``run:SLUG`` (what a run trained), ``run:SLUG@STAGE-KIND/STEP`` (a
            checkpoint).
        spec: of the policy (``lydite.policies.open_policy``).
        base: id of the model that it was trained from.
        created: seconds since the epoch.
        supports_rl: whether episodes with tools can be trained on it; ``why`` says what is missing where not.
    """

    id: str
    spec: str
    base: str = ""
    created: int = 0
    supports_rl: bool = False
    why: str = ""


class Models:
    """Blocking but for ``chat``; safe from threads. Weights are held by a process at the side, started when the first
    question comes, so the service stays small and a crash of a model is not one of the service."""

    def __init__(self, home: Home) -> None:
        self.home = home

    def all(self) -> list[Model]:
        raise NotImplementedError

    def find(self, name: str) -> Model:
        """By id, or by the spec of a model that is installed (``smollm2``).

        Raises:
            NotFoundError: there is none.
        """
        raise NotImplementedError

    async def chat(
        self, model: Model, prompt: Sequence[Message], params: SamplingParams, *, n: int = 1, seed: int = 0
    ) -> list[Attempt]:
        """Ask a model ``n`` times.

        Raises:
            ApiError: 503 where the model cannot be loaded or its process is gone.
        """
        raise NotImplementedError

    async def aclose(self) -> None:
        """End the process at the side."""
        raise NotImplementedError
