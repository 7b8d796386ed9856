"""United States taxpayer numbers of people who have no social security number.

Rules this module keeps:
- 9xx-[50-65, 70-88, 90-92, 94-99]-xxxx; with dashes by its shape, otherwise beside a word.
"""

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"itin|tax ?(?:id|payer)|taxpayer|individual taxpayer"


class ItinRecognizer(ShapedRecognizer):
    """Reports `US_ITIN`. Source: IRS, publication 1915."""

    def __init__(self) -> None:
        super().__init__(
            "US_ITIN",
            (
                r"(?<![0-9A-Za-z])(?<![0-9][-.])9[0-9]{2}([-. ]?)(?:5[0-9]|6[0-5]|7[0-9]|8[0-8]"
                r"|9[0-24-9])\1[0-9]{4}(?![0-9A-Za-z]|[-.][0-9])"
            ),
            said=_SAID,
        )
