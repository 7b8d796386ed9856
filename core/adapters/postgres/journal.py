"""Audit events of one transaction: signed as they come, told to their writer when it ends.

Rules this module keeps:
- An event goes into the transaction of its effect; when it cannot be kept, nothing is.
- Every number that was taken ends as committed or as lost. After a failed commit nobody knows: that
  counts as lost, and what fills the number is refused if the event did get through.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from core.adapters.postgres.pool import Pool, Transaction
from core.adapters.postgres.queries import query
from core.adapters.postgres.rows import event_parameters
from core.event import AuditEvent
from core.ports import AuditWriter, SignedEvent


class Journal:
    """The events of one transaction."""

    def __init__(self, transaction: Transaction, writer: AuditWriter) -> None:
        self._transaction = transaction
        self._writer = writer
        self.signed: list[SignedEvent] = []

    def append(self, event: AuditEvent) -> None:
        """Sign `event`; it is written just before the commit."""
        signed = self._writer.sign(event)
        self.signed.append(signed)
        self._transaction.later(query("append_event"), event_parameters(signed))


@asynccontextmanager
async def journaled(
    pool: Pool, settings: Mapping[str, str], writer: AuditWriter
) -> AsyncIterator[tuple[Transaction, Journal]]:
    """Open a transaction with a journal. Raises: as `Pool.transaction`."""
    journal: Journal | None = None
    committed = False
    try:
        async with pool.transaction(settings) as transaction:
            journal = Journal(transaction, writer)
            yield transaction, journal
        committed = True
    finally:
        if journal is not None:
            for signed in journal.signed:
                (writer.committed if committed else writer.lost)(signed)
