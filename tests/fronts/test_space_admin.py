"""Who administers spaces: names, members, repeats, and what the audit log says."""

from typing import Any

import httpx
import pytest

from tests.fronts.teams import Team, key_of, share, unshare
from tests.house import House


@pytest.fixture
def team(house: House) -> Team:
    return Team.of(house)


def test_what_no_space_may_be_called_and_who_no_member_may_be(house: House, team: Team) -> None:
    def made(**body: Any) -> httpx.Response:
        return team.admin.call("POST", "/v1/admin/spaces", json=body)

    assert made(name="team", audience="members").status_code == 409
    for name in ("*", " x", "a/b", "a\u200bb", ""):
        assert made(name=name, audience="members").status_code == 422
    assert made(name="rosa@harbour.example").status_code == 422
    assert made(name="x", audience="everybody").status_code == 422
    for member in ("alice", "role:admin", "user:", "user:*", "USER:a", "namespace:a@b.example"):
        assert share(team.admin, "team", member, "reader").status_code == 422, member
    foreign = house.agent(house.tenant(), "eve")
    for key in (key_of(foreign), "nobody"):
        assert share(team.admin, "team", f"key:{key}", "reader").status_code == 404
    revoked = house.agent(team.admin, "eve")
    team.admin.call("DELETE", f"/v1/admin/keys/{key_of(revoked)}")
    assert share(team.admin, "team", f"key:{key_of(revoked)}", "reader").status_code == 404
    assert share(team.admin, "nowhere", "user:a", "reader").status_code == 404
    assert unshare(team.admin, "team", "user:nobody").status_code == 404
    assert team.alice.call("GET", "/v1/admin/spaces").status_code == 403
    mailed = share(team.admin, "team", "user:rosa@harbour.example", "reader")
    assert mailed.status_code == 200
    listed = team.admin.call("GET", "/v1/admin/spaces/team/members").json()["items"]
    assert [(one["member"], one["role"]) for one in listed] == [
        ("user:alice", "writer"),
        ("user:bob", "writer"),
        ("user:carol", "reader"),
        ("user:rosa@harbour.example", "reader"),
    ]
    assert share(team.admin, "team", "user:bob", "reader").status_code == 200
    assert team.bob.try_write("no more", space="team").status_code == 403


def test_making_a_space_again_under_its_key_makes_it_once(house: House) -> None:
    admin = house.tenant()
    asked = {"json": {"name": "basics"}, "headers": {"Idempotency-Key": "one"}}
    first, second = (admin.call("POST", "/v1/admin/spaces", **asked) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    other = asked | {"json": {"name": "others"}}
    assert admin.call("POST", "/v1/admin/spaces", **other).status_code == 409
    (listed,) = admin.call("GET", "/v1/admin/spaces").json()["items"]
    assert listed == first.json()


def test_spaces_and_their_members_are_audited_by_the_spaces_id(house: House, team: Team) -> None:
    unshare(team.admin, "team", "user:bob")
    reader = house.agent(team.admin, "alice")
    events = {one["action"] for one in reader.events() if one["object"] == team.space}
    assert events == {"admin:space:create", "admin:space:share", "admin:space:unshare"}
