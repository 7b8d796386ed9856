"""API keys over their whole life, on a real record and by several gateways at once."""

from typing import Any

import pytest

from core.errors import Unauthenticated, Unavailable
from core.ids import KeyId
from gateway.auth.authenticator import Authenticator
from gateway.auth.keys import KeySmith
from gateway.auth.peppers import LivePeppers
from gateway.auth.presented import Presented
from gateway.auth.upkeep import Upkeep
from tests.house import House
from tests.live.gateways import Agent

pytestmark = pytest.mark.requirement("B12")


@pytest.fixture
def admin(house: House) -> Agent:
    return house.tenant()


def make(admin: Agent, **spec: Any) -> dict[str, Any]:
    body = {"name": "a", "roles": ["reader"], "namespaces": ["*"], "users": ["*"]} | spec
    reply = admin.call("POST", "/v1/admin/keys", json=body)
    assert reply.status_code == 201, reply.text
    made: dict[str, Any] = reply.json()
    return made


def listed(admin: Agent, key: str) -> dict[str, Any]:
    items = admin.call("GET", "/v1/admin/keys").json()["items"]
    found: dict[str, Any] = next(each for each in items if each["id"] == key)
    return found


class Process:
    """What another gateway process on the same stores has of its own."""

    def __init__(self, house: House) -> None:
        self.gate = house.gateway.gate
        self._house = house
        self.peppers = house.run(LivePeppers.open(self.gate.keyring))  # type: ignore[arg-type]  # the real one
        self.smith = KeySmith(self.peppers)
        self.care = Upkeep(self.gate.directory, self.gate.store.now, self.peppers)
        self.door = Authenticator(
            self.gate.directory, self.smith, self.gate.keyring, proofs=self.care
        )

    def lets_in(self, key: str, peer: str = "127.0.0.1") -> bool:
        try:
            self._house.run(self.door.authenticate(Presented(token=key, peer=peer), "http"))
        except Unauthenticated:
            return False
        return True

    def flush(self) -> None:
        self._house.run(self.care.flush())


def test_a_key_is_shown_as_it_was_made_but_for_its_secret(admin: Agent):
    made = make(admin, owner="alice", addresses=["127.0.0.1", "2001:db8::/32"])
    secret = made.pop("key")
    assert listed(admin, made["id"]) == made
    assert (made["owner"], made["addresses"]) == ("alice", ["127.0.0.1", "2001:db8::/32"])
    assert (made["last_used_at"], made["revoked_at"], made["expires_at"]) == (None, None, None)
    assert secret not in admin.call("GET", "/v1/admin/keys").text


def test_a_bound_key_is_judged_by_the_connection_and_not_by_what_the_caller_wrote(
    house: House, admin: Agent
):
    here = Agent(house.http, make(admin, addresses=["127.0.0.0/8"])["key"], admin.tenant, "alice")
    elsewhere = Agent(
        house.http, make(admin, addresses=["192.0.2.0/24"])["key"], admin.tenant, "alice"
    )
    assert here.recall("tea") == []
    headers = {
        "X-Forwarded-For": "192.0.2.7",
        "Forwarded": "for=192.0.2.7",
        "X-Real-IP": "192.0.2.7",
    }
    refused = elsewhere.call(
        "POST", "/v1/recall", json=elsewhere.about(query="tea"), headers=headers
    )
    unknown = Agent(house.http, "mw_" + "a" * 16 + "_" + "0" * 43, "", "alice").call(
        "POST", "/v1/recall", json=elsewhere.about(query="tea"), headers=headers
    )
    assert refused.status_code == unknown.status_code == 401
    ours, theirs = refused.json(), unknown.json()
    assert ours.pop("request_id") != theirs.pop("request_id")
    assert ours == theirs
    assert house.rpc(elsewhere, "tools/list", {}).status_code == 401
    assert house.rpc(here, "tools/list", {}).status_code == 200


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"addresses": []}, "addresses"),
        ({"addresses": ["10.0.0.1/8"]}, "addresses[0]"),
        ({"addresses": ["10.0.0.0/8", "example.org"]}, "addresses[1]"),
        ({"addresses": ["2001:0db8::/32"]}, "addresses[0]"),
        ({"addresses": "10.0.0.0/8"}, "addresses"),
        ({"addresses": ["10.0.0.0/8"] * 65}, "addresses"),
        ({"owner": ""}, "owner"),
        ({"owner": "*"}, "owner"),
        ({"owner": " alice"}, "owner"),
        ({"owner": ["alice"]}, "owner"),
    ],
)
def test_owners_and_networks_that_could_mean_anything_are_refused(admin: Agent, spec, field):
    body = {"name": "a", "roles": ["reader"], "namespaces": ["*"], "users": ["*"]} | spec
    reply = admin.call("POST", "/v1/admin/keys", json=body)
    assert reply.status_code == 422, reply.text
    assert [each["field"] for each in reply.json()["errors"]] == [field]
    assert "10.0.0" not in reply.text
    assert "example" not in reply.text


def test_a_revoked_key_is_refused_at_once_by_every_gateway(house: House, admin: Agent):
    made = make(admin)
    others = [Process(house), Process(house)]
    assert all(each.lets_in(made["key"]) for each in others)
    reply = admin.call("DELETE", f"/v1/admin/keys/{made['id']}")
    assert reply.status_code == 204
    assert reply.headers["x-access-version"]
    assert not any(each.lets_in(made["key"]) for each in others)
    assert listed(admin, made["id"])["revoked_at"] is not None
    reader = Agent(house.http, made["key"], admin.tenant, "alice")
    assert reader.call("GET", "/v1/memories", params=reader.about()).status_code == 401


def test_a_rotated_key_works_under_both_secrets_until_the_overlap_ends(house: House, admin: Agent):
    made = make(admin)
    other = Process(house)

    def rotate(overlap: int) -> str:
        reply = admin.call(
            "POST", f"/v1/admin/keys/{made['id']}/rotate", json={"overlap_seconds": overlap}
        )
        assert reply.headers["x-access-version"]
        key: str = reply.json()["key"]
        return key

    second = rotate(600)
    assert [other.lets_in(key) for key in (made["key"], second)] == [True, True]
    third = rotate(0)
    assert [other.lets_in(key) for key in (made["key"], second, third)] == [False, False, True]


def test_uses_are_written_afterwards_and_shown_to_the_minute(house: House, admin: Agent):
    made = make(admin)
    other = Process(house)
    assert other.lets_in(made["key"])
    assert listed(admin, made["id"])["last_used_at"] is None
    other.flush()
    used = listed(admin, made["id"])["last_used_at"]
    assert used.endswith(":00.000000Z")
    assert used[:13] >= made["created_at"][:13]
    wrong = f"mw_{made['id']}_{'0' * 43}"
    unused = make(admin)
    assert not other.lets_in(wrong)
    other.flush()
    assert listed(admin, unused["id"])["last_used_at"] is None


def test_the_pepper_rotates_while_keys_are_in_use(house: House, admin: Agent):
    before = make(admin)
    overlapping = make(admin)
    reply = admin.call(
        "POST", f"/v1/admin/keys/{overlapping['id']}/rotate", json={"overlap_seconds": 600}
    )
    behind, ahead = Process(house), Process(house)
    version = house.run(ahead.gate.keyring.rotate_pepper())  # type: ignore[attr-defined]  # the real one
    house.run(ahead.peppers.refresh())

    def pepper_of(made: dict[str, Any]) -> int:
        row = house.run(ahead.gate.directory.find_key(KeyId(made["id"])))
        assert row is not None
        return row.pepper_version

    old = pepper_of(before)
    assert old < version
    for key in (before["key"], overlapping["key"], reply.json()["key"]):
        assert ahead.lets_in(key)
    assert pepper_of(before) == old
    ahead.flush()
    assert pepper_of(before) == version
    assert pepper_of(overlapping) == old  # its former secret is known under that one alone
    with pytest.raises(Unavailable):
        behind.peppers.pepper(version)
    for process in (ahead, behind):  # the one that has not heard of it learns of it
        for key in (before["key"], overlapping["key"], reply.json()["key"]):
            assert process.lets_in(key)
        assert not process.lets_in(f"mw_{before['id']}_{'0' * 43}")
    reader = Agent(house.http, before["key"], admin.tenant, "alice")
    assert reader.recall("tea") == []
