"""Verifies an audit log from nothing but its text and a public key.

Rules this module keeps:
- It trusts nothing that is written: every hash is made again from the fields, every signature is
  checked under keys that the caller brought, and a head counts only if it is signed.
- It shares no code with what writes the log: it is made from `docs/audit.md`, imports the standard
  library and one signature check, and a test fails if it imports more.
- It finds what there is to find and goes on; the first finding of a tenant is the one to look at,
  since what follows a break is broken too.
- Numbers that a writer left out must be explained by a gap that is itself in the chain. Gaps are
  counted and shown: after a crash they are honest, and without one they are a question.
"""

import contextlib
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final
from uuid import UUID

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

SYSTEM: Final = str(UUID(int=0))
"""The tenant whose chain holds what belongs to no tenant."""

_EVENT: Final = b"memwarden/audit/event/1\0"
_GENESIS: Final = b"memwarden/audit/genesis/1\0"
_LINK: Final = b"memwarden/audit/link/1\0"
_CHECKPOINT: Final = "memwarden-audit-checkpoint/1"
_FIELDS: Final = (
    "event_id",
    "at",
    "tenant",
    "actor",
    "on_behalf_of",
    "action",
    "object",
    "decision",
    "rule",
    "policy_version",
    "outcome",
    "count",
    "request_id",
    "trace_id",
)
_GAP: Final = "audit:writer:gap"
_BITS: Final = 4096
_FINDINGS: Final = 100

Document = Mapping[str, Any]
"""A JSON object as it was read; its fields are not believed to be there."""


class Status(Enum):
    """What a verification comes to; the value is the exit code."""

    WHOLE = 0
    TAMPERED = 1
    UNREADABLE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that does not fit: where, and what. No content of an event.

    Args:
        sequence: of the first event that does not fit, or None where no single one can be named.
    """

    tenant: str
    sequence: int | None
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The outcome of a verification.

    Args:
        findings: empty when whole; at most 100.
        events, tenants, heads: how many were read.
        gaps: how many numbers of writers never came, each explained by an event in the chain.
    """

    status: Status
    findings: tuple[Finding, ...] = ()
    events: int = 0
    tenants: int = 0
    heads: int = 0
    gaps: int = 0


class KeyUnreadable(Exception):
    """The public key is not the PEM of an Ed25519 key."""


def read_public_key(pem: bytes) -> bytes:
    """Return the raw 32 bytes of an Ed25519 public key in PEM.

    Raises:
        KeyUnreadable: it is something else.
    """
    try:
        key = load_pem_public_key(pem)
    except ValueError as err:
        raise KeyUnreadable from err
    if not isinstance(key, Ed25519PublicKey):
        raise KeyUnreadable
    return key.public_bytes_raw()


class Verifier:
    """Verifies one log. Feed heads first, then every tenant's events in order, then `finish`.

    Args:
        public_keys: raw Ed25519 keys that may have signed heads, from a place that whoever writes
            the log cannot write.
    """

    def __init__(self, public_keys: Iterable[bytes]) -> None:
        self._keys = {
            hashlib.sha256(raw).hexdigest()[:16]: Ed25519PublicKey.from_public_bytes(raw)
            for raw in public_keys
        }
        self._chains: dict[str, _Chain] = {}
        self._numbers = _Numbers()
        self._findings: list[Finding] = []
        self._events = 0
        self._heads = 0

    def feed_head(self, document: Document) -> None:
        """Take one signed head: a checkpoint of the log, or one anchored outside."""
        tenant = _spelled(document.get("tenant"))
        try:
            size, head = _integer(document["size"]), _bytes(document["head"], 32)
            lines = [_CHECKPOINT, tenant, str(size), head.hex(), _text(document["at"])]
            key_id = _text(document["key_id"])
            text = "".join(f"{line}\n" for line in (*lines, key_id))
            self._keys[key_id].verify(_bytes(document["signature"], 64), text.encode())
        except (KeyError, ValueError, InvalidSignature):
            self._find(tenant, None, "a head that no known key signed")
            return
        self._heads += 1
        self._chain(tenant).heads[size].add(head)

    def feed_event(self, document: Document) -> None:
        """Take the next event of a tenant."""
        tenant = _spelled(document.get("tenant"))
        chain = self._chain(tenant)
        self._events += 1
        try:
            fault = chain.add(document)
            writer, number = UUID(_text(document["writer"])), _integer(document["number"])
            if self._numbers.seen(writer, number) and fault is None:
                fault = chain.stop("a number that its writer used twice", at=chain.size)
            if tenant == SYSTEM and document["action"] == _GAP:
                self._numbers.explain(_text(document["object"]))
        except (KeyError, ValueError):
            fault = chain.stop("an event that cannot be read", at=chain.size + 1)
        if fault is not None:
            self._find(tenant, chain.at_sequence, fault)

    def finish(self, *, every_tenant: bool = True) -> Report:
        """Return the outcome.

        Args:
            every_tenant: whether the events of all tenants were fed; only then can the numbers of
                the writers, which write for all, be demanded.
        """
        for tenant, chain in self._chains.items():
            fault = chain.end()
            if fault is not None:
                self._find(tenant, chain.at_sequence, fault)
        gaps = 0
        for writer, first, last, explained in self._numbers.holes() if every_tenant else ():
            if explained:
                gaps += last - first + 1
            else:
                self._find(
                    SYSTEM, None, f"numbers {first} to {last} of writer {writer} are missing"
                )
        return Report(
            status=Status.TAMPERED if self._findings else Status.WHOLE,
            findings=tuple(self._findings),
            events=self._events,
            tenants=len(self._chains),
            heads=self._heads,
            gaps=gaps,
        )

    def _chain(self, tenant: str) -> "_Chain":
        chain = self._chains.get(tenant)
        if chain is None:
            chain = self._chains[tenant] = _Chain(tenant)
        return chain

    def _find(self, tenant: str, sequence: int | None, what: str) -> None:
        if len(self._findings) < _FINDINGS:
            self._findings.append(Finding(tenant=tenant, sequence=sequence, what=what))


class _Chain:
    """One tenant's chain, followed up to its first fault."""

    def __init__(self, tenant: str) -> None:
        self.heads: dict[int, set[bytes]] = defaultdict(set)
        self.size = 0
        self.at_sequence: int | None = None
        self._signed = 0
        self._stopped = False
        self._tenant = b""
        with contextlib.suppress(ValueError):  # then its first event or head is the fault
            self._tenant = UUID(tenant).bytes
        self._hash = hashlib.sha256(_GENESIS + self._tenant).digest()

    def add(self, document: Document) -> str | None:
        """Return what is wrong with the next event, or None. Raises: KeyError, ValueError."""
        if self._stopped:
            return None
        expected = self.size + 1
        if _integer(document["sequence"]) != expected:
            return self.stop(
                "another sequence follows: one is missing, repeated or moved", at=expected
            )
        if _bytes(document["prev"], 32) != self._hash:
            return self.stop("it does not follow the event before it", at=expected)
        content = _EVENT + b"".join(
            _field(number, document[name]) for number, name in enumerate(_FIELDS, 1)
        )
        made = hashlib.sha256(
            _LINK
            + self._tenant
            + expected.to_bytes(8, "big")
            + self._hash
            + UUID(_text(document["writer"])).bytes
            + _integer(document["number"]).to_bytes(8, "big")
            + hashlib.sha256(content).digest()
            + _bytes(document["mac"], 32)
        ).digest()
        if made != _bytes(document["hash"], 32):
            return self.stop("it is not what was sealed", at=expected)
        signed = self.heads.pop(expected, set())
        if signed - {made}:
            return self.stop("a head was signed here over another history", at=expected)
        if signed:
            self._signed = expected
        self.size, self._hash = expected, made
        return None

    def stop(self, fault: str, *, at: int) -> str | None:
        """Follow no further; returns `fault`, or None when an earlier one was returned."""
        if self._stopped:
            return None
        self._stopped = True
        self.at_sequence = at
        return fault

    def end(self) -> str | None:
        """Return what is wrong with where the chain ends, or None."""
        if self.heads:
            return self.stop(
                "it is missing: more events were signed than are here", at=self.size + 1
            )
        if self.size > self._signed:
            return self.stop("no signed head covers it", at=self._signed + 1)
        return None


class _Numbers:
    """Which numbers each writer used, as bits; which were declared never to come."""

    def __init__(self) -> None:
        self._used: dict[UUID, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        self._gaps: dict[UUID, list[tuple[int, int]]] = defaultdict(list)

    def seen(self, writer: UUID, number: int) -> bool:
        """Count `number` in; returns whether it was there before."""
        block, bit = divmod(number, _BITS)
        bits = self._used[writer]
        before = bits[block]
        bits[block] = before | 1 << bit
        return bool(before >> bit & 1)

    def explain(self, numbers: str) -> None:
        """Take a gap, spelled `writer:first-last`. Raises: ValueError."""
        writer, _, bounds = numbers.partition(":")
        first, _, last = bounds.partition("-")
        self._gaps[UUID(writer)].append((int(first), int(last)))

    def holes(self) -> Iterator[tuple[UUID, int, int, bool]]:
        """Yield each run of numbers that are missing, and whether a gap explains it."""
        for writer, blocks in self._used.items():
            following = 1
            for number in self._numbers(blocks):
                if number > following:
                    yield from self._parts(writer, following, number - 1)
                following = number + 1

    @staticmethod
    def _numbers(blocks: Mapping[int, int]) -> Iterator[int]:
        for block in sorted(blocks):
            bits, number = blocks[block], block * _BITS
            while bits:
                skip = (bits & -bits).bit_length() - 1
                yield number + skip
                bits >>= skip + 1
                number += skip + 1

    def _parts(self, writer: UUID, first: int, last: int) -> Iterator[tuple[UUID, int, int, bool]]:
        for begin, end in sorted(self._gaps[writer]):
            if end < first or begin > last:
                continue
            if begin > first:
                yield writer, first, begin - 1, False
            yield writer, max(begin, first), min(end, last), True
            first = end + 1
        if first <= last:
            yield writer, first, last, False


def _field(number: int, value: object) -> bytes:
    if value is None:
        kind, data = 0, b""
    elif isinstance(value, str):
        kind, data = 1, value.encode()
    elif isinstance(value, int) and not isinstance(value, bool):
        kind, data = 2, str(value).encode()
    else:
        raise ValueError("a field is text, a number or null")
    return bytes([number, kind]) + len(data).to_bytes(4, "big") + data


def _integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 1 << 63:
        raise ValueError("not a positive number of 8 bytes")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("not a text")  # noqa: TRY004 - one class for whatever cannot be read
    return value


def _bytes(value: object, length: int) -> bytes:
    found = bytes.fromhex(_text(value))
    if len(found) != length:
        raise ValueError("not of the right length")
    return found


def _spelled(tenant: object) -> str:
    """Return the tenant as it is written, or a word that no chain can be signed for."""
    return tenant if isinstance(tenant, str) else "unknown"
