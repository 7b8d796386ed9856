"""What PostgreSQL says, turned into what may be told.

Rules this module keeps:
- The driver's texts quote rows and parameters, so they end here: the cause that travels on is the
  five characters of the fault's class.
- Nothing is guessed: a clash of keys is Conflict, a person or tenant that is gone is NotFound,
  rights that changed meanwhile are Outdated, everything else is Unavailable.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg_pool import PoolTimeout, TooManyRequests

from core.errors import Conflict, GatewayError, NotFound, Outdated, Unavailable

_OUTDATED = "MW001"  # our own: raised by access_holds
_UNKNOWN = "08000"  # connection exception, when the driver has no code of the server's


class RecordFault(Exception):
    """What stands as the cause of an error of this adapter.

    Args:
        code: SQLSTATE. Source: PostgreSQL manual, appendix A.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(f"SQLSTATE {code}")


def translate(error: Exception) -> GatewayError:
    """Return the error to raise instead of the driver's `error`, and take its text from that one.

    Python hangs the one that was handled on the one that is raised, whatever is said to be the
    cause; so what the driver said is removed at its source.
    """
    told: GatewayError = Unavailable()
    if isinstance(error, psycopg.errors.UniqueViolation):
        told = Conflict()
    elif isinstance(error, psycopg.errors.ForeignKeyViolation):
        told = NotFound()  # whom it belongs to was erased meanwhile
    code = error.sqlstate if isinstance(error, psycopg.Error) else None
    if code == _OUTDATED:
        told = Outdated()
    told.__cause__ = RecordFault(code or _UNKNOWN)
    error.args = ()
    return told


@contextmanager
def quiet() -> Iterator[None]:
    """Raise our own error for whatever the driver raises inside.

    Raises: Conflict, NotFound, Unavailable.
    """
    try:
        yield
    except (psycopg.Error, PoolTimeout, TooManyRequests, OSError) as err:
        told = translate(err)
        raise told from told.__cause__
