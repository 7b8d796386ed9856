"""Unified social credit codes of China: of companies, and of a person who trades alone.

Rules this module keeps:
- 18 characters without I, O, S, V, Z, with a right check character (base 31, mod 31).
"""

from stdnum.cn import uscc

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = (
    r"统一社会信用代码|信用代码|税号|纳税人识别号|营业执照|social credit code|uscc"
    r"|business licen[cs]e"
)


class SocialCreditRecognizer(ShapedRecognizer):
    """Reports `CN_SOCIAL_CREDIT_CODE`. Source: GB 32100-2015."""

    def __init__(self) -> None:
        super().__init__(
            "CN_SOCIAL_CREDIT_CODE",
            (
                r"(?<![0-9A-Za-z])[1-9A-HJ-NP-RTUWXYa-hj-np-rtuwxy](?:[ -"
                r"]?[0-9A-HJ-NP-RTUWXYa-hj-np-rtuwxy]){17}(?![0-9A-Za-z])"
            ),
            said=_SAID,
            check=uscc.validate,
        )
