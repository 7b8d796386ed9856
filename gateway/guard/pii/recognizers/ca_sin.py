"""Social insurance numbers of Canada.

Rules this module keeps:
- Nine digits with a right check digit (Luhn), beside a word.
"""

from stdnum.ca import sin

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"sin|social insurance|s\.i\.n|nas|assurance sociale"


class SinRecognizer(ShapedRecognizer):
    """Reports `CA_SIN`. Source: Service Canada."""

    def __init__(self) -> None:
        super().__init__(
            "CA_SIN",
            r"(?<![0-9A-Za-z])[0-9](?:[ .·-]{0,1}[0-9]){8}(?![0-9A-Za-z]|[-.][0-9])",
            said=_SAID,
            check=sin.validate,
            needs_word=True,
        )
