"""What a write does when the same thing is known already. Pure.

Rules this module keeps:
- The same text again is the same memory: its confidence rises, its tags and metadata join, and no
  second row appears.
- Whoever adds to a memory signs its next version: nobody's words stand under another's name.
- Nothing that is merged raises trust, and nothing the caller said is dropped: a metadata key that
  is said anew takes the new value, unless a less trusted source says it: what it says would pass
  for the more trusted one's.
"""

from collections.abc import Iterable

from core.model import Details

REPETITION_GAIN = 0.1
"""How much a repeated statement gains in confidence, up to 1."""


def raised(confidence: float) -> float:
    """Return the confidence of a statement heard once more, in [0, 1]."""
    return min(1.0, round(confidence + REPETITION_GAIN, 6))


def joined(old: Details, new: Details, *, less_trusted: bool = False) -> Details:
    """Return the details of a memory that is written again: tags and entities united in order,
    metadata overlaid by the newer, reference, session and task kept from the older.

    Args:
        less_trusted: the newer comes from a less trusted source, and overlays nothing.
    """
    over = {**new.metadata, **old.metadata} if less_trusted else {**old.metadata, **new.metadata}
    return Details(
        tags=_united(old.tags, new.tags),
        metadata=over,
        entities=_united(old.entities, new.entities),
        source_ref=old.source_ref or new.source_ref,
        session_id=old.session_id or new.session_id,
        task=old.task or new.task,
        author=new.author,
        person=old.person or new.person,
    )


def adds_nothing(old: Details, joined: Details) -> bool:
    """Tell whether a repeat left the details of a memory as they were, whoever repeated it."""
    return joined.signed(old.author, old.person) == old


def _united(old: Iterable[str], new: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*old, *new)))
