"""The bytes that a token stands for: a text cannot tell those of one that is only part of a character."""

from __future__ import annotations

import re
from typing import Any

_FALLBACK = re.compile("<0x([0-9A-Fa-f]{2})>")


def _alphabet() -> dict[str, int]:
    """The characters by which byte-level BPE (GPT-2) writes bytes: those that can be seen stand for themselves, the
    others follow from U+0100 on."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {chr(0x100 + at): byte for at, byte in enumerate(others)}


_ALPHABET = _alphabet()


def octets(tokenizer: Any, token: int, text: str) -> bytes | None:
    """The bytes of a token.

    Args:
        tokenizer: of transformers.
        token: its number.
        text: what it is decoded to.
    """
    if "\ufffd" not in text:
        return text.encode()
    name = tokenizer.convert_ids_to_tokens(token)
    if not isinstance(name, str):
        return None
    if fallback := _FALLBACK.fullmatch(name):
        return bytes([int(fallback[1], 16)])
    if all(character in _ALPHABET for character in name):
        return bytes(_ALPHABET[character] for character in name)
    return None
