"""Personal data: Presidio's engine, our own recognizers, and a language model where one is set.

Importing this package costs nothing. Importing `detector` imports Presidio and, through it, spaCy
(about a second, of which spaCy is more than half), so the composition root calls `load_detector` in
a thread while the stores start.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.guard.pii.detector import Detector


def load_detector(model: str | None = None) -> "Detector":
    """Return a warm detector. Takes about a second the first time; thread-safe.

    Args:
        model: name of an installed spaCy package, or the folder of a model; names and places are
            told by rules alone without one.

    Raises:
        gateway.guard.pii.ner.ModelMissing: there is no such model here; none is fetched.
    """
    from gateway.guard.pii.detector import Detector  # noqa: PLC0415 - see the module's docstring
    from gateway.guard.pii.ner import LanguageModel  # noqa: PLC0415 - as above

    detector = Detector(model=LanguageModel(model) if model else None)
    detector.warm()
    return detector
