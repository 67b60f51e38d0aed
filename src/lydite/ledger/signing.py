"""Ed25519 signatures (RFC 8032) under the head of a ledger, by the library ``cryptography`` (extra ``sign``).

A signature says: the holder of the key saw a ledger of this run, so long, with this head and this root. It does not say
when, nor that what is recorded happened.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from lydite.codec import canonical
from lydite.errors import InputError, MissingExtraError, StorageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


def statement(*, genesis: str, size: int, root: str, head: str) -> bytes:
    """What is signed: the run, and how far its ledger goes.

    Args:
        genesis: what the first record follows; bound to the run.
        size: number of records.
        root: of the Merkle tree over their hashes, hex.
        head: hash of the last, hex.
    """
    said = {"genesis": genesis, "head": head, "root": root, "size": size, "statement": "lydite-ledger-head-1"}
    return canonical(said)


def make_key(path: Path) -> Path:
    """Write a new private key (PEM, readable by its owner only) and beside it the public one; the path of that.

    Raises:
        InputError: one of the files is there already.
        StorageError: they cannot be written.
        MissingExtraError: the library is not installed.
    """
    serialization = _serialization()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    beside = path.with_name(f"{path.name}.pub")
    for file in (path, beside):
        if file.exists():
            raise InputError("is there already", path=file, remedy="give another name: a key is never replaced")
    _write(path, private, 0o600)
    _write(beside, public, 0o644)
    return beside


def sign(path: Path, data: bytes) -> tuple[str, str]:
    """The signature of the private key in a file, and its public key, both hex.

    Raises:
        InputError: the file holds no such key.
        MissingExtraError: the library is not installed.
    """
    serialization = _serialization()
    key = _private(path)
    public = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return key.sign(data).hex(), public.hex()


def holds(public: str, signature: str, data: bytes) -> bool:
    """Whether a signature under ``data`` is that of the public key (both hex).

    Raises:
        MissingExtraError: the library is not installed.
    """
    _serialization()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key, value = bytes.fromhex(public), bytes.fromhex(signature)
        if (key.hex(), value.hex()) != (public, signature):  # there are other spellings of the same bytes
            return False
        Ed25519PublicKey.from_public_bytes(key).verify(value, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def public_key(given: str) -> str:
    """The public key (hex) of a PEM file, or of its 64 hex digits.

    Raises:
        InputError: it is neither.
        MissingExtraError: the library is not installed, for a file.
    """
    if len(given) == 64 and not set(given.lower()) - set("0123456789abcdef"):
        return given.lower()
    serialization = _serialization()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    path = Path(given)
    try:
        key = serialization.load_pem_public_key(_read(path))
    except ValueError:
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(
            "holds no Ed25519 public key", path=path, remedy="give the .pub file of `lydite ledger keygen`"
        )
    raw: bytes = key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return raw.hex()


def _private(path: Path) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(_read(path), None)
    except (ValueError, TypeError):  # TypeError: it is encrypted
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError("holds no Ed25519 private key without a password", path=path, remedy="lydite ledger keygen")
    return key


def _serialization() -> ModuleType:
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError:
        raise MissingExtraError("Signing", "sign") from None
    return serialization


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path, field="key") from None


def _write(path: Path, data: bytes, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with open(descriptor, "wb") as file:
            file.write(data)
    except OSError as error:
        raise StorageError(f"{path}: cannot write: {error.strerror or error}") from error
