"""Identifiers."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from core.errors import NotFound
from core.ids import new_key_id, new_uuid, parse_uuid


def test_ids_are_version_seven_and_sorted_by_time_across_threads() -> None:
    ids = [new_uuid() for _ in range(10_000)]
    assert ids == sorted(ids)
    assert {one.version for one in ids} == {7}
    assert {one.variant for one in ids} == {"specified in RFC 4122"}
    with ThreadPoolExecutor(4) as pool:
        many = [one for batch in pool.map(lambda _: [new_uuid() for _ in range(2000)], range(4))
                for one in batch]  # fmt: skip
    assert len(set(many)) == len(many)


@pytest.mark.parametrize(
    "text",
    ["", "x", "00000000-0000-7000-8000-00000000000", "{00000000-0000-7000-8000-000000000000}",
     "00000000000070008000000000000000", "0000000A-0000-7000-8000-000000000000",
     " 00000000-0000-7000-8000-000000000000", "00000000-0000-7000-8000-000000000000\n"],
)  # fmt: skip
def test_an_id_in_any_other_spelling_is_not_here(text: str) -> None:
    with pytest.raises(NotFound):
        parse_uuid(text)


def test_an_id_round_trips() -> None:
    one = new_uuid()
    assert parse_uuid(str(one)) == one


def test_a_key_id_has_no_underscore() -> None:
    assert all("_" not in new_key_id() and len(new_key_id()) == 16 for _ in range(100))
