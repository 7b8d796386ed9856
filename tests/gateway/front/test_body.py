"""JSON that means one thing, in bounded time and memory."""

import asyncio
import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Invalid, TooLarge
from gateway.front.body import (
    DRAIN_BYTES,
    MAX_DEPTH,
    ClientGone,
    HangUp,
    field_name,
    parse_object,
    read_body,
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc中"), inner),
    max_leaves=30,
)


@given(st.dictionaries(st.text("abcü"), VALUES), st.booleans())
def test_what_json_writes_is_read_back(value, ascii_only):
    assert parse_object(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.binary())
def test_no_bytes_do_anything_but_parse_or_be_invalid(raw):
    for text in (raw, b'{"a":' + raw, b'{"a":"' + raw + b'"}'):
        with contextlib.suppress(Invalid):
            assert isinstance(parse_object(text), dict)


@pytest.mark.requirement("F6")
@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (b"", "body"),
        (b"[]", "body"),
        (b'"a"', "body"),
        (b"\xff{}", "body"),
        (b"\xef\xbb\xbf{}", "body"),
        ('{"a": 1}'.encode("utf-16"), "body"),
        (b'{"a": 1, "a": 1}', "a"),
        (b'{"a": {"b": 1, "b": 2}}', "b"),
        (b'{"+49170555": 1, "+49170555": 2}', "?"),
        (b'{"a": NaN}', "body"),
        (b'{"a": Infinity}', "body"),
        (b'{"a": 1e400}', "body"),
        (b'{"a": 9223372036854775808}', "body"),
        (b'{"a": ' + b"1" * 5000 + b"}", "body"),
        (b'{"a": "\x00"}', "body"),
        (b'{"a": "\\u0000"}', "a"),
        (b'{"a": {"b": [1, "\\ud800"]}}', "a.b[1]"),
        (b'{"a\\udfff": 1}', "?"),
        (b'{"a": ' + b"[" * 64 + b"]" * 64 + b"}", "a"),
        (b"[" * 1_000_000, "body"),
        (b'{"a":' * 200_000, "body"),
    ],
)
def test_what_readers_could_take_differently_is_invalid(raw, field):
    with pytest.raises(Invalid) as caught:
        parse_object(raw)
    assert [fault.field for fault in caught.value.faults] == [field]
    assert caught.value.__cause__ is None


def test_nesting_up_to_the_bound_is_read():
    depth = MAX_DEPTH - 1
    assert parse_object(b'{"a": ' + b"[" * depth + b"]" * depth + b"}")
    assert parse_object(b'{"a": [' + b"[]," * 500 + b"[]]}")
    assert parse_object(b'{"a": "' + b"[" * 500 + b'"}')


def test_a_pair_of_surrogates_is_one_character():
    assert parse_object(b'{"a": "\\ud83d\\ude00"}') == {"a": "\N{GRINNING FACE}"}


@pytest.mark.requirement("F6")
@pytest.mark.parametrize("value", ["[]", "1", '{"a": 1}', '"\\u0041"'])
def test_a_body_of_very_many_values_is_too_large(value):
    raw = f'{{"a": [{", ".join([value] * 100_000)}]}}'.encode()
    with pytest.raises(TooLarge):
        parse_object(raw)


def test_commas_of_a_text_are_not_values():
    assert parse_object(b'{"a": "' + b"," * 200_000 + b'"}')


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("userId", "userId"), ("user_id", "user_id"), ("userID", "?"), ("contnt", "contnt"),
        ("", "?"), ("a1", "?"), ("a b", "?"), (7, "?"), ("user_id_" * 9, "?"), ("a" * 17, "?"),
        ("AKIAZQABCDEFGHIJKLMN", "?"), ("sKqWmEzRtYpLdF", "?"), ("Alice", "?"), ("_id", "?"),
    ],
)  # fmt: skip
def test_only_what_could_be_a_field_is_repeated(name, shown):
    assert field_name(name) == shown


def feed(*pieces, end=True):
    """Return a `receive` that gives `pieces`."""
    messages = [
        {"type": "http.request", "body": piece, "more_body": not end or number < len(pieces)}
        for number, piece in enumerate(pieces, start=1)
    ]

    async def receive():
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    return receive


async def test_a_body_in_pieces_is_one_body():
    assert await read_body(feed(b"ab", b"", b"c"), None, limit=3, seconds=5) == b"abc"
    assert await read_body(feed(b""), 0, limit=3, seconds=5) == b""


async def test_a_body_over_its_bound_is_too_large_and_is_read_to_its_end():
    receive = feed(b"ab", b"cd", b"ef")
    with pytest.raises(TooLarge) as caught:
        await read_body(receive, None, limit=3, seconds=5)
    assert caught.value.field == "body"
    assert (await receive())["type"] == "http.disconnect"


async def test_a_body_far_over_its_bound_ends_the_connection():
    with pytest.raises(HangUp):
        await read_body(feed(), 4 + DRAIN_BYTES, limit=3, seconds=5)
    endless = feed(*[b"x" * (1 << 20)] * 10, end=False)
    with pytest.raises(HangUp) as caught:
        await read_body(endless, None, limit=3, seconds=5)
    assert isinstance(caught.value.error, TooLarge)


async def test_a_body_that_stops_midway_is_late_or_gone(asyncio_forever):
    with pytest.raises(HangUp) as caught:
        await read_body(asyncio_forever, None, limit=3, seconds=0.02)
    assert isinstance(caught.value.error, Invalid)
    with pytest.raises(ClientGone):
        await read_body(feed(b"a", end=False), None, limit=3, seconds=5)


@pytest.fixture
def asyncio_forever():
    async def receive():
        await asyncio.Event().wait()

    return receive
