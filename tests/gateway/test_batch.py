"""A batch answers within a request's time, however much there is to embed and to digest."""

import json
import secrets
from unittest import mock

import gateway.write
from gateway.vault.secret import Secret
from tests.house import House
from tests.word_embedder import WordEmbedder


def items(number: int, size: int = 40) -> list[dict[str, str]]:
    made = [f"thing {n} of {secrets.token_hex(4)} ".ljust(size, "x") for n in range(number)]
    return [{"content": text, "user_id": "alice"} for text in made]


def test_what_a_batch_has_no_time_to_embed_is_kept_recalled_and_embedded_later(
    house: House,
) -> None:
    agent = house.someone()
    batch = items(4)
    lease = mock.patch.object(
        type(house.gateway.indexer._outbox), "lease", mock.AsyncMock(return_value=[])
    )
    embedding = mock.AsyncMock(side_effect=AssertionError("no time for this"))
    with (
        lease,
        mock.patch.object(gateway.write, "BATCH_EMBED_SECONDS", 0.0),
        mock.patch.object(WordEmbedder, "passages", embedding),
    ):
        reply = agent.call("POST", "/v1/memories/batch", json={"items": batch})
        assert reply.status_code == 200, reply.text
        statuses = [each["outcomes"][0]["status"] for each in reply.json()["results"]]
        assert statuses == ["stored"] * 4
        assert batch[0]["content"] in {one["content"] for one in agent.recall("thing 0")}
    assert not embedding.called
    house.loop.call_soon_threadsafe(house.gateway.indexer.wake)
    house.indexed()
    assert {item["content"] for item in batch} <= set(house.embedder.seen)


def test_a_keyed_batch_digests_its_body_once(house: House) -> None:
    agent = house.someone()
    body = {"items": items(8, size=4000)}
    size = len(json.dumps(body))
    digested = []
    keyed = Secret.mac

    def mac(self: Secret, message: bytes) -> bytes:
        digested.append(len(message))
        return keyed(self, message)

    with mock.patch.object(Secret, "mac", mac):
        reply = agent.call(
            "POST", "/v1/memories/batch", json=body, headers={"Idempotency-Key": "one"}
        )
    assert [each["outcomes"][0]["status"] for each in reply.json()["results"]] == ["stored"] * 8
    assert max(digested) < size / 2
    again = agent.call("POST", "/v1/memories/batch", json=body, headers={"Idempotency-Key": "one"})
    assert again.json() == reply.json()
    other = {"items": [*body["items"][:-1], *items(1)]}
    reply = agent.call("POST", "/v1/memories/batch", json=other, headers={"Idempotency-Key": "one"})
    assert reply.status_code == 409
