"""What a detector reports, apart from the detector, so that naming it loads nothing heavy."""

from dataclasses import dataclass
from typing import Protocol

from gateway.guard.normalise import Normalised


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Personal data at `original[start:end]`. No text.

    Args:
        score: how sure the recognizer is, in (0, 1].
        encoded: seen in a decoded layer; the span's own characters are not the value's.
    """

    kind: str
    start: int
    end: int
    score: float
    recognizer: str
    encoded: bool = False


class PiiDetector(Protocol):
    """Finds personal data; may be shared by threads."""

    def detect(
        self, normalised: Normalised, asked: frozenset[str] = frozenset()
    ) -> tuple[Finding, ...]:
        """Return what is found in every reading of a text.

        Args:
            normalised: the text and its readings.
            asked: best-effort kinds to look for besides the identifiers.

        Raises:
            ScanFailed: the text could not be judged.
        """
        ...
