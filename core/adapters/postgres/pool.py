"""Connections, and the transaction that each piece of work runs in.

Rules this module keeps:
- Settings are given inside the transaction and end with it (`set_config(…, true)`), through a
  pooler in transaction mode too. Nothing but the time zone, which poolers follow, is a session's.
- Nobody waits long: for a connection, for a lock, for an answer. Each wait ends as Unavailable.
- A transaction in which something failed never commits, whatever its caller made of the failure.
- A connection goes back idle or not at all: after a cancellation, an error or a time-out too.
- No statement, parameter or text of the server is logged.
"""

import asyncio
import contextlib
import logging
import os
import re
import socket
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from typing import Any, LiteralString

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool
from typing_extensions import override

from core.adapters.postgres.faults import quiet
from core.errors import Unavailable

# The driver's own loggers print the server's texts, which may quote rows.
for _name in ("psycopg", "psycopg.pool"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)

Parameters = Mapping[str, Any]
Statement = tuple[LiteralString, Parameters]
Connection = AsyncConnection[TupleRow]

_SETTLED = (TransactionStatus.INTRANS, TransactionStatus.INERROR)
_LONGEST_SECONDS = 3600.0
"""For what may take long, such as erasing a tenant."""
_SETTING = re.compile(r"[a-z_.]+")
_VALUE = re.compile(r"[A-Za-z0-9_{},-]*")

LIMITS = {
    "statement_timeout": "5000",
    "lock_timeout": "3000",
    "idle_in_transaction_session_timeout": "15000",
    # A walk along an index, row by row, is right for every query here. Without statistics (a new
    # database, a table that just grew) the planner takes other ways, ten times slower; none is long
    # enough to compile; and under two walls planning costs more than running.
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
}
"""What every transaction is given besides what its scope allows."""


class Transaction:
    """One open transaction.

    Attributes:
        now: the database's time, the same until the end.
        failed: something went wrong in it, so it will not commit.
        spoiled: its connection must not be used again.
    """

    def __init__(self, connection: Connection, settings: Mapping[str, str]) -> None:
        self.now = datetime.min.replace(tzinfo=UTC)
        self.failed = False
        self.spoiled = False
        self._connection = connection
        self._later: list[Statement] = []
        self._patience_seconds = _patience(settings)

    async def begin(self, settings: Mapping[str, str]) -> None:
        """Open it on the server with `settings`: one round trip. Raises: Unavailable."""
        # As one text, since a pipeline of two statements with parameters takes twice as long.
        opening = f"BEGIN; SELECT now(), {_set_all(settings)}"
        with self._asking():
            cursor = await self._connection.execute(opening, prepare=False)
            cursor.nextset()
            (self.now, *_) = only(await cursor.fetchall())

    async def rows(
        self, statement: LiteralString | sql.Composed, parameters: Parameters
    ) -> list[TupleRow]:
        """Run one statement and return its rows.

        Raises:
            Conflict: a unique key is taken.
            Unavailable: anything else went wrong.
        """
        with self._asking():
            cursor = await self._connection.execute(statement, parameters, binary=True)
            return await cursor.fetchall() if cursor.description is not None else []

    async def burst(self, statements: Sequence[Statement]) -> list[list[TupleRow]]:
        """Run several statements in one round trip, and return the rows of each.

        Raises: as `rows`; those after a failure have no effect.
        """
        with self._asking():
            async with self._piping():
                cursors = [
                    await self._connection.execute(statement, parameters, binary=True)
                    for statement, parameters in statements
                ]
            return [
                await cursor.fetchall() if cursor.description is not None else []
                for cursor in cursors
            ]

    def later(self, statement: LiteralString, parameters: Parameters) -> None:
        """Run a statement, whose rows nobody needs, just before the commit, in order."""
        self._later.append((statement, parameters))

    async def set(self, settings: Mapping[str, str]) -> None:
        """Give further settings, until the end of this transaction. Raises: Unavailable."""
        self._patience_seconds = _patience(settings) or self._patience_seconds
        await self.rows(f"SELECT {_set_all(settings)}", {})

    async def commit(self) -> None:
        """Run what was left for later, and commit: one round trip. Raises: Unavailable."""
        with self._asking():
            if not self._later:
                end = await self._connection.execute("COMMIT")
            else:
                async with self._piping():
                    for statement, parameters in self._later:
                        await self._connection.execute(statement, parameters)
                    end = await self._connection.execute("COMMIT")
        if end.statusmessage != "COMMIT":  # the server rolled back something that failed unseen
            raise Unavailable

    @asynccontextmanager
    async def _piping(self) -> AsyncIterator[None]:
        """Send statements without waiting for each. One that fails costs the connection: the driver
        takes those behind it for prepared, and the server never read them.
        """
        self.spoiled = True
        async with self._connection.pipeline():
            yield
        self.spoiled = False

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Ask the server something inside, once it has answered all before."""
        if self.failed:
            raise Unavailable
        self.failed = True  # until it has answered: a cancellation counts as a failure
        with _cut_short(), quiet(), _hung_up(self._connection, self._patience_seconds):
            yield
        self.failed = False


def _patience(settings: Mapping[str, str]) -> float | None:
    """Return how long an answer is waited for: a second longer than the server tries."""
    limit = settings.get("statement_timeout")
    if limit is None:
        return None
    return int(limit) / 1000 + 1 if int(limit) else _LONGEST_SECONDS


@contextmanager
def _cut_short() -> Iterator[None]:
    """Let a cancellation be one: hanging up because of it makes the driver complain of the line."""
    try:
        yield
    except Unavailable as err:
        before: BaseException | None = err
        while before is not None and not isinstance(before, asyncio.CancelledError):
            before = before.__context__
        if before is not None:
            raise before from None
        raise


@contextmanager
def _hung_up(connection: Connection, seconds: float | None) -> Iterator[None]:
    """Hang up after `seconds`, so that a server that stands still is one that went away."""
    loop = asyncio.get_running_loop()
    alarm = loop.call_later(seconds or _LONGEST_SECONDS, _hang_up, connection)
    try:
        yield
    finally:
        alarm.cancel()


def _hang_up(connection: Connection) -> None:
    # The descriptor stays open: the loop still watches it, and closed it could become another's.
    if not connection.closed:
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)


class _Cut(AsyncConnection[TupleRow]):
    """A connection whose user may be cut short at any time.

    The driver would then ask the server to cancel, and wait for it up to ten seconds more. Whoever
    is out of time has none for that: the line is hung up, and the server's own limits end the rest.
    """

    @override
    async def _try_cancel(self, *, timeout: float = 5.0) -> None:
        _hang_up(self)
        raise psycopg.errors.QueryCanceled


class Pool:
    """Connections of one role.

    Args:
        conninfo: URL or keywords, as libpq takes them.
        name: shows in the server's list of sessions.
        connections: at most so many.
        wait_seconds: how long a caller waits for a connection.
        prepared: False where a pooler hands out another session for each transaction and does not
            follow prepared statements.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        name: str,
        connections: int = 8,
        wait_seconds: float = 1.0,
        prepared: bool = True,
    ) -> None:
        self._wait_seconds = wait_seconds
        self._connections = connections
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            conninfo,
            connection_class=_Cut,
            kwargs={
                "autocommit": True,
                "prepare_threshold": 1 if prepared else None,
                "application_name": f"memwarden-{name}",
                "connect_timeout": 3,
                "keepalives_idle": 10,
                "keepalives_interval": 3,
                "keepalives_count": 3,
                "tcp_user_timeout": 8000,
            },
            configure=_speak_utc,
            min_size=min(2, connections),
            max_size=connections,
            max_waiting=32 * connections,
            timeout=wait_seconds,
            reconnect_timeout=60,
            open=False,
            name=name,
        )

    async def open(self, *, seconds: float = 5.0) -> None:
        """Connect. Raises: Unavailable, when the server does not answer within `seconds`."""
        with quiet():
            await self._pool.open(wait=True, timeout=seconds)

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()

    @asynccontextmanager
    async def transaction(self, settings: Mapping[str, str]) -> AsyncIterator[Transaction]:
        """Open a transaction that ends with the block: committed, or rolled back on any error.

        Args:
            settings: what row-level security reads, for this transaction alone; empty values and
                missing names match no row.

        Raises:
            Unavailable: no connection, no answer, or no commit.
        """
        connection, transaction = await self._begin({**LIMITS, **settings})
        try:
            yield transaction
            await transaction.commit()
        except BaseException:
            await _abandon(connection, spoiled=transaction.spoiled)
            raise
        finally:
            await self._pool.putconn(connection)

    async def _begin(self, settings: Mapping[str, str]) -> tuple[Connection, Transaction]:
        deadline = time.monotonic() + self._wait_seconds
        while True:
            with quiet():
                connection = await self._pool.getconn(max(0.01, deadline - time.monotonic()))
            transaction = Transaction(connection, settings)
            try:
                await transaction.begin(settings)
                return connection, transaction
            except BaseException as err:
                lost = connection.closed or connection.broken
                await _abandon(connection, spoiled=transaction.spoiled)
                await self._pool.putconn(connection)
                # A connection that died in the pool has done nothing yet: another may live.
                if not (lost and isinstance(err, Unavailable)) or time.monotonic() >= deadline:
                    raise


def _set_all(settings: Mapping[str, str]) -> str:
    """Return the calls that give `settings`: ids, numbers and words of ours, quoted by checking."""
    for name, value in settings.items():
        if _SETTING.fullmatch(name) is None or _VALUE.fullmatch(value) is None:
            raise Unavailable  # never reached by what a caller sends: it would be a fault of ours
    return ", ".join(f"set_config('{name}', '{value}', true)" for name, value in settings.items())


async def _speak_utc(connection: Connection) -> None:
    if connection.info.parameter_status("TimeZone") != "UTC":
        await connection.execute("SET TimeZone TO 'UTC'")


async def _abandon(connection: Connection, *, spoiled: bool) -> None:
    """Roll back, or close what cannot be rolled back by one word."""
    pg = connection.pgconn
    if spoiled:
        pg.finish()
        return
    piped = pg.pipeline_status != PipelineStatus.OFF
    if pg.transaction_status == TransactionStatus.IDLE and not piped:
        return
    if pg.transaction_status in _SETTLED and not piped:
        try:
            await connection.execute("ROLLBACK")
        except psycopg.Error:
            pg.finish()
        except BaseException:
            pg.finish()  # cancelled once more: nobody will look at this connection again
            raise
    else:
        pg.finish()


def only(rows: Sequence[TupleRow]) -> TupleRow:
    """Return the one row of `rows`. Raises: Unavailable, when there is not exactly one."""
    if len(rows) != 1:
        raise Unavailable
    return rows[0]
