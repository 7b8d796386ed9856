"""Internet addresses.

Rules this module keeps:
- Four numbers after "v", "version", "ver." or 版本 are a version, and so are four inside a longer
  dotted number; otherwise 1.2.3.4 is an address, since nothing tells it apart.
- An address of version 6 needs a digit and two groups: "::", "std::string" and "12:30:45" are none.
- The length of a network's prefix goes with it: "10.20.0.0/16".
- Loopback, the unspecified address and net masks point at nobody.
"""

import ipaddress
import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.recognizer import Recognizer, Span

_V4 = re.compile(
    r"(?<![0-9A-Za-z_.-])(?<![0-9]:)(?<!::)(?<![fF]{4}:)(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?:/(?:3[0-2"
    r"]|[12]?[0-9])(?![0-9/]))?(?![0-9A-Za-z_]|[.-][0-9])"
)
_V6 = re.compile(
    r"(?<![0-9A-Za-z_:.])"
    r"(?:(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9]{1,3}\.){3}[0-9]{1,3}"
    r"|(?=[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:]{2,39})"
    r"(?:%[0-9A-Za-z]{1,16})?(?:/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9])(?![0-9/]))?(?![0-9A-Za-z_:]"
    r"|\.[0-9])"
)
_VERSION = re.compile(
    r"(?<![a-z])(?:v|ver|version|release|rev|build|firmware|driver)s?[.:= ]{0,3}$"
    r"|(?:版本|版)号?[:是为 ]{0,3}$",
    re.IGNORECASE,
)
_LEAST_GROUPS = 2


class IpRecognizer(Recognizer):
    """Reports `IP_ADDRESS`. Source: RFC 4291, 2.2."""

    def __init__(self) -> None:
        super().__init__("IP_ADDRESS")

    @override
    def find(self, text: str) -> Iterator[Span]:
        if "." in text:
            for match in _V4.finditer(text):
                before = text[max(0, match.start() - 16) : match.start()]
                if _is_v4(match.group()) and not _VERSION.search(before):
                    yield Span(match.start(), match.end(), 0.8)
        if ":" in text:
            for match in _V6.finditer(text):
                if _is_v6(match.group()):
                    yield Span(match.start(), match.end(), 0.9)


def _is_v4(number: str) -> bool:
    parts = [int(part) for part in number.partition("/")[0].split(".")]
    if any(part > 255 for part in parts):  # noqa: PLR2004 - one octet
        return False
    return parts[0] not in (0, 127) and parts[:2] != [255, 255]


def _is_v6(number: str) -> bool:
    number = number.partition("/")[0]
    groups = [group for group in re.split(r"[:.]", number.partition("%")[0]) if group]
    if len(groups) < _LEAST_GROUPS or not any(char.isdigit() for char in number):
        return False
    try:
        address = ipaddress.IPv6Address(number)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)
