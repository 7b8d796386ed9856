"""From one guarded text to facts.

Rules this module keeps:
- What comes out was in the guarded text: an extractor adds no statement of its own.
"""

from collections.abc import Sequence

from core.model import Fact, Guarded


class WholeText:
    """The `Extractor` that keeps a text whole: one text, one fact, of the kind the caller named."""

    async def extract(self, guarded: Guarded) -> Sequence[Fact]:
        """Return the text as its own single fact."""
        draft = guarded.draft
        return (Fact(text=draft.content, kind=draft.kind, details=draft.details),)
