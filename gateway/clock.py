"""The process's own clock, for what the database does not time: tokens of issuers elsewhere.

Rules this module keeps:
- It is the one implementation of the Clock port that ships; tests give their own.
"""

from datetime import UTC, datetime


class SystemClock:
    """Implements `core.ports.Clock`."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - the one implementation of the Clock port
