"""The access policy: its own cases, and every way in which a policy is refused."""

import logging

import pytest
import yaml

from core.errors import Invalid
from core.scope import Action, Role
from gateway.access.loader import check, load
from gateway.access.policy import Asker, Policy
from gateway.access.rules import DEFAULT_DENY, RuleLine, Rules
from gateway.resources import data_path
from tests.gateway.access.reference import MAY

FOLDER = data_path("policies", "access")
MODEL = (FOLDER / "model.conf").read_text("utf-8")
POLICY = (FOLDER / "policy.csv").read_text("utf-8")
CASES = {path.name: path.read_text("utf-8") for path in FOLDER.glob("cases/*.yaml")}
READER = "p, role:reader, tenant, memory:item, read, allow"
ANYBODY = frozenset({Role.READER, Role.WRITER})


def judge(rules: Rules, roles, action: Action):
    return Policy(rules).judge(Asker(roles=frozenset(roles)), action)


def refused(model=MODEL, policy=POLICY, cases=CASES) -> set[str]:
    """Return where the policy was found at fault."""
    with pytest.raises(Invalid) as caught:
        check(model, policy, cases)
    return {fault.field for fault in caught.value.faults}


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("role", Role)
def test_each_role_may_what_the_contract_says_and_nothing_else(role):
    rules = load(FOLDER)
    allowed = {one.value for one in Action if judge(rules, {role}, one).allowed}
    assert allowed == MAY[role]


def test_the_version_is_the_contents_and_nothing_else():
    rules = load(FOLDER)
    assert rules.version == load(FOLDER).version == check(MODEL, POLICY, CASES).version
    assert check(MODEL, POLICY + "\n# a word\n", CASES).version != rules.version
    assert len(rules.version) == 12


def test_every_case_has_a_name_that_tells():
    names = [yaml.safe_load(text)["case"] for text in CASES.values()]
    assert len(names) == len(set(names)) >= len(Role) + 1
    assert all(len(name.split()) > 3 for name in names)


@pytest.mark.requirement("C3")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("r.sub == p.sub", "regexMatch(r.sub, p.sub)"),
        ("r.obj == p.obj", "keyMatch(r.obj, p.obj)"),
        ("r.obj == p.obj", "keyMatch2(r.obj, p.obj)"),
        ("r.act == p.act", "globMatch(r.act, p.act)"),
        ("r.act == p.act", "eval(p.act)"),
        ("r.act == p.act", "(r.act == p.act || true)"),
        ("&& r.act == p.act", ""),
        (
            "m = r.sub == p.sub && r.dom == p.dom && r.obj == p.obj && r.act == p.act",
            "m = true",
        ),
        (" && !some(where (p.eft == deny))", ""),
        ("e = some(where (p.eft == allow)) && ", "e = "),
        ("r.dom == p.dom", "keyMatch(r.dom, p.dom)"),
        ("r.dom == p.dom && ", ""),
        ("r = sub, dom, obj, act", "r = sub, dom, obj, act, extra"),
        ("p = sub, dom, obj, act, eft", "p = sub, dom, obj, act"),
        ("[matchers]", "[role_definition]\ng = _, _\n\n[matchers]"),
        ("[matchers]", "[matchers]\nm2 = true"),
        ("[matchers]", "[matcher]"),
        ("[matchers]", "matchers"),
        ("[matchers]", "[matchers]\nm = true"),
    ],
)
def test_no_other_model_is_accepted(old, new):
    assert old in MODEL
    assert refused(model=MODEL.replace(old, new)) == {"model.conf"}


def test_the_model_has_no_function_and_compares_bytes():
    matcher = MODEL.rpartition("m = ")[2]
    assert "(" not in matcher
    assert "Match" not in MODEL
    assert "eval" not in MODEL


@pytest.mark.requirement("C3")
@pytest.mark.parametrize(
    "line",
    [
        "p, role:*, tenant, memory:item, read, allow",
        "p, *, tenant, memory:item, read, allow",
        "p, role:reader, *, memory:item, read, allow",
        "p, role:reader, TENANT, memory:item, read, allow",
        "p, role:reader, namespace:support, memory:item, read, allow",
        "p, role:reader, space:team, memory:item, read, allow",
        "p, role:reader, , memory:item, read, allow",
        "p, role:reader, memory:item, read, allow",
        "p, role:reader, tenant, *, read, allow",
        "p, role:reader, tenant, memory:*, read, allow",
        "p, role:reader, tenant, memory:item, *, allow",
        "p, role:reader, tenant, memory:item, .*, allow",
        "p, role:reader-evil, tenant, memory:item, read, allow",
        "p, role:Reader, tenant, memory:item, read, allow",
        "p, ROLE:reader, tenant, memory:item, read, allow",
        "p, role:reader , tenant, memory:item, read, allow",
        "p, role:ｒeader, tenant, memory:item, read, allow",
        "p, role:reader\t, tenant, memory:item, read, allow",
        "p, role:reader\x00, tenant, memory:item, read, allow",
        "p, role:reader\r, tenant, memory:item, read, allow",
        "p, reader, tenant, memory:item, read, allow",
        "p, user:alice, tenant, memory:item, read, allow",
        "p, , tenant, memory:item, read, allow",
        "p, role:reader, tenant, , read, allow",
        "p, role:reader, tenant, memory:item, , allow",
        "p, role:reader, tenant, memory:item, read, ",
        "p, role:reader, tenant, memory:item, read, ALLOW",
        "p, role:reader, tenant, memory:item, read, maybe",
        "p, role:reader, tenant, memory:item, read",
        "p, role:reader, tenant, memory:item, read, allow, more",
        "p, role:reader, tenant, memory:item, create, allow",
        "p, role:reader, tenant, memory:items, read, allow",
        "p2, role:reader, tenant, memory:item, read, allow",
        "g, alice, role:reader",
        "P, role:reader, memory:item, read, allow",
        'p, "role:reader, memory:item, read, allow',
        'p, "role:reader"x, memory:item, read, allow',
        ",,,,",
        "anything",
        "\ufeffp, role:reader, tenant, memory:item, read, allow",
    ],
    ids=ascii,
)
def test_a_line_that_is_not_exactly_a_rule_refuses_the_policy(line):
    place = f"policy.csv:{POLICY.count(chr(10)) + 1}"
    assert refused(policy=POLICY + line) == {place}


def test_a_fault_does_not_echo_what_was_written():
    with pytest.raises(Invalid) as caught:
        check(MODEL, POLICY + "p, role:sesame, tenant, memory:item, read, allow", CASES)
    assert "sesame" not in f"{caught.value} {caught.value.faults}"


@pytest.mark.parametrize("effect", ["allow", "deny"])
def test_a_rule_said_twice_refuses_the_policy(effect):
    assert refused(policy=f"{POLICY}{READER.replace('allow', effect)}")


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("policy", ["", "\n\n", "# nothing\n", "   \n\t\n"])
def test_an_empty_policy_is_refused(policy):
    assert refused(policy=policy) == {"policy.csv"}


def test_a_policy_without_end_is_refused():
    assert refused(policy="#" * (2 << 20)) == {"policy.csv"}


def test_a_policy_that_allows_more_than_its_cases_say_is_refused():
    faults = refused(policy=POLICY + "p, role:admin, tenant, memory:item, read, allow")
    assert "cases/admin.yaml:memory:item:read" in faults


def test_a_policy_that_allows_less_than_its_cases_say_is_refused():
    faults = refused(policy=POLICY.replace(READER, ""))
    assert "cases/reader.yaml:memory:item:read" in faults


@pytest.mark.parametrize("name", [f"{role.value}.yaml" for role in Role] + ["nobody.yaml"])
def test_no_role_goes_without_a_case(name):
    assert refused(cases={n: t for n, t in CASES.items() if n != name}) == {"cases"}
    assert "cases" in refused(cases={})


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("  memory:item:write: deny\n", ""),
        lambda text: text + "  memory:item:dream: deny\n",
        lambda text: text.replace("roles: [reader]", "roles: [king]"),
        lambda text: text.replace("roles: [reader]", "roles: 7"),
        lambda text: text.replace("case:", "title:"),
        lambda text: text + "more: 1\n",
        lambda text: text.replace("expect:", "expect: no"),
        lambda _: "",
        lambda _: "[",
        lambda _: "- a\n- b\n",
        lambda _: "!!python/object/apply:os.system ['true']",
    ],
)
def test_a_case_that_is_not_whole_refuses_the_policy(edit):
    cases = CASES | {"reader.yaml": edit(CASES["reader.yaml"])}
    assert "cases/reader.yaml" in refused(cases=cases)


def test_a_case_that_expects_nonsense_is_not_met():
    cases = CASES | {"reader.yaml": CASES["reader.yaml"].replace("read: allow", "read: yes")}
    assert "cases/reader.yaml:memory:item:read" in refused(cases=cases)


def test_a_deny_beats_the_allow_of_another_role():
    rules = Rules(
        _model(),
        (
            line("writer", "deny"),
            line("reader", "allow"),
        ),
        version="v",
    )
    assert judge(rules, {Role.READER}, Action.MEMORY_READ).allowed
    ruling = judge(rules, ANYBODY, Action.MEMORY_READ)
    assert (ruling.allowed, ruling.rule) == (False, "p:role:writer,memory:item,read")


def line(role: str, effect: str) -> RuleLine:
    return RuleLine(f"role:{role}", "tenant", "memory:item", "read", effect)


def _model() -> str:
    return "\n".join(text for text in MODEL.split("\n") if not text.startswith("#"))


@pytest.mark.requirement("C2")
def test_casbin_without_rules_allows_an_empty_request_and_we_do_not():
    rules = Rules(_model(), (), version="v")
    assert rules._casbin.enforce("", "", "", "")  # the trap is there
    assert rules._ask("", "", "", "") is DEFAULT_DENY
    assert not any(judge(rules, Role, action).allowed for action in Action)


@pytest.mark.requirement("C3")
def test_casbin_switched_off_allows_everything_and_we_nothing():
    rules = Rules(_model(), (line("reader", "allow"),), version="v")
    rules._casbin.enable_enforce(False)
    assert rules._casbin.enforce("x", "t", "y", "z")  # the trap is there
    assert not any(judge(rules, Role, action).allowed for action in Action)


@pytest.mark.requirement("C2")
def test_a_matcher_that_fails_denies():
    broken = _model().replace("r.act == p.act", "r.act.nothing == p.act")
    rules = Rules(broken, (line("reader", "allow"),), version="v")
    ruling = judge(rules, {Role.READER}, Action.MEMORY_READ)
    assert (ruling.allowed, ruling.rule) == (False, "matcher-error")


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    "asked",
    [
        ("role:reader", "tenant", "memory:item", "read\n"),
        ("role:reader", "tenant", "memory:item", "READ"),
        ("role:reader", "Tenant", "memory:item", "read"),
        ("role:reader", "tenant\n", "memory:item", "read"),
        ("role:reader", "", "memory:item", "read"),
        ("role:reader", "*", "memory:item", "read"),
        ("role:reader", "namespace:support", "memory:item", "read"),
        ("role:reader", "tenant", "memory:item", ""),
        ("role:reader", "tenant", "memory:item", "*"),
        ("role:reader", "tenant", "memory:item/", "read"),
        ("role:reader", "tenant", "memory:item-evil", "read"),
        ("role:reader-evil", "tenant", "memory:item", "read"),
        ("role:reade", "tenant", "memory:item", "read"),
        ("reader", "tenant", "memory:item", "read"),
        ("", "tenant", "memory:item", "read"),
        ("role:ｒeader", "tenant", "memory:item", "read"),
        ("role:reader", "tenant", "memory:item", "read' || 'a' == 'a"),
    ],
    ids=ascii,
)
def test_what_is_almost_a_rule_is_none(asked):
    rules = load(FOLDER)
    assert rules._ask("role:reader", "tenant", "memory:item", "read").allowed
    assert not rules._ask(*asked).allowed


@pytest.mark.requirement("B14")
def test_casbin_logs_nothing(caplog):
    rules = load(FOLDER)
    with caplog.at_level(logging.DEBUG):
        judge(rules, (), Action.MEMORY_READ)
        judge(rules, {Role.ADMIN}, Action.MEMORY_READ)
    assert not caplog.records


def test_casbin_is_asked_once_a_rule(monkeypatch):
    rules = Rules(_model(), (line("reader", "allow"), line("writer", "allow")), version="v")
    first = judge(rules, {Role.READER}, Action.MEMORY_READ)
    assert first.allowed
    monkeypatch.setattr(rules, "_casbin", None)
    assert judge(rules, {Role.READER}, Action.MEMORY_READ) is first
    assert judge(rules, {Role.WRITER}, Action.MEMORY_READ).rule == "matcher-error"
