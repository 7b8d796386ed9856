"""The fixed words of the engine: what a memory is, says, and stands for.

Rules this module keeps:
- A word is spelled here and in the record's own constraints; a test compares them.
"""

from enum import StrEnum
from typing import Self

from core.scope import SourceKind


class Layer(StrEnum):
    """How a memory is held: what happened, what is so, what worked, or what matters for minutes."""

    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


class Kind(StrEnum):
    """What a memory says."""

    FACT = "fact"
    PREFERENCE = "preference"
    CONSTRAINT = "constraint"
    EVENT = "event"
    ENTITY = "entity"
    RELATION = "relation"
    PATTERN = "pattern"
    PITFALL = "pitfall"
    DIALOGUE = "dialogue"


class Persistence(StrEnum):
    """How fast a memory fades: half-life 7 days, 30 days, never."""

    VOLATILE = "volatile"
    DURABLE = "durable"
    PERMANENT = "permanent"


class Sensitivity(StrEnum):
    """Class of what was found in a memory; labels only rise."""

    NONE = "none"
    PERSONAL = "personal"
    SPECIAL = "special"
    SENSITIVE = "sensitive"


class State(StrEnum):
    """Where a memory stands. Only `active` ones are recalled."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    QUARANTINED = "quarantined"
    FORGOTTEN = "forgotten"


class Status(StrEnum):
    """What a write did with one fact."""

    STORED = "stored"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    QUARANTINED = "quarantined"


class Trust(StrEnum):
    """How far the origin of a memory is trusted."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @classmethod
    def of(cls, source: SourceKind) -> Self:
        """Return the trust that a source kind earns by itself."""
        if source in (SourceKind.OPERATOR, SourceKind.USER_DIRECT):
            return cls("high")
        return cls("medium" if source is SourceKind.AGENT_INFERRED else "low")
