"""Permanent account numbers of India.

Rules this module keeps:
- Five letters, four digits, a letter; the fourth letter says what holds it.
- In capitals by its shape; in lower case beside a word.
"""

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"pan|permanent account|income tax"


class PanRecognizer(ShapedRecognizer):
    """Reports `IN_PAN`. Source: Income Tax Department of India."""

    def __init__(self) -> None:
        super().__init__(
            "IN_PAN",
            r"(?<![0-9A-Za-z])[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z](?![0-9A-Za-z])",
            said=_SAID,
            sign="[0-9]{4}",
        )
