from hypothesis import given
from hypothesis import strategies as st

from gateway.vault.tlv import encode

# Few letters, and the encoding's own: examples then differ by where a part ends, not by what it is.
PARTS = st.lists(st.binary(max_size=6) | st.sampled_from([b"", b"\0", b"\1\0\0\0\0", b":", b"a:b"]))


@given(PARTS, PARTS)
def test_two_lists_of_parts_never_encode_alike(one, other):
    assert (encode(*one) == encode(*other)) == (one == other)


@given(PARTS, st.data())
def test_moving_bytes_across_a_border_shows(parts, data):
    joined = b"".join(parts)
    cuts = data.draw(st.lists(st.integers(0, len(joined)), max_size=4).map(sorted))
    again = [joined[a:b] for a, b in zip([0, *cuts], [*cuts, len(joined)], strict=True)]
    assert (encode(*parts) == encode(*again)) == (parts == again)


def test_the_encoding_is_fixed():
    assert encode(b"ab", b"") == bytes.fromhex("01000000026162" + "0200000000")
