"""The record on PostgreSQL 15 to 18.

Rules this package keeps:
- A transaction is opened for one Scope; its parts go into settings that end with the transaction,
  and row-level security reads them. Each query names its tenant and person besides: two walls.
- Queries stand in `sql/`, one file a story; what several share is a named fragment, written once.
- What the driver says stays here: its texts may hold rows, so only the code of a fault goes on.
- A transaction commits at the end of its block or not at all. A connection that was left in the
  middle of one is never used again.
"""

from core.adapters.postgres.directory import PostgresDirectory
from core.adapters.postgres.migrate import migrate
from core.adapters.postgres.outbox import PostgresOutbox
from core.adapters.postgres.pool import Pool
from core.adapters.postgres.record import PostgresRecord
from core.adapters.postgres.seal import PostgresSealStore

__all__ = [
    "Pool",
    "PostgresDirectory",
    "PostgresOutbox",
    "PostgresRecord",
    "PostgresSealStore",
    "migrate",
]
