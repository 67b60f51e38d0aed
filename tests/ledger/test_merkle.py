"""The tree is the one of RFC 6962 and RFC 9162, and its proofs prove nothing else."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lydite.ledger.merkle import EMPTY, Tree, begins_with, consistency, inclusion, leaf, node, root_from, root_of

LEAVES = [sha256(b"%d" % number).digest() for number in range(70)]
SIZES = range(1, 71)

# Inputs and roots of the reference implementation's tests: certificate-transparency, merkletree/merkle_tree_test.cc.
REFERENCE = [
    ("", "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
    ("00", "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"),
    ("10", "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"),
    ("2021", "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"),
    ("3031", "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"),
    ("40414243", "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"),
    ("5051525354555657", "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"),
    ("606162636465666768696a6b6c6d6e6f", "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"),
]


def defined(leaves: list[bytes]) -> bytes:
    """The root by the definition of RFC 6962 section 2.1, word for word."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaf(leaves[0])
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return node(defined(leaves[:half]), defined(leaves[half:]))


def test_the_roots_are_those_of_the_reference_implementation() -> None:
    tree = Tree()
    assert tree.root == EMPTY
    for data, root in REFERENCE:
        tree.add(bytes.fromhex(data))
        assert tree.root.hex() == root


@pytest.mark.parametrize("size", SIZES)
def test_every_leaf_is_proved_and_no_other_is(size: int) -> None:
    leaves = LEAVES[:size]
    root = root_of(leaves)
    assert root == defined(leaves)
    for index, data in enumerate(leaves):
        path = inclusion(leaves, index)
        assert root_from(data, index, size, path) == root
        assert root_from(b"another", index, size, path) != root
        assert root_from(data, (index + 1) % size, size, path) != root or size == 1
        assert root_from(data, index, size, [*path, root]) != root
        assert not path or root_from(data, index, size, path[:-1]) != root


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 21, 64, 70])
def test_a_longer_tree_begins_with_each_shorter_one(size: int) -> None:
    new = root_of(LEAVES[:size])
    for old_size in range(1, size + 1):
        old, proof = root_of(LEAVES[:old_size]), consistency(LEAVES[:size], old_size)
        assert begins_with(old, old_size, new, size, proof)
        other = root_of([b"rewritten", *LEAVES[1:old_size]])
        assert not begins_with(other, old_size, new, size, proof)
        assert not begins_with(old, old_size, new, size, [*proof, old])
        assert not proof or not begins_with(old, old_size, new, size, proof[:-1])


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_path_with_any_bit_changed_leads_elsewhere(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 70))
    index = data.draw(st.integers(0, size - 1))
    path = inclusion(LEAVES[:size], index)
    at, bit = data.draw(st.integers(0, len(path) - 1)), data.draw(st.integers(0, 255))
    changed = bytearray(path[at])
    changed[bit // 8] ^= 1 << bit % 8
    path[at] = bytes(changed)
    assert root_from(LEAVES[index], index, size, path) != root_of(LEAVES[:size])


@pytest.mark.parametrize("index", [-1, 3])
def test_a_leaf_that_is_not_there_has_no_path(index: int) -> None:
    with pytest.raises(IndexError):
        inclusion(LEAVES[:3], index)
    assert root_from(LEAVES[0], index, 3, []) is None
