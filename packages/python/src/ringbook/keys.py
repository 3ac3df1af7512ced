"""Ed25519 keys of a user: generated, stored in a file that only its owner can read, and used for signing.

A key file is one line, the 32-byte seed as 64 hex digits, as `ringbook keygen` writes it. The user id is the public key.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from nacl.signing import SigningKey as _SigningKey

from .errors import invalid_argument

_SEED_BYTES = 32


class Key:
    """A signing key of a user."""

    __slots__ = ("_key", "user_id")

    def __init__(self, seed: bytes) -> None:
        if len(seed) != _SEED_BYTES:
            raise invalid_argument("a seed is 32 bytes", "seed")
        self._key = _SigningKey(seed)
        # The public key, 64 hex digits.
        self.user_id = bytes(self._key.verify_key).hex()

    @classmethod
    def generate(cls) -> Key:
        """A new key of the system's randomness."""
        return cls(os.urandom(_SEED_BYTES))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Key:
        """Reads a key file. Raises RingbookError INVALID_ARGUMENT where it is none, or others may read it."""
        file = Path(path)
        if not file.exists():
            raise invalid_argument(f"there is no file {file}", "path")
        if os.name == "posix" and stat.S_IMODE(file.stat().st_mode) & 0o077:
            raise invalid_argument(f"{file} can be read by others; run: chmod 600 {file}", "path")
        text = file.read_text("utf-8").strip()
        if re.fullmatch(r"[0-9a-fA-F]{64}", text) is None:
            raise invalid_argument(f"{file} is not a key file: 64 hex digits are expected", "path")
        return cls(bytes.fromhex(text))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a new key file that only its owner can read. Raises FileExistsError instead of overwriting a key."""
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{bytes(self._key).hex()}\n")

    def sign(self, text: bytes) -> bytes:
        """64 bytes, Ed25519 over exactly these bytes."""
        return self._key.sign(text).signature

    def __repr__(self) -> str:
        return f"Key({self.user_id})"


def dev_key(user: str) -> Key:
    """The published keys of the dev seed, `a` and `b`, for experiments on a dev node only."""
    if user not in ("a", "b"):
        raise invalid_argument("the dev seed has the users a and b", "user")
    return Key(bytes([1 if user == "a" else 2]) * _SEED_BYTES)
