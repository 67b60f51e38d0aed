"""Canonical bytes and digests: one spelling per value, so that a hash means something.

Records are JSON. A struct's fields come in the order of its definition, keys of plain mappings are sorted, and there is
no white space; two equal values therefore have equal bytes on every machine and in every session.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

_ENCODER = msgspec.json.Encoder(order="deterministic")


def canonical(value: Any) -> bytes:
    """Canonical JSON of a struct, mapping, sequence or scalar. Lone surrogates become U+FFFD: they have no UTF-8."""
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        return _ENCODER.encode(_without_surrogates(msgspec.to_builtins(value)))


def sha256(data: bytes) -> str:
    """Hex SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """Hex SHA-256 of the canonical bytes of a value."""
    return hashlib.sha256(canonical(value)).hexdigest()


def well_formed(text: str) -> str:
    """Text that has a UTF-8 encoding: lone surrogates, which a model's bytes can decode to, become U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _replace_surrogates(text)
    return text


def _replace_surrogates(text: str) -> str:
    return "".join("�" if "\ud800" <= char <= "\udfff" else char for char in text)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _replace_surrogates(value)
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value
