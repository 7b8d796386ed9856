"""Hardware addresses of network devices.

Rules this module keeps:
- Six pairs of hex digits with : or -, or three groups of four with dots; not all alike.
"""

from gateway.guard.pii.shaped import ShapedRecognizer


def _is_a_device(address: str) -> bool:
    return len(set(address.replace(":", ""))) > 1


_SAID = r"mac|hardware address|physical address|物理地址"


class MacRecognizer(ShapedRecognizer):
    """Reports `MAC_ADDRESS`. Source: IEEE 802."""

    def __init__(self) -> None:
        super().__init__(
            "MAC_ADDRESS",
            (
                r"(?<![0-9A-Za-z.-])(?<!(?<![A-Za-z])[0-9A-Fa-f]{2}:)(?:[0-9A-Fa-f]{2}(?P<sign>[:-])(?:[0-9A-Fa-f]{2}(?P=sign)"
                r"){4}[0-9A-Fa-f]{2}|(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4})(?![0-9A-Za-z:-]"
                r"|\.[0-9A-Za-z])"
            ),
            said=_SAID,
            check=_is_a_device,
            sign=r"[0-9A-Fa-f]{2}[:-][0-9A-Fa-f]{2}[:-]|[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.",
        )
