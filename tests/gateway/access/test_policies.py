"""A tenant's own policy on a real gateway: put, read, decided by, explained; and bad ones."""

import pytest

from tests.house import House, open_house

pytestmark = pytest.mark.requirement("C12")

PATH = "/v1/admin/policies/access"
EXPLAIN = f"{PATH}/explain"
HEADER = "X-Access-Version"


def rule(subject, effect="deny", verb="recall", place="tenant", obj="memory:item"):
    return {"subject": subject, "in": place, "object": obj, "verb": verb, "effect": effect}


def case(roles, place="tenant", *, key=None, user_id=None, **expect):
    subject = {"roles": roles}
    if key is not None:
        subject["key"] = key
    if user_id is not None:
        subject["user_id"] = user_id
    said = {name.replace("_", ":"): decision for name, decision in expect.items()}
    return {"case": "It is decided so", "subject": subject, "in": place, "expect": said}


NO_RECALL_IN_SIDE = {
    "rules": [rule("role:reader", place="namespace:side")],
    "people": [],
    "cases": [
        case(["reader"], "namespace:side", memory_item_recall="deny"),
        case(["reader"], "namespace:main", memory_item_recall="allow"),
    ],
}


def put(admin, document):
    return admin.call("PUT", PATH, json=document)


def recalled(agent, **more):
    reply = agent.call("POST", "/v1/recall", json={"query": "tea", "user_id": "alice", **more})
    assert reply.status_code == 200, reply.text
    return {memory["content"] for memory in reply.json()["memories"]}


def wrote(agent, content, **more):
    body = {"content": content, "user_id": "alice", "extract": "none", **more}
    reply = agent.call("POST", "/v1/memories", json=body)
    assert reply.status_code == 201, reply.text


def test_what_was_put_comes_back_and_decides_at_once(house: House):
    admin = house.tenant()
    agent = house.agent(admin)
    wrote(agent, "alice drinks green tea", namespace="main")
    wrote(agent, "alice spills black tea", namespace="side")
    both = {"alice drinks green tea", "alice spills black tea"}
    assert recalled(agent) == both
    before = admin.call("GET", PATH).json()
    assert before["policy"] == {"rules": [], "people": [], "cases": []}

    reply = put(admin, NO_RECALL_IN_SIDE)
    assert reply.status_code == 200, reply.text
    assert reply.headers[HEADER]
    version = reply.json()["version"]
    assert version != before["version"]
    assert admin.call("GET", PATH).json() == {"version": version, "policy": NO_RECALL_IN_SIDE}
    assert recalled(agent) == {"alice drinks green tea"}
    assert recalled(agent, namespaces=["main"]) == {"alice drinks green tea"}
    named = agent.call(
        "POST",
        "/v1/recall",
        json={"query": "tea", "user_id": "alice", "namespaces": ["main", "side"]},
    )
    assert named.status_code == 403

    denied = next(event for event in admin_events(house, admin) if event["decision"] == "deny")
    assert (denied["rule"], denied["policy_version"]) == ("rules[0]", version)

    assert put(admin, {"rules": []}).json()["version"] == before["version"]
    assert recalled(agent) == both


def admin_events(house: House, admin):
    auditor = house.agent(admin, roles=["auditor"])
    return auditor.call("GET", "/v1/audit/events").json()["items"]


@pytest.mark.requirement("C2")
def test_a_policy_that_fails_its_own_cases_leaves_the_one_before(house: House):
    admin = house.tenant()
    agent = house.agent(admin)
    version = put(admin, NO_RECALL_IN_SIDE).json()["version"]
    wrong = {
        "rules": [rule("role:reader", verb="list")],
        "cases": [
            case(["reader"], memory_item_list="deny", memory_item_recall="deny"),
        ],
    }
    reply = put(admin, wrong)
    assert reply.status_code == 422
    assert [fault["field"] for fault in reply.json()["errors"]] == [
        "cases[0].expect.memory:item:recall"
    ]
    assert HEADER not in reply.headers
    assert admin.call("GET", PATH).json()["version"] == version
    assert agent.call("GET", "/v1/memories?user_id=alice").status_code == 200


def test_a_policy_does_not_echo_what_was_wrong_with_it(house: House):
    reply = put(house.tenant(), {"rules": [rule("role:sesame")], "cases": []})
    assert reply.status_code == 422
    assert "sesame" not in reply.text


@pytest.mark.requirement("C13")
def test_a_refused_policy_is_in_the_log(house: House):
    admin = house.tenant()
    assert put(admin, {"rules": [rule("role:nobody")]}).status_code == 422
    event = next(one for one in admin_events(house, admin) if one["action"] == "admin:policy:write")
    assert (event["outcome"], event["decision"]) == ("invalid", "allow")


@pytest.mark.parametrize("roles", [["reader", "writer", "curator"], ["auditor"], ["privacy"]])
def test_only_administrators_touch_policies(house: House, roles):
    agent = house.agent(house.tenant(), roles=roles)
    assert put(agent, {"rules": []}).status_code == 403
    assert agent.call("GET", PATH).status_code == 403
    question = {"action": "memory:item:read", "roles": ["reader"]}
    assert agent.call("POST", EXPLAIN, json=question).status_code == 403


def test_policies_of_tenants_know_nothing_of_each_other(house: House):
    one, other = house.tenant(), house.tenant()
    assert put(one, NO_RECALL_IN_SIDE).status_code == 200
    assert admin_policy(other)["rules"] == []
    agent = house.agent(other)
    wrote(agent, "alice spills black tea", namespace="side")
    assert recalled(agent) == {"alice spills black tea"}


def admin_policy(admin):
    return admin.call("GET", PATH).json()["policy"]


def test_nobody_shuts_themselves_out(house: House):
    admin = house.tenant()
    key = admin.call("GET", "/v1/admin/keys").json()["items"][0]["id"]
    document = {
        "rules": [rule(f"key:{key}", verb="write", obj="admin:policy")],
        "cases": [case(["admin"], key=key, admin_policy_write="deny")],
    }
    reply = put(admin, document)
    assert reply.status_code == 422
    assert reply.json()["errors"][0]["field"] == "rules"
    assert put(admin, {"rules": []}).status_code == 200


def test_lowering_a_person_lowers_every_key_of_theirs_at_once(house: House):
    admin = house.tenant()
    own = house.agent(admin, owner="bob")
    agent = house.agent(admin)
    for who in (own, agent):
        wrote(who, "alice drinks tea")
        wrote(who, "bob drinks tea", user_id="bob")
    lowered = {
        "rules": [],
        "people": [{"user_id": "bob", "roles": ["reader"], "namespaces": ["main"]}],
        "cases": [case(["writer"], user_id="bob", memory_item_write="deny")],
    }
    assert put(admin, lowered).status_code == 200
    for who, about, status in (
        (own, "alice", 403),
        (own, "bob", 403),
        (agent, "bob", 403),
        (agent, "alice", 201),
    ):
        body = {"content": "more tea", "user_id": about}
        assert who.call("POST", "/v1/memories", json=body).status_code == status
    assert own.call("GET", "/v1/memories?user_id=bob").status_code == 200
    assert own.call("GET", "/v1/memories?user_id=bob&namespace=side").status_code == 403
    assert agent.call("GET", "/v1/memories?user_id=bob&namespace=side").status_code == 403
    assert agent.call("GET", "/v1/memories?user_id=alice&namespace=side").status_code == 200


def test_a_tool_list_shows_what_the_policy_leaves(house: House):
    admin = house.tenant()
    agent = house.agent(admin)

    def tools():
        reply = house.rpc(agent, "tools/list", {})
        return {tool["name"] for tool in reply.json()["result"]["tools"]}

    assert "memory_search" in tools()
    document = {
        "rules": [rule("role:reader")],
        "cases": [case(["reader"], memory_item_recall="deny")],
    }
    assert put(admin, document).status_code == 200
    assert "memory_search" not in tools()
    assert "memory_write" in tools()


@pytest.mark.requirement("C2")
def test_a_policy_that_was_changed_below_decides_nothing():
    with open_house() as house:
        admin, other = house.tenant(), house.tenant()
        agent, theirs = house.agent(admin), house.agent(other)
        wrote(agent, "alice drinks tea")
        assert put(admin, NO_RECALL_IN_SIDE).status_code == 200
        with house.below("policies") as below:
            row = below.execute("SELECT sealed FROM policies").fetchone()
        assert row is not None  # what was put first, to be put back under the second's name
        again = {**NO_RECALL_IN_SIDE, "cases": NO_RECALL_IN_SIDE["cases"][:1]}
        assert put(admin, again).status_code == 200
        with house.below("policies") as below:
            below.execute("UPDATE policies SET sealed = %s", row)
        ask = {"query": "tea", "user_id": "alice"}
        reply = agent.call("POST", "/v1/recall", json=ask)
        assert reply.status_code == 503
        assert put(admin, {"rules": []}).status_code == 503  # not even its administrator
        assert theirs.call("POST", "/v1/recall", json=ask).status_code == 200
        with house.below("policies") as below:
            below.execute("DELETE FROM policies")
        assert agent.call("POST", "/v1/recall", json=ask).status_code == 503


@pytest.mark.requirement("C4")
def test_a_version_token_of_another_tenant_is_none(house: House):
    admin, other = house.tenant(), house.tenant()
    agent = house.agent(admin)
    token = put(admin, {"rules": []}).headers[HEADER]
    theirs = put(other, {"rules": []}).headers[HEADER]

    def asked(version):
        return agent.call("GET", "/v1/memories?user_id=alice", headers={HEADER: version})

    assert asked(token).status_code == 200
    for wrong in (theirs, "", "x", token[:-2], token + "AA", token + "=", "A" * 600):
        reply = asked(wrong)
        assert reply.status_code == 422, wrong
        assert reply.json()["errors"][0]["field"] == HEADER
    result = house.rpc(
        agent,
        "tools/call",
        {"name": "memory_search", "arguments": {"query": "tea", "user_id": "alice"}},
        **{HEADER: theirs},
    ).json()["result"]
    assert result["isError"]


def test_an_explanation_names_each_rule_by_the_words_of_the_question(house: House):
    admin = house.tenant()
    version = put(admin, NO_RECALL_IN_SIDE).json()["version"]
    question = {"action": "memory:item:recall", "roles": ["reader"], "namespace": "side"}
    reply = admin.call("POST", EXPLAIN, json=question)
    assert reply.json() == {
        "allowed": False,
        "rule": "rules[0]",
        "policy_version": version,
        "checked": [
            {
                "subject": "role:reader",
                "in": "tenant",
                "rule": "p:role:reader,memory:item,recall",
                "effect": "allow",
            },
            {
                "subject": "role:reader",
                "in": "namespace:side",
                "rule": "rules[0]",
                "effect": "deny",
            },
        ],
    }
    event = next(
        one for one in admin_events(house, admin) if one["action"] == "admin:policy:explain"
    )
    assert (event["decision"], event["policy_version"]) == ("allow", version)


def test_a_key_is_explained_with_its_own_roles_people_and_namespaces(house: House):
    admin = house.tenant()
    agent = house.agent(admin, roles=["reader"], users=["alice"], namespaces=["main"])
    key = next(
        one["id"]
        for one in admin.call("GET", "/v1/admin/keys").json()["items"]
        if one["roles"] == ["reader"]
    )
    assert agent.call("GET", "/v1/memories").status_code == 200

    def rule_of(action, **more):
        asked = {"action": action, "key_id": key, **more}
        reply = admin.call("POST", EXPLAIN, json=asked).json()
        return reply["allowed"], reply["rule"]

    assert rule_of("memory:item:list") == (True, "p:role:reader,memory:item,list")
    assert rule_of("memory:item:write") == (False, "default-deny")
    assert rule_of("memory:item:list", user_id="bob") == (False, "person-outside-credential")
    assert rule_of("memory:item:list", namespace="side") == (
        False,
        "namespace-outside-credential",
    )
    assert rule_of("memory:item:list", space="team") == (False, "not-a-member")


@pytest.mark.parametrize(
    ("question", "field"),
    [
        ({"action": "memory:item:dream", "roles": []}, "action"),
        ({"action": "memory:item:read"}, "roles"),
        ({"action": "memory:item:read", "roles": [], "key_id": "a" * 16}, "roles"),
        ({"action": "memory:item:read", "roles": [], "user_id": "*"}, "user_id"),
        ({"action": "memory:item:read", "roles": [], "namespace": "a", "space": "b"}, "space"),
    ],
)
def test_what_is_no_question_is_refused(house: House, question, field):
    reply = house.tenant().call("POST", EXPLAIN, json=question)
    assert reply.status_code == 422
    assert field in {fault["field"] for fault in reply.json()["errors"]}


@pytest.mark.requirement("D4")
def test_a_person_may_be_called_by_an_address_and_a_namespace_may_not(house: House):
    admin = house.tenant()
    people = [{"user_id": "rosa@example.com", "roles": ["reader"], "namespaces": ["main"]}]
    cases = [case(["writer"], user_id="rosa@example.com", memory_item_write="deny")]
    taken = {"rules": [], "people": people, "cases": cases}
    assert put(admin, taken).status_code == 200
    named = [people[0] | {"namespaces": ["rosa@example.com"]}]
    reply = put(admin, taken | {"people": named})
    assert (reply.status_code, reply.json()["code"]) == (422, "content_rejected")
    assert "rosa" not in reply.text
    assert admin_policy(admin) == taken
