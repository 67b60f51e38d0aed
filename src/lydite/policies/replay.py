"""``replay:FILE``: answers that were written down before, dealt to the prompts that they answer."""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lydite.errors import InputError
from lydite.policies.messages import conversation
from lydite.policies.protocol import Attempt, Prompt, SamplingParams, check_rows
from lydite.rollout import FinishReason, Message, prompt_text
from lydite.task import Task

_DECODER = msgspec.json.Decoder()


class ReplayPolicy:
    """Deals the completions of a JSONL file of ``{"prompt", "completion"}``, each text or a list of messages.

    Attempt ``index`` of a prompt is the file's ``index``-th line (from 0, in file order) with the same prompt text,
    taken before any template; so a resumed run gets exactly what it still misses. Other keys of a line are ignored.

    A task from a data set is asked with an instruction added to its question, while a file of answers often holds the
    bare question. Given the ``tasks``, a prompt that is not in the file is looked up by its ``metadata.question``.

    An attempt that the file does not hold comes back with error ``replay_missing`` (no line has this prompt) or
    ``replay_exhausted`` (fewer lines than attempts): it is graded ``invalid``, never wrong.

    The file is read and checked once at the start and its completions are read again when they are dealt: memory holds
    a digest and an offset a line, not the text. It must not change meanwhile; that is checked. Temperature and
    ``max_tokens`` say how a text comes about and mean nothing here; ``stop`` and ``logprobs`` raise.

    Args:
        path: the file.
        tasks: the tasks that will be asked, for their bare questions.

    Raises:
        InputError: the file, line and field that cannot be used.
    """

    def __init__(self, path: str | Path, *, tasks: Iterable[Task] | None = None) -> None:
        self.batch = 64
        self.concurrency = 4
        self._path = Path(path)
        try:
            self._file = self._path.open("rb")
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", path=path) from None
        try:
            self._lines, sha256 = self._index()
        except BaseException:
            self._file.close()
            raise
        self._stamp = self._file_stamp()
        self._aliases = _aliases(tasks or ())
        self.id = f"replay:{self._path.name}@{sha256[:16]}"

    async def generate(
        self,
        prompts: Sequence[Prompt],
        seeds: Sequence[Sequence[int]],
        params: SamplingParams,
        *,
        indices: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Attempt]]:
        """See :meth:`lydite.policies.protocol.Policy.generate`. Seeds choose nothing here; ``indices`` do.

        A recorded conversation with calls of tools is given turn by turn: as its next turn, where the prompt goes on
        from earlier ones, that of the same number.
        """
        places = check_rows(prompts, seeds, indices)
        for name, asked in (("stop", params.stop), ("logprobs", params.logprobs)):
            if asked:
                raise InputError("a replayed policy cannot honour this", field=name, remedy="leave it out")
        if self._file_stamp() != self._stamp:
            raise InputError("the file was changed while it was being replayed", path=self._path)
        return [self._deal(prompt, place, bool(params.tools)) for prompt, place in zip(prompts, places, strict=True)]

    async def aclose(self) -> None:
        """Close the file."""
        self._file.close()

    def _deal(self, prompt: Prompt, place: Sequence[int], episode: bool) -> list[Attempt]:
        if episode:
            turn = sum(message.role == "assistant" for message in prompt)
            start = next((at for at, message in enumerate(prompt) if message.role == "assistant"), len(prompt))
            whole = self._deal(prompt[:start], place, False)
            return [_turn(attempt, turn) for attempt in whole]
        key = _key(prompt_text(prompt))
        offsets = self._lines.get(key) or self._lines.get(self._aliases.get(key, b""))
        if offsets is None:
            return [_missing("replay_missing") for _ in place]
        return [
            Attempt(completion=self._completion(offsets[index]))
            if index < len(offsets)
            else _missing("replay_exhausted")
            for index in place
        ]

    def _completion(self, offset: int) -> tuple[Message, ...]:
        self._file.seek(offset)
        return conversation(_DECODER.decode(self._file.readline())["completion"], "assistant", field="completion")

    def _file_stamp(self) -> tuple[int, int]:
        status = os.fstat(self._file.fileno())
        return status.st_size, status.st_mtime_ns

    def _index(self) -> tuple[dict[bytes, array[int]], str]:
        lines: dict[bytes, array[int]] = {}
        sha256 = hashlib.sha256()
        offset = 0
        for number, line in enumerate(self._file, 1):
            sha256.update(line)
            if line.strip():
                key = self._check(line, number)
                lines.setdefault(key, array("Q")).append(offset)
            offset += len(line)
        if not lines:
            raise InputError("holds no line to replay", path=self._path)
        return lines, sha256.hexdigest()

    def _check(self, line: bytes, number: int) -> bytes:
        try:
            document: Any = _DECODER.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"not JSON: {error}", path=self._path, line=number) from None
        if not isinstance(document, dict):
            raise InputError("must be an object with 'prompt' and 'completion'", path=self._path, line=number)
        try:
            for field in ("prompt", "completion"):
                if field not in document:
                    raise InputError("is missing", field=field, remedy='a line is {"prompt": …, "completion": …}')
            conversation(document["completion"], "assistant", field="completion")
            return _key(prompt_text(conversation(document["prompt"], "user", field="prompt")))
        except InputError as error:
            raise error.at(self._path, number) from None


def _turn(attempt: Attempt, number: int) -> Attempt:
    """One turn of a recorded conversation."""
    if attempt.error is not None:
        return attempt
    said = [message for message in attempt.completion if message.role == "assistant"]
    return Attempt(completion=(said[number],)) if number < len(said) else _missing("replay_exhausted")


def _aliases(tasks: Iterable[Task]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for task in tasks:
        question = task.metadata.get("question")
        if isinstance(question, str):
            found[_key(task.prompt_text)] = _key(question)
    return found


def _key(text: str) -> bytes:
    # 128 bits: a key is not the place to save bytes, but a few million full prompts are.
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _missing(code: str) -> Attempt:
    return Attempt(finish=FinishReason.ERROR, error=code)
