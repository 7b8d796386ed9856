"""Two different tuples never give one key."""

import itertools
import random
import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.adapters.redis.keys import Part, key
from core.ids import TenantId, new_uuid

pytestmark = pytest.mark.requirement("C8")

TENANT = TenantId(new_uuid())
SEPARATORS = ["", ":", ",", "s1:", "mw:", "1:a,", "s0:,", "\0", "/", "a", "b16:", "，", "\ud800"]


def read(written: bytes) -> list[Part]:
    """Return the parts of a key: the decoder whose existence proves that no two tuples meet."""
    parts: list[Part] = []
    rest = written.removeprefix(b"mw:")
    while rest:
        head = re.match(rb"([usb])(\d+):", rest)
        assert head
        size = int(head[2])
        data, end = rest[head.end() :][:size], rest[head.end() + size :]
        assert end[:1] == b","
        rest = end[1:]
        kinds = {b"u": lambda d: UUID(bytes=d), b"s": lambda d: d.decode("utf-8", "surrogatepass")}
        parts.append(kinds.get(head[1], bytes)(data))
    return parts


tuples = st.lists(
    st.text()
    | st.binary()
    | st.binary(min_size=16, max_size=16).map(lambda data: UUID(bytes=data))
    | st.sampled_from(SEPARATORS),
    max_size=5,
)


@given(tuples)
def test_a_key_can_be_read_back(parts):
    assert read(key("query", TENANT, *parts)) == ["query", TENANT, *parts]


def test_a_hundred_thousand_tuples_full_of_separators_give_as_many_keys():
    seeded = random.Random(8)
    made: dict[bytes, tuple[Part, ...]] = {}
    while len(made) < 100_000:
        text = "".join(seeded.choices(SEPARATORS, k=seeded.randrange(6)))
        cuts = sorted(seeded.randrange(len(text) + 1) for _ in range(seeded.randrange(3)))
        ends = [0, *cuts, len(text)]
        parts: list[Part] = [text[a:b] for a, b in itertools.pairwise(ends)]
        if seeded.random() < 0.3:
            parts[-1] = str(parts[-1]).encode("utf-8", "surrogatepass")
        parts.append(str(seeded.randrange(50)))
        found = made.setdefault(key("budget", TENANT, *parts), tuple(parts))
        assert found == tuple(parts)


def test_the_same_parts_under_another_tenant_or_purpose_are_another_key():
    other = TenantId(new_uuid())
    keys = {key("query", TENANT, "a"), key("query", other, "a"), key("budget", TENANT, "a")}
    assert len(keys) == 3
