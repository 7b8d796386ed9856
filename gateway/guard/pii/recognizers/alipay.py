"""Alipay accounts that are neither a mobile number nor an address.

Rules this module keeps:
- A mobile number or an address beside the word is found as such.
"""

from gateway.guard.pii.shaped import AnnouncedRecognizer

_NAMES = r"支付宝(?:账号|账户|号)?|alipay"
_VALUE = r"2088[0-9]{12}|[a-z][a-z0-9_]{5,19}(?<=[0-9])"


class AlipayRecognizer(AnnouncedRecognizer):
    """Reports `ALIPAY_ID`. Source: Ant Group."""

    def __init__(self) -> None:
        super().__init__("ALIPAY_ID", _NAMES, _VALUE, sign="[0-9]")
