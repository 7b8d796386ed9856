"""Personal identity codes of Finland.

Rules this module keeps:
- A date, a sign for the century, three digits and a check character.
"""

from gateway.guard.pii.shaped import ShapedRecognizer

_SIGNS = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_DATE = 6


def _is_valid(number: str) -> bool:
    # The sign of the century may be a dash, which is gone here.
    day, month, running = int(number[:2]), int(number[2:4]), number[-4:-1]
    if not (1 <= day <= 31 and 1 <= month <= 12):  # noqa: PLR2004 - a calendar's
        return False
    return _SIGNS[int(number[:_DATE] + running) % 31] == number[-1]


_SAID = r"hetu|henkilötunnus|finnish (?:id|personal)|personal identity code"


class HetuRecognizer(ShapedRecognizer):
    """Reports `FI_PERSONAL_IDENTITY_CODE`. Source: Finland, 128/2010."""

    def __init__(self) -> None:
        super().__init__(
            "FI_PERSONAL_IDENTITY_CODE",
            (
                r"(?<![0-9A-Za-z])[0-3][0-9][01][0-9]{3}[-+A-FU-Ya-fu-y][0-9"
                r"]{3}[0-9A-FHJ-NPR-Ya-fhj-npr-y](?![0-9A-Za-z])"
            ),
            said=_SAID,
            check=_is_valid,
        )
