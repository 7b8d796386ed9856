"""Verifies the live log: reads it under its own heads and hands it to the verifier as text.

Rules this module keeps:
- The anchor is read before the record, and the record's heads in one glance before its events: what
  is sealed meanwhile is left out whole, so that a log in use verifies like one at rest.
- What cannot be read is said to be unreadable, which is neither whole nor tampered with.
"""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from core.errors import GatewayError
from core.ids import TenantId
from core.ports import LoggedEvent
from core.ports.seal import SealStore
from gateway.audit.checkpoint import checkpoint_wire
from gateway.audit.event import to_record
from gateway.audit.verify import Document, Report, Status, Verifier


async def verify_live(store: SealStore, public_keys: list[bytes], anchor: Path | None) -> Report:
    """Return whether the log in `store` is whole.

    Args:
        store: the record's side of sealing.
        public_keys: raw Ed25519 keys, 32 bytes each, that may have signed heads.
        anchor: the file of heads outside the database; None checks the record alone, which cannot
            show that all of it was turned back.
    """
    verifier = Verifier(public_keys)
    try:
        for document in _anchored(anchor):
            verifier.feed_head(document)
        heads = await store.heads()
        for tenant in await store.tenants():
            size = heads[tenant].size if tenant in heads else 0
            async for checkpoint in store.checkpoints(tenant):
                if checkpoint.size <= size:
                    verifier.feed_head(checkpoint_wire(checkpoint))
            async for logged in store.stream(tenant, limit=size):
                verifier.feed_event(to_record(logged))
            async for logged in _unsigned(store, tenant, size):
                verifier.feed_event(to_record(logged))
    except (GatewayError, OSError):
        return Report(status=Status.UNREADABLE)
    return verifier.finish()


async def _unsigned(store: SealStore, tenant: TenantId, size: int) -> AsyncIterator[LoggedEvent]:
    """Yield an event that stands above `size` although no head was signed for it meanwhile."""
    async for logged in store.stream(tenant, after=size, limit=1):
        head = (await store.heads([tenant])).get(tenant)
        if head is None or logged.sequence is None or head.size < logged.sequence:
            yield logged


def _anchored(anchor: Path | None) -> Iterator[Document]:
    if anchor is None or not anchor.exists():
        return
    with anchor.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                document = json.loads(line)
            except ValueError:
                continue  # torn by a crash; every whole line counts
            if isinstance(document, dict):
                yield document
