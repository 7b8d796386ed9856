"""Individual numbers of Japan.

Rules this module keeps:
- Twelve digits with a right check digit, beside a word.
"""

from stdnum.jp import in_

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"マイナンバー|個人番号|my number|individual number"


class MyNumberRecognizer(ShapedRecognizer):
    """Reports `JP_MY_NUMBER`. Source: Japan, ordinance 85 of 2014, article 5."""

    def __init__(self) -> None:
        super().__init__(
            "JP_MY_NUMBER",
            r"(?<![0-9A-Za-z])[0-9](?:[ .·-]{0,1}[0-9]){11}(?![0-9A-Za-z]|[-.][0-9])",
            said=_SAID,
            check=in_.validate,
            needs_word=True,
        )
