"""The base of our recognizers: a Presidio recognizer that finds spans and fails loudly.

Rules this module keeps:
- Presidio's own `PatternRecognizer` skips a pattern that times out, and so passes the text; ours
  does not use it. Patterns here are bounded, so their time is linear, and an exception reaches the
  detector.
- A recognizer reads canonical text only and judges context itself: Presidio's context words need
  the tokens of a language model.
"""

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from presidio_analyzer import LocalRecognizer, RecognizerResult
from typing_extensions import override

from gateway.guard.pii.needles import needles

if TYPE_CHECKING:
    from presidio_analyzer.nlp_engine import NlpArtifacts

LANGUAGE = "any"
"""Presidio sorts recognizers by language; ours read every one."""


class Span(NamedTuple):
    """A finding in the scanned text: `[start, end)` and a score in (0, 1]."""

    start: int
    end: int
    score: float = 1.0


class Recognizer(LocalRecognizer):
    """Finds one kind of personal data.

    Args:
        kind: the kind it reports, such as `EMAIL_ADDRESS`.
        sign: pattern of what any of its findings holds; without it a text is not looked at.
        names: alternatives of the words of which a text with a finding holds one; "" if it needs
            none.
    """

    def __init__(self, kind: str, sign: str = "[0-9]", names: str = "") -> None:
        super().__init__(
            supported_entities=[kind], supported_language=LANGUAGE, name=type(self).__name__
        )
        self.kind = kind
        self.sign = sign
        self.needles = needles(names)

    @abstractmethod
    def find(self, text: str) -> Iterator[Span]:
        """Yield what is found in canonical `text`; spans may overlap. Linear time."""

    @override
    def load(self) -> None:
        """Do nothing: there is no model to load."""

    @override
    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: "NlpArtifacts | None" = None
    ) -> list[RecognizerResult]:
        """Return Presidio's results for `find`; what the registry calls."""
        return [
            RecognizerResult(
                entity_type=self.kind,
                start=span.start,
                end=span.end,
                score=span.score,
                recognition_metadata={
                    RecognizerResult.RECOGNIZER_NAME_KEY: type(self).__name__,
                    RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: self.id,
                },
            )
            for span in self.find(text)
        ]
