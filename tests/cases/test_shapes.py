"""Shapes of input that memory services were publicly reported to lose, mangle or fall over."""

from typing import Any

import pytest

from tests.house import House
from tests.live.gateways import Agent


@pytest.fixture
def alice(house: House) -> Agent:
    return house.someone("alice")


# --- metadata and its types -----------------------------------------------------------------------


def test_a_change_of_the_text_leaves_metadata_and_a_change_of_one_key_the_others(
    alice: Agent,
) -> None:
    metadata = {"category": "travel", "priority": 2, "nested": {"a": [1, 2.5, None, True]}}
    memory = alice.stored("first text", metadata=metadata, tags=["t"])
    before = alice.get(memory).json()
    path = f"/v1/memories/{memory}"
    alice.call("PATCH", path, json=alice.about(content="second text"))
    after = alice.get(memory).json()
    assert (after["metadata"], after["tags"]) == (metadata, ["t"])
    assert after["created_at"] == before["created_at"]
    assert after["updated_at"] > before["updated_at"]
    alice.call("PATCH", path, json=alice.about(metadata={"priority": 5}))
    assert alice.get(memory).json()["metadata"] == metadata | {"priority": 5}
    assert alice.get(memory).json()["content"] == "second text"


# --- shapes of input ------------------------------------------------------------------------------


@pytest.mark.requirement("F6")
@pytest.mark.parametrize("text", ["", "   \n\t", "\u200b\u2060", "\u3164", "\ufe0f", None])
def test_an_empty_text_is_refused(house: House, alice: Agent, text: str | None) -> None:
    before = len(alice.listed())
    reply = alice.try_write(text)
    assert reply.status_code == 422
    assert reply.json()["errors"][0]["field"] == "content"
    assert house.tool(alice, "memory_write", content=text, user_id="alice")["isError"]
    memory = alice.stored("something")
    body = alice.about(content=text)
    assert alice.call("PATCH", f"/v1/memories/{memory}", json=body).status_code == 422
    assert len(alice.listed()) == before + 1


@pytest.mark.requirement("F6")
@pytest.mark.parametrize("wait", ["merged", "durable"])
@pytest.mark.parametrize(
    "fields",
    [
        {"content": "ping \x00 pong"},
        {"content": "x", "metadata": {"k\x00": "v"}},
        {"content": "x", "metadata": {"k": ["v\x00"]}},
        {"content": "x", "tags": ["\x00"]},
        {"content": "x", "session_id": "s\x00"},
    ],
)
def test_a_nul_is_refused_whichever_way_the_write_waits(
    alice: Agent, fields: dict[str, Any], wait: str
) -> None:
    reply = alice.call("POST", "/v1/memories", json=alice.about(wait=wait, **fields))
    assert reply.status_code == 422
    assert alice.listed() == []


@pytest.mark.requirement("F6")
def test_one_long_and_one_empty_text_harm_no_other_of_their_batch(alice: Agent) -> None:
    texts: list[Any] = [f"an ordinary note, number {n}" for n in range(18)]
    texts.insert(3, "long " * 600_000)
    texts.insert(9, "")
    items = [alice.about(content=text) for text in texts]
    reply = alice.call("POST", "/v1/memories/batch", json={"items": items})
    assert reply.status_code == 200
    results = reply.json()["results"]
    assert [results[3]["code"], results[9]["code"]] == ["too_large", "invalid"]
    kept = [result["outcomes"][0]["id"] for result in results if "outcomes" in result]
    assert len(kept) == 18
    assert {memory["id"] for memory in alice.listed()} == set(kept)


@pytest.mark.parametrize("text", ["12345", '{"a": 1}', "true", "null", "1e5", "[1]", "007"])
def test_a_text_that_looks_like_something_else_stays_a_text(
    house: House, alice: Agent, text: str
) -> None:
    done = house.tool(alice, "memory_write", content=text, user_id="alice", tags=[text])
    memory = done["structuredContent"]["outcomes"][0]["id"]
    shown = alice.get(memory).json()
    assert (shown["content"], shown["tags"]) == (text, [text])


@pytest.mark.requirement("F6")
@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (b'{"content": ["a"], "tags": "x", "user_id": "alice"}', "content"),
        (b"[1, 2]", "body"),
        (b'{"content": NaN, "user_id": "alice"}', "body"),
        (b'{"content": "a", "content": "b", "user_id": "alice"}', "content"),
        (b'{"content": "a", "importance": 1e400, "user_id": "alice"}', "body"),
        (b'{"content": "\\ud800", "user_id": "alice"}', "content"),
        (b'{"content": "a", "user_id": "alice"', "body"),
    ],
)
def test_a_body_of_another_shape_is_refused_by_its_field(
    alice: Agent, raw: bytes, field: str
) -> None:
    headers = {"Content-Type": "application/json"}
    reply = alice.call("POST", "/v1/memories", content=raw, headers=headers)
    assert reply.status_code == 422
    assert field in {error["field"] for error in reply.json()["errors"]}
    assert alice.listed() == []


def test_a_time_with_an_offset_and_one_without_are_both_instants(alice: Agent) -> None:
    """A time without an offset is UTC, as the contract says: half past four comes before ten."""
    first = alice.stored("a", occurred_at="2026-01-05T10:00:00+05:30")
    second = alice.stored("b", occurred_at="2026-01-05T10:00:00")
    times = [alice.get(memory).json()["occurred_at"] for memory in (first, second)]
    assert times == ["2026-01-05T04:30:00.000000Z", "2026-01-05T10:00:00.000000Z"]
    assert times == sorted(times)


@pytest.mark.parametrize(
    "text",
    [
        "電話：０９０－ＡＢＣＤ、cafe\u0301 au lait, ﬁle",
        "👩‍👩‍👧 and 🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f flew",
        "می\u200cخواهم چای بنوشم",
        "क्\u200dष is one sign",
        "שלום, she said",
        "葛\U000e0100飾区 is written so",
        "line one\r\nline two\ttab",
    ],
)
def test_a_text_comes_back_as_it_was_written(alice: Agent, text: str) -> None:
    """What is read for search and for personal data is normalised; what is kept is the spelling."""
    memory = alice.stored(text, metadata={"as": text})
    shown = alice.get(memory).json()
    assert (shown["content"], shown["metadata"]) == (text, {"as": text})
