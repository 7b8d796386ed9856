"""Permits to travel between the mainland, Hong Kong, Macau and Taiwan.

Rules this module keeps:
- H or M and 8 or 10 digits (home return permit), C or L and 8, or a letter or two and 7 or 8,
  beside a word; 8 or 10 digits alone (of Taiwan) beside the permit's own name.
"""

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = (
    r"通行证|通行證|回乡证|回鄉證|台胞证|臺胞證|台胞證|港澳证|港澳居民|来往内地|往来|还乡证"
    r"|mainland travel permit|home return permit|travel permit|exit-entry permit"
)


class TravelPermitRecognizer(ShapedRecognizer):
    """Reports `CN_TRAVEL_PERMIT`. Source: National Immigration Administration of China."""

    def __init__(self) -> None:
        super().__init__(
            "CN_TRAVEL_PERMIT",
            (
                r"(?<![0-9A-Za-z])(?:[HMhm] ?[0-9](?: ?[0-9]){7}(?:(?: ?[0-9]){2})?"
                r"|[CLTWcltw][A-Za-z]? ?[0-9](?: ?[0-9]){6,7}|[0-9]{8}(?:[0-9]{2}"
                r"|\([A-Za-z]\))?)(?![0-9A-Za-z]|[-.][0-9])"
            ),
            said=_SAID,
            needs_word=True,
        )
