"""A version token comes in with any call, and goes out with a change that took a right away."""

import pytest

from gateway import policies

HEADER = "X-Access-Version"
POLICY = "/v1/admin/policies/access"

pytestmark = pytest.mark.requirement("C4")


@pytest.mark.parametrize(
    ("method", "path", "body", "token"),
    [
        ("DELETE", "/v1/admin/keys/k2", None, "rights-4"),
        ("POST", "/v1/admin/keys/k2/rotate", {}, "rights-3"),
        ("PUT", "/v1/admin/quotas", {}, "rights-2"),
        ("PUT", POLICY, {"rules": []}, "rights-5"),
    ],
)
async def test_a_change_that_took_a_right_away_says_when(client, method, path, body, token):
    reply = await client.request(method, path, json=body)
    assert reply.is_success
    assert reply.headers[HEADER] == token


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/admin/keys"])
async def test_what_took_nothing_away_says_nothing(client, path):
    reply = await client.get(path)
    assert reply.is_success
    assert HEADER not in reply.headers


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ([], None),
        ([(HEADER, "abc")], "abc"),
        ([(HEADER.lower(), "abc")], "abc"),
        ([(HEADER, "")], ""),
        ([(HEADER, "abc"), (HEADER, "abc")], "abc, abc"),  # two are none, and refused later on
    ],
)
async def test_the_path_is_told_which_version_came_along(client, monkeypatch, paths, headers, told):
    seen = []

    async def path(gate, call):
        seen.append(call.not_before)
        return paths.answers["policies.access_policy"]

    monkeypatch.setattr(policies, "access_policy", path)
    reply = await client.get(POLICY, headers=headers)
    assert reply.status_code == 200
    assert seen == [told]


async def test_a_policy_reaches_its_path_as_it_was_written(client, paths):
    document = {
        "rules": [
            {
                "subject": "role:reader",
                "in": "namespace:support",
                "object": "memory:item",
                "verb": "recall",
                "effect": "deny",
            }
        ],
        "cases": [
            {"case": "a", "subject": {"roles": []}, "expect": {"memory:item:recall": "deny"}}
        ],
    }
    reply = await client.put(POLICY, json=document)
    assert (reply.status_code, reply.json()) == (200, {"version": "0123456789ab"})
    assert paths.last == (document,)


@pytest.mark.parametrize("kind", ["screen", "retention", "Access", "PII", "other"])
async def test_policies_of_other_kinds_are_not_there(client, kind):
    for method in ("PUT", "GET"):
        reply = await client.request(method, f"/v1/admin/policies/{kind}")
        assert reply.status_code == 404
