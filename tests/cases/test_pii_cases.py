"""Mistakes that were publicly reported of tools that take personal data out, tried on this one.

Over the real gateway, as a write does it. `strict` is a tenant's own policy here.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.house import House
from tests.live.gateways import Agent


def tenant(house: House, profile: str | None = None) -> Agent:
    """Return an agent of a new tenant, of a profile of its own if one is named."""
    admin = house.tenant()
    if profile is not None:
        reply = admin.call("PUT", "/v1/admin/policies/pii", json={"profile": profile})
        assert reply.status_code == 200, reply.text
    return house.agent(admin, "alice")


@pytest.fixture
def balanced(house: House) -> Agent:
    return tenant(house)


@pytest.fixture
def strict(house: House) -> Agent:
    return tenant(house, "strict")


def kept(agent: Agent, text: str) -> str:
    """Write `text`, and return what is there then."""
    content: str = agent.get(agent.stored(text)).json()["content"]
    return content


# --- missed ---------------------------------------------------------------------------------------


@pytest.mark.requirement("D5")
def test_a_card_is_taken_by_its_check_digit_and_one_that_fails_it_beside_the_word(
    balanced: Agent,
) -> None:
    valid = kept(balanced, "the office card is 5555 5555 5555 4444 for stamps")
    assert valid == "the office card is [CREDIT_CARD ****4444] for stamps"
    fails = kept(balanced, "the office card is 5555 5555 5555 4445 for stamps")
    assert "5555 5555" not in fails
    alone = "lot 5555555555554445 came in"
    assert kept(balanced, alone) == alone


@pytest.mark.requirement("D5")
@pytest.mark.parametrize("between", [" ", "\n", ", ", "\t", ";", " or ", "、", " / "])
@pytest.mark.parametrize(
    ("values", "placeholder"),
    [
        (["kim@quay.example", "lee@quay.example", "ada@quay.example"], "[EMAIL_ADDRESS]"),
        (["415-555-0132", "415-555-0175", "415-555-0198"], "[PHONE_NUMBER]"),
        (["13912345678", "13712345678", "15012345678"], "[PHONE_NUMBER]"),
    ],
)
def test_of_several_side_by_side_none_is_left(
    balanced: Agent, values: list[str], placeholder: str, between: str
) -> None:
    text = f"reach us: {between.join(values)}."
    assert kept(balanced, text) == f"reach us: {between.join([placeholder] * 3)}."


@pytest.mark.requirement("D5")
@pytest.mark.parametrize(
    "text", ["SSN: 536-22-8726", "SSN: 536 22 8726", "ssn 536228726", "my social is 536.22.8726",
             "Social Security number 536-22-8726"],
)  # fmt: skip
def test_a_social_security_number_is_seen_in_every_spelling(balanced: Agent, text: str) -> None:
    content = kept(balanced, text)
    assert "[US_SSN]" in content
    assert "8726" not in content


@pytest.mark.parametrize("number", ["000-12-8726", "666-12-8726", "912-00-8726"])
@pytest.mark.parametrize("text", ["part {} is out of stock", "SSN: {}", "her SSN is {}", "ssn {}"])
def test_a_number_that_was_never_issued_is_no_social_security_number(
    balanced: Agent, text: str, number: str
) -> None:
    assert kept(balanced, text.format(number)) == text.format(number)


@pytest.mark.parametrize(
    "text",
    [
        "span 7d1e4c22-09b3-4f7a-8812-4155550132ab ended",
        "请求 0f8fad5b-d9cb-469f-a165-708677289502 超时",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    ],
)
def test_a_run_of_digits_inside_an_id_is_no_number_of_a_person(balanced: Agent, text: str) -> None:
    assert kept(balanced, text) == text


# --- taken for one --------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", [None, "strict"])
@pytest.mark.parametrize(
    "text",
    [
        "After PostgreSQL we learned Terraform, and JavaScript gives way to TypeScript at work.",
        "Prometheus and Grafana run beside Kubernetes; ClickHouse keeps what is older.",
        "我在用 Elasticsearch 和 RabbitMQ，打算换成 OpenSearch。",
    ],
)
def test_names_of_programs_are_left_alone(house: House, profile: str | None, text: str) -> None:
    assert kept(tenant(house, profile), text) == text


@pytest.mark.parametrize(
    "text", ["8315529", "1698765432.25 -0.75", "WARN disk at 91%, level INFO", "96c 4f", "a::b"]
)
def test_a_line_of_a_log_is_nobodys_name(strict: Agent, text: str) -> None:
    assert "PERSON" not in kept(strict, text)


# --- spans ----------------------------------------------------------------------------------------


@pytest.mark.requirement("D5")
def test_a_name_and_its_genitive_give_one_placeholder_and_lose_no_letter(strict: Agent) -> None:
    content = kept(strict, "Mr. Omondi's keys and Mr. Omondi's coat are by the door.")
    assert "Omondi" not in content
    assert content.count("[PERSON]") == 2
    assert content.endswith(" coat are by the door.")
    assert " keys and " in content


@pytest.mark.requirement("A8", "D5")
@pytest.mark.parametrize(
    ("text", "content"),
    [
        (
            "🙂👨‍👩‍👦 write to kim@quay.example 👍🏽, from 𝓟rague",
            "🙂👨‍👩‍👦 write to [EMAIL_ADDRESS] 👍🏽, from 𝓟rague",
        ),
        (
            "電話：０９０－８７６５－４３２１、cafe\u0301 noir, ﬂat",
            "電話：[PHONE_NUMBER]、cafe\u0301 noir, ﬂat",
        ),
        ("e\u0301\u0323 kim@quay.example x\u0323", "e\u0301\u0323 [EMAIL_ADDRESS] x\u0323"),
        ("نامه به kim@quay.example می‌رود", "نامه به [EMAIL_ADDRESS] می‌رود"),
        ("他的手机１３９１２３４５６７８，谢谢", "他的手机[PHONE_NUMBER]，谢谢"),
    ],
)  # fmt: skip
def test_around_a_placeholder_every_character_is_as_it_was_written(
    house: House, balanced: Agent, text: str, content: str
) -> None:
    assert kept(balanced, text) == content
    again = house.tool(balanced, "memory_write", content=text + " .", user_id="alice")
    memory = again["structuredContent"]["outcomes"][0]["id"]
    assert balanced.get(memory).json()["content"] == content + " ."


@pytest.mark.requirement("A8")
def test_five_hundred_texts_of_many_scripts_come_back_byte_for_byte(balanced: Agent) -> None:
    texts = sorted({*scripts()})
    assert len(texts) >= 500
    for start in range(0, len(texts), 250):
        items: list[Any] = [balanced.about(content=text) for text in texts[start : start + 250]]
        reply = balanced.call("POST", "/v1/memories/batch", json={"items": items})
        for text, result in zip(texts[start:], reply.json()["results"], strict=False):
            assert "outcomes" in result, (text, result)
            assert result["redactions"] == [], text
    found = {memory["content"] for memory in balanced.listed(limit=200)}
    cursor = balanced.call("GET", "/v1/memories", params=balanced.about(limit=200)).json()
    while cursor["next_cursor"] is not None:
        params = balanced.about(limit=200, cursor=cursor["next_cursor"])
        cursor = balanced.call("GET", "/v1/memories", params=params).json()
        found |= {memory["content"] for memory in cursor["items"]}
    assert set(texts) - found == set()


AROUND = ("{} was on the card", "she wrote {} twice: {}", "他说{}", "{}\n{}", "«{}», – {}…", "({})")


def scripts() -> list[str]:
    """Return texts that people write in which what is invisible means something."""
    lines = (Path(__file__).parent / "scripts.txt").read_text(encoding="utf-8").splitlines()
    words = [line for line in lines if not line.startswith("# ")]
    pairs = [f"{one} {other}" for one in words[:14] for other in words[14:28]]
    return [around.format(word, word) for around in AROUND for word in words] + pairs
