"""What the guard says of a request: what it would keep, why it refuses, and what it found.

Rules this module keeps:
- Kinds, fields, actions and counts only; the texts are in `Checked.fields` alone, out of `repr`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from core.errors import Reason
from core.model import Redaction, Sensitivity
from core.placeholders import Marks

SCANNER_FAILED = "SCANNER_FAILED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A request that passed: its fields, and what was done to them.

    Args:
        fields: the same names; lists stay lists, mappings become dicts.
        redactions: one entry for each field, kind and action; what is only observed is one.
        sensitivity: the highest class among kinds let through; `personal` if any was transformed.
        kinds_found: what was found, whatever was done.
        expire_seconds: how long a memory of it lives at most; None where no kind asks for an end.
        marks: what the placeholders of pseudonyms in it stand for.
    """

    fields: dict[str, Any] = field(repr=False)
    redactions: tuple[Redaction, ...]
    sensitivity: Sensitivity
    kinds_found: frozenset[str]
    expire_seconds: int | None = None
    marks: Marks = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the guard would do with a request, and with what in it. No text but in `checked`.

    Args:
        checked: the request as it would be kept; None where it is refused.
        reasons: why it is refused; empty where it is not.
        findings: all that was found and what is done with it, what is only let through included:
            one entry for each field, kind and action.
    """

    checked: Checked | None
    reasons: tuple[Reason, ...]
    findings: tuple[Redaction, ...]


Tally = Callable[[Iterable[Redaction]], None]
"""Counts what was found by kind and action; may be called from several threads."""


def uncounted(_findings: Iterable[Redaction]) -> None:
    """Count nothing."""


class Counts:
    """How often each kind met each action in each field, in the order they came."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, str], int] = {}

    def add(self, path: str, kind: str, action: str, count: int = 1) -> None:
        """Count `kind` in the field at `path`."""
        key = path, kind, action
        self._counts[key] = self._counts.get(key, 0) + count

    @property
    def all(self) -> tuple[Redaction, ...]:
        """One entry for each field, kind and action."""
        return tuple(
            Redaction(kind=kind, action=action, field=path, count=count)
            for (path, kind, action), count in self._counts.items()
        )
