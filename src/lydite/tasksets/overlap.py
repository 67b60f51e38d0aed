"""Do the tasks that a policy is measured on stand among those it is trained on?

Three answers, strongest first, one per evaluated task:

- ``duplicate``: the same prompt, up to case, spacing, punctuation and Unicode form;
- ``near``: at least ``threshold`` of its n-grams (8 words by default) stand in one training task;
- ``template``: as either of these once every number is masked: the same problem with other numbers. Generated families
  are like that by design, so it is told apart and does not count as contamination.

Word n-grams of 8 to 13 are what contamination reports use (GPT-3, arXiv:2005.14165, appendix C: 13; PaLM,
arXiv:2204.02311, section 8: 8, with a share of 70 %). They are exact and explainable; paraphrases and translations are
not found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec

from lydite.codec import sha256
from lydite.errors import InputError
from lydite.task import Task
from lydite.tasksets._grams import Index, comparable, masked, words

Kind = Literal["duplicate", "near", "template"]


class Overlap(msgspec.Struct, frozen=True, kw_only=True):
    """One evaluated task that stands in the training set.

    Attributes:
        kind: ``duplicate``, ``near`` or ``template``.
        eval_id: the evaluated task.
        train_id: the training task that is most like it.
        share: share of the evaluated task's n-grams found in that training task, 0 to 1 (1 for equal texts).
        jaccard: shared n-grams over all n-grams of both, 0 to 1 (1 for equal texts).
        example: one n-gram that both have; the beginning of the text where the texts are equal.
        others: how many more training tasks reach the threshold in the same way.
    """

    kind: Kind
    eval_id: str
    train_id: str
    share: float
    jaccard: float
    example: str
    others: int = 0

    @property
    def contaminates(self) -> bool:
        """Whether the measurement is worth less for it; other numbers in the same template do not count."""
        return self.kind != "template"


class _Best(msgspec.Struct):
    train_id: str
    share: float
    jaccard: float
    example: str
    count: int = 1


def find_overlap(
    train: Iterable[Task], evaluated: Iterable[Task], *, n: int = 8, threshold: float = 0.5
) -> list[Overlap]:
    """Compare two sets of tasks.

    Time is linear in the words of both; memory is linear in the evaluated set, and the training set is streamed.
    n-grams shared by more than 2 % of the evaluated tasks (and more than 5) are boilerplate, and the words in them do
    not count. A prompt with fewer than ``n`` words left is compared as a whole only.

    Args:
        train: what the policy learns from.
        evaluated: what it is measured on.
        n: words per n-gram, 3 to 50.
        threshold: share of an evaluated task's n-grams from which it is reported, in (0, 1].

    Returns:
        At most one finding per evaluated task, its strongest, in the order of the evaluated set.

    Raises:
        InputError: ``n`` or ``threshold`` out of range.
    """
    if not 3 <= n <= 50:
        raise InputError(f"must be from 3 to 50, not {n}", field="n", remedy="8 to 13 words are usual")
    if not 0 < threshold <= 1:
        raise InputError(f"must be above 0 and at most 1, not {threshold}", field="threshold", remedy="0.5 is usual")
    held = list(evaluated)
    texts = [comparable(task) for task in held]
    plain = _Side([words(text) for text in texts], n, threshold)
    template = _Side([words(masked(text)) for text in texts], n, threshold)
    for task in train:
        text = comparable(task)
        plain.see(task.id, words(text))
        template.see(task.id, words(masked(text)))
    order: tuple[tuple[Kind, Callable[[int], _Best | None]], ...] = (
        ("duplicate", plain.equal),
        ("near", plain.near),
        ("template", template.equal),
        ("template", template.near),
    )
    found: list[Overlap] = []
    for index, task in enumerate(held):
        for kind, look in order:
            if best := look(index):
                found.append(_overlap(kind, task.id, best))
                break
    return found


def _overlap(kind: Kind, eval_id: str, best: _Best) -> Overlap:
    values: dict[str, Any] = {name: getattr(best, name) for name in ("train_id", "share", "jaccard", "example")}
    return Overlap(kind=kind, eval_id=eval_id, others=best.count - 1, **values)


class _Side:
    """The evaluated texts in one spelling, and for each the training text that is most like it."""

    def __init__(self, texts: list[list[str]], n: int, threshold: float) -> None:
        self._threshold, self._index = threshold, Index(texts, n)
        self._keys = [_key(text) for text in texts]
        self._equal: dict[str, _Best | None] = dict.fromkeys(self._keys)
        self._near: dict[int, _Best] = {}

    def see(self, train_id: str, text: list[str]) -> None:
        key = _key(text)
        if key in self._equal:
            if (best := self._equal[key]) is None:
                self._equal[key] = _Best(train_id, 1.0, 1.0, " ".join(text)[:80])
            else:
                best.count += 1
        for match in self._index.matches(text):
            if match.containment < self._threshold:
                continue
            best = self._near.get(match.place)
            if best is None:
                self._near[match.place] = _Best(train_id, match.containment, match.jaccard, match.example)
                continue
            best.count += 1
            if (match.containment, match.jaccard) > (best.share, best.jaccard):
                best.train_id, best.share, best.jaccard = train_id, match.containment, match.jaccard
                best.example = match.example

    def equal(self, index: int) -> _Best | None:
        return self._equal[self._keys[index]]

    def near(self, index: int) -> _Best | None:
        return self._near.get(index)


def _key(text: list[str]) -> str:
    return sha256(" ".join(text).encode("utf-8", "replace"))
