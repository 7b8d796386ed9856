"""All recognizers as one of Presidio's, so that its cost is paid once a text and not once a kind.

Rules this module keeps:
- Each distinct sign is looked for once; a text is read only by recognizers whose sign is there, and
  one of whose words.
- An exception of a recognizer is not caught here: the detector turns it into a refusal.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from presidio_analyzer import LocalRecognizer, RecognizerResult
from typing_extensions import override

from gateway.guard.pii.recognizer import LANGUAGE, Recognizer

if TYPE_CHECKING:
    from presidio_analyzer.nlp_engine import NlpArtifacts


class Together(LocalRecognizer):
    """Runs recognizers over a text, each only if its sign is there.

    Args:
        recognizers: of any kinds; two may report one kind.
    """

    def __init__(self, recognizers: Sequence[Recognizer]) -> None:
        super().__init__(
            supported_entities=sorted({one.kind for one in recognizers}),
            supported_language=LANGUAGE,
            name=type(self).__name__,
        )
        self._signs = _by_sign(recognizers)

    @override
    def load(self) -> None:
        """Do nothing: there is no model to load."""

    def is_worth_reading(self, text: str) -> bool:
        """Return whether any recognizer has something to look at in `text`."""
        return next(self._due(text), None) is not None

    @override
    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: "NlpArtifacts | None" = None
    ) -> list[RecognizerResult]:
        """Return what the recognizers find."""
        found = [
            result
            for one in self._due(text)
            for result in one.analyze(text, entities, nlp_artifacts)
        ]
        for result in found:
            # The engine drops what none of its own recognizers signs.
            result.recognition_metadata[RecognizerResult.RECOGNIZER_IDENTIFIER_KEY] = self.id
        return found

    def _due(self, text: str) -> Iterator[Recognizer]:
        """Yield the recognizers that may find something in `text`."""
        lowered = text.lower()
        for sign, those in self._signs:
            if sign.search(text):
                for one in those:
                    if not one.needles or any(needle in lowered for needle in one.needles):
                        yield one


def _by_sign(
    recognizers: Iterable[Recognizer],
) -> tuple[tuple[re.Pattern[str], list[Recognizer]], ...]:
    signs: dict[str, list[Recognizer]] = {}
    for one in recognizers:
        signs.setdefault(one.sign, []).append(one)
    return tuple((re.compile(sign), those) for sign, those in signs.items())
