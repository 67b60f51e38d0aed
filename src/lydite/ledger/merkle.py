"""A Merkle tree over the hashes of a ledger's records, as Certificate Transparency has it (RFC 6962 section 2.1, RFC
9162 section 2.1): SHA-256, leaves and inner nodes told apart by their first byte, and a last node without a partner
goes up as it is. Leaf data are the 32 bytes of a record's hash.

A root of 32 bytes stands for all records; a path of about log2(n) hashes shows that one of them is below it, and a
proof of the same size that a longer tree begins with a shorter one.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

EMPTY = sha256(b"").digest()
"""The root of a tree without leaves."""


def leaf(data: bytes) -> bytes:
    """The hash of a leaf: SHA-256 of 0x00 and its data."""
    return sha256(b"\x00" + data).digest()


def node(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node: SHA-256 of 0x01 and its children."""
    return sha256(b"\x01" + left + right).digest()


class Tree:
    """A tree that grows at its end and keeps log2(n) hashes: those of its whole subtrees.

    Attributes:
        size: number of leaves.
    """

    __slots__ = ("_peaks", "size")

    def __init__(self) -> None:
        self.size = 0
        self._peaks: list[bytes] = []

    def add(self, data: bytes) -> None:
        """One more leaf."""
        # Written out, not in terms of leaf() and node(): an audit does this for each record.
        top, size, peaks = sha256(b"\x00" + data).digest(), self.size, self._peaks
        self.size = size + 1
        while size & 1:
            top = sha256(b"\x01" + peaks.pop() + top).digest()
            size >>= 1
        peaks.append(top)

    @property
    def root(self) -> bytes:
        """The root of the leaves so far."""
        if not self._peaks:
            return EMPTY
        *rest, top = self._peaks
        for peak in reversed(rest):
            top = node(peak, top)
        return top


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The root over leaf data."""
    tree = Tree()
    for data in leaves:
        tree.add(data)
    return tree.root


def inclusion(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The path from the leaf at ``index`` (from 0) to the root: the siblings on the way, lowest first.

    Raises:
        IndexError: there is no such leaf.
    """
    return inclusions(leaves, [index])[0]


def inclusions(leaves: Sequence[bytes], indices: Sequence[int]) -> list[list[bytes]]:
    """``inclusion`` of several leaves, in one pass over the tree."""
    for index in indices:
        if not 0 <= index < len(leaves):
            raise IndexError(f"no leaf {index} in a tree of {len(leaves)}")
    level, places = [leaf(data) for data in leaves], list(indices)
    paths: list[list[bytes]] = [[] for _ in indices]
    while len(level) > 1:
        for path, place in zip(paths, places, strict=True):
            if place ^ 1 < len(level):
                path.append(level[place ^ 1])
        level, places = _above(level), [place >> 1 for place in places]
    return paths


def _above(level: Sequence[bytes]) -> list[bytes]:
    """The next level: pairs joined, a last node without a partner as it is."""
    joined = [node(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
    return [*joined, level[-1]] if len(level) % 2 else joined


def root_from(data: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root that a path leads to from a leaf (RFC 9162 section 2.1.3.2); ``None`` where it cannot be one.

    Args:
        data: of the leaf.
        index: of the leaf, from 0.
        size: leaves of the tree.
        path: as ``inclusion`` gives it.
    """
    if not 0 <= index < size:
        return None
    at, last, top = index, size - 1, leaf(data)
    for sibling in path:
        if last == 0:
            return None
        if at & 1 or at == last:
            top = node(sibling, top)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            top = node(top, sibling)
        at, last = at >> 1, last >> 1
    return top if last == 0 else None


def consistency(leaves: Sequence[bytes], size: int) -> list[bytes]:
    """The proof that the tree over all leaves begins with the one over the first ``size`` (RFC 9162 section 2.1.4.1).

    Raises:
        IndexError: ``size`` is 0 or more than there are leaves.
    """
    if not 0 < size <= len(leaves):
        raise IndexError(f"no tree of {size} in one of {len(leaves)}")
    return _subproof(leaves, size, whole=True)


def _subproof(leaves: Sequence[bytes], size: int, *, whole: bool) -> list[bytes]:
    if size == len(leaves):
        return [] if whole else [root_of(leaves)]
    half = 1 << (len(leaves) - 1).bit_length() - 1
    if size <= half:
        return [*_subproof(leaves[:half], size, whole=whole), root_of(leaves[half:])]
    return [*_subproof(leaves[half:], size - half, whole=False), root_of(leaves[:half])]


def begins_with(old: bytes, old_size: int, new: bytes, new_size: int, proof: Sequence[bytes]) -> bool:
    """Whether a proof shows that the tree with root ``new`` begins with the one with root ``old`` (RFC 9162 section
    2.1.4.2)."""
    if not 0 < old_size <= new_size:
        return False
    if old_size == new_size:
        return old == new and not proof
    nodes = [old, *proof] if old_size & (old_size - 1) == 0 else list(proof)
    if not nodes:
        return False
    at, last = old_size - 1, new_size - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    first = second = nodes[0]
    for sibling in nodes[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            first, second = node(sibling, first), node(sibling, second)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            second = node(second, sibling)
        at, last = at >> 1, last >> 1
    return first == old and second == new and last == 0
