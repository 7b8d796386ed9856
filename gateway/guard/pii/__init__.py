"""Personal data: Presidio's engine with our own recognizers, one file each, and no language model.

Importing this package costs nothing. Importing `detector` imports Presidio and, through it, spaCy
(about a second, of which spaCy is more than half), so the composition root calls `load_detector` in
a thread while the stores start.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.guard.pii.detector import Detector


def load_detector() -> "Detector":
    """Return a warm detector. Takes about a second the first time; thread-safe."""
    from gateway.guard.pii.detector import Detector  # noqa: PLC0415 - see the module's docstring

    detector = Detector()
    detector.warm()
    return detector
