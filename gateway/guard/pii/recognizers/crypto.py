"""Addresses of Bitcoin and Ethereum wallets.

Rules this module keeps:
- A Bitcoin address has a right check (Base58Check, or Bech32 and Bech32m); of Ethereum the shape,
  0x and 40 hex digits, is all there is.
"""

from stdnum import bitcoin

from gateway.guard.pii.shaped import ShapedRecognizer

_SIGNS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def _is_valid(address: str) -> bool:
    if address[:2] in ("0x", "0X"):
        return True
    if address[:3].lower() == "bc1":
        return _polymod(address.lower()) in (1, 0x2BC830A3)
    return bitcoin.is_valid(address)


def _polymod(address: str) -> int:
    values = [3, 3, 0, 2, 3, *(_SIGNS.find(sign) for sign in address[3:])]
    if -1 in values:
        return 0
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate(_GENERATORS):
            check ^= generator if top >> bit & 1 else 0
    return check


_SAID = r"wallet|bitcoin|btc|ethereum|eth|钱包"


class CryptoRecognizer(ShapedRecognizer):
    """Reports `CRYPTO_WALLET`. Source: BIP 13, BIP 173, BIP 350."""

    def __init__(self) -> None:
        super().__init__(
            "CRYPTO_WALLET",
            (
                r"(?<![0-9A-Za-z])(?:[13][1-9A-HJ-NP-Za-km-z]{25,34}|(?:bc1|BC1)[0-9A-Za-z]{11,71}"
                r"|0x[0-9a-fA-F]{40})(?![0-9A-Za-z])"
            ),
            said=_SAID,
            check=_is_valid,
            any_case=False,
            sign=r"(?<![0-9A-Za-z])(?:[13]|bc1|BC1|0x)[0-9A-Za-z]{14}",
        )
