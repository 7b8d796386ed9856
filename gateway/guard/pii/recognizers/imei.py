"""Numbers of mobile devices.

Rules this module keeps:
- Fifteen digits with a right check digit (Luhn), beside a word.
"""

from stdnum import luhn

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"imei|串号|设备号|设备识别码"


class ImeiRecognizer(ShapedRecognizer):
    """Reports `IMEI`. Source: 3GPP TS 23.003, 6.2."""

    def __init__(self) -> None:
        super().__init__(
            "IMEI",
            (
                r"(?<![0-9A-Za-z])[0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{6}[ -]?[0-9](?![0-9A-Za-z]"
                r"|[-.][0-9])"
            ),
            said=_SAID,
            check=luhn.validate,
            needs_word=True,
        )
