"""Signed heads: their text, their signature, and the file outside the database that holds them.

Rules this module keeps:
- What is signed is a short text that anybody can write down again from the fields of a checkpoint.
- The anchor is a file that is only ever appended to, and each append is on disk before it counts.
  It belongs where whoever writes the database cannot write; then the database cannot be turned
  back to an earlier state unnoticed.
- A line torn by a crash is stepped over, never repaired.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final
from uuid import UUID

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from core.ids import TenantId
from core.ports.seal import Checkpoint
from gateway.audit.event import Wire, spell_time

_TITLE: Final = "memwarden-audit-checkpoint/1"


class CheckpointSigner:
    """Signs and recognises checkpoints.

    Args:
        seed: 32 random bytes, the Ed25519 private key (RFC 8032, 5.1.5).
    """

    def __init__(self, seed: bytes) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self._public = self._private.public_key()
        self.key_id = hashlib.sha256(self.public_key).hexdigest()[:16]

    @property
    def public_key(self) -> bytes:
        """The raw public key, 32 bytes."""
        return self._public.public_bytes(Encoding.Raw, PublicFormat.Raw)

    @property
    def public_pem(self) -> str:
        """The public key as PEM, for whoever verifies."""
        return self._public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    def sign(self, tenant: TenantId, size: int, head: bytes, at: datetime) -> Checkpoint:
        """Return the checkpoint of a chain of `size` events that ends in `head`."""
        text = _text(tenant, size, head, at, self.key_id)
        return Checkpoint(
            tenant=tenant,
            size=size,
            head=head,
            at=at,
            key_id=self.key_id,
            signature=self._private.sign(text),
        )

    def recognises(self, checkpoint: Checkpoint) -> bool:
        """Return whether this key signed `checkpoint`."""
        text = _text(
            checkpoint.tenant, checkpoint.size, checkpoint.head, checkpoint.at, checkpoint.key_id
        )
        try:
            self._public.verify(checkpoint.signature, text)
        except InvalidSignature:
            return False
        return checkpoint.key_id == self.key_id


def checkpoint_wire(checkpoint: Checkpoint) -> Wire:
    """Return the JSON form of a checkpoint, in the anchor and over HTTP."""
    return {
        "tenant": str(checkpoint.tenant),
        "size": checkpoint.size,
        "head": checkpoint.head.hex(),
        "at": spell_time(checkpoint.at),
        "key_id": checkpoint.key_id,
        "signature": checkpoint.signature.hex(),
    }


class AnchorFile:
    """An append-only file of checkpoints, one JSON object a line.

    Args:
        path: made with mode 0600 when it is missing; its folder must be there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, checkpoints: Sequence[Checkpoint]) -> None:
        """Add `checkpoints`; they are on disk when this returns.

        Raises:
            OSError: the file cannot be written; some of them may be there, which does no harm.
        """
        lines = "".join(json.dumps(checkpoint_wire(one)) + "\n" for one in checkpoints).encode()
        new = not self._path.exists()
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":
                lines = b"\n" + lines  # the last line was torn by a crash
            while lines:
                lines = lines[os.write(handle, lines) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        if new:
            _sync_folder(self._path.parent)

    def last(self) -> dict[TenantId, Checkpoint]:
        """Return the largest checkpoint of each tenant; their signatures are not judged here.

        Raises:
            OSError: the file is there and cannot be read.
        """
        found: dict[TenantId, Checkpoint] = {}
        try:
            text = self._path.read_text("utf-8", errors="replace")
        except FileNotFoundError:
            return found
        for line in text.split("\n"):
            checkpoint = _parse(line)
            if checkpoint is None:
                continue
            known = found.get(checkpoint.tenant)
            if known is None or checkpoint.size > known.size:
                found[checkpoint.tenant] = checkpoint
        return found


def _text(tenant: TenantId, size: int, head: bytes, at: datetime, key_id: str) -> bytes:
    return f"{_TITLE}\n{tenant}\n{size}\n{head.hex()}\n{spell_time(at)}\n{key_id}\n".encode()


def _parse(line: str) -> Checkpoint | None:
    try:
        values = json.loads(line)
        return Checkpoint(
            tenant=TenantId(UUID(values["tenant"])),
            size=int(values["size"]),
            head=bytes.fromhex(values["head"]),
            at=datetime.fromisoformat(values["at"]),
            key_id=str(values["key_id"]),
            signature=bytes.fromhex(values["signature"]),
        )
    except (ValueError, KeyError, TypeError):
        return None


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
