"""The guard's policies, shipped or a tenant's own: what they may say, and their own cases."""

import itertools
import json
from typing import Any

import pytest

from core.model import Sensitivity
from gateway.guard.cases import (
    MAX_CASES,
    MAX_CHARACTERS,
    MAX_SECONDS,
    CaseEntry,
    failing,
    load_cases,
)
from gateway.guard.overlay import (
    MAX_OWN_SECRETS,
    PII,
    PROFILES,
    SECRETS,
    Shipped,
    parse,
    try_cases,
    version_of,
)
from gateway.guard.pii import load_detector
from gateway.guard.policy import Action, TextContext, parse_pii_policy
from gateway.guard.policy_file import PolicyInvalid
from gateway.guard.scan import ScanTimeout
from gateway.guard.shipped import load_shipped
from gateway.resources import data_path
from tests.architecture.source import ROOT

MAIL = "rosa@harbour.example"
ALLOWED = {"case": "mail stays", "text": f"to {MAIL}", "kept": f"to {MAIL}"}
BADGE: dict[str, Any] = {
    "id": "badge",
    "kind": "SECRET.TOKEN",
    "pattern": "badge-[0-9]{6,8}",
    "keywords": ["badge-"],
}
SEEN = {"case": "a badge", "text": "use badge-483920", "rejected": "SECRET.TOKEN"}


@pytest.fixture(scope="module")
def shipped():
    return load_shipped(load_detector())


@pytest.fixture
def put(shipped):
    def compiled(kind, **document):
        own = parse(kind, document, shipped, shipped.guard)
        try_cases(kind, own)
        return own

    return compiled


def refused(put, kind, **document):
    with pytest.raises(PolicyInvalid) as refusal:
        put(kind, **document)
    return {(fault.field, fault.message) for fault in refusal.value.faults}


@pytest.mark.requirement("C12")
@pytest.mark.parametrize("profile", PROFILES)
def test_a_shipped_profile_does_what_its_cases_say(shipped, profile):
    cases = load_cases(data_path("policies", "pii", "cases", f"{profile}.yaml"))
    assert len(cases) >= 5
    guard = shipped.guard.under(policy=shipped.profiles[profile])
    assert failing(guard, cases) == ()
    others = parse_pii_policy('{version: "t", defaults: {action: reject}, kinds: {}}')
    assert len(failing(shipped.guard.under(policy=others), cases)) >= 2


@pytest.mark.requirement("C12")
def test_the_shipped_rules_for_secrets_do_what_their_cases_say(shipped):
    cases = load_cases(data_path("policies", "cases", "secrets.yaml"))
    assert failing(shipped.guard, cases) == ()
    assert {case.rejected for case in cases} >= {"SECRET.CLOUD_KEY", "SECRET.PASSWORD", None}


def test_a_document_that_says_nothing_leaves_what_was_shipped(put, shipped):
    for kind in (PII, SECRETS):
        own = put(kind)
        assert own.empty
        assert own.guard.policy.of("CREDIT_CARD") == shipped.guard.policy.of("CREDIT_CARD")


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_by_itself_needs_no_case(put, shipped, profile):
    own = put(PII, profile=profile)
    assert not own.empty
    assert own.guard.policy.kinds == shipped.profiles[profile].kinds


def test_a_profile_stands_under_what_the_tenant_says_of_kinds(put, shipped):
    own = put(PII, profile="strict", kinds={"EMAIL_ADDRESS": {"action": "allow"}}, cases=[ALLOWED])
    policy = own.guard.policy
    assert policy.of("EMAIL_ADDRESS").action is Action.ALLOW
    assert policy.of("PERSON").action is Action.REDACT
    assert policy.version == version_of(
        {"profile": "strict", "kinds": {"EMAIL_ADDRESS": {"action": "allow"}}, "cases": [ALLOWED]}
    )
    assert shipped.guard.policy.of("EMAIL_ADDRESS").action is Action.REDACT


def test_its_rules_come_before_what_it_says_of_kinds_and_that_before_the_profile(shipped):
    profile = parse_pii_policy(
        '{version: "t", defaults: {action: redact}, kinds: {},'
        " rules: [{action: reject, namespaces: [hr]}]}"
    )
    over = Shipped(guard=shipped.guard.under(policy=profile), profiles=shipped.profiles)
    document = {
        "kinds": {"EMAIL_ADDRESS": {"action": "observe"}},
        "rules": [{"action": "allow", "namespaces": ["hr"], "sources": ["operator"]}],
    }
    policy = parse(PII, document, over, over.guard).guard.policy
    hr = TextContext(namespaces=frozenset({"hr"}))
    assert policy.of("EMAIL_ADDRESS", hr).action is Action.OBSERVE
    assert policy.of("PHONE_NUMBER", hr).action is Action.REJECT
    assert policy.of("PHONE_NUMBER").action is Action.REDACT


@pytest.mark.requirement("D7")
def test_a_tenant_lowers_the_class_of_no_kind(put):
    card = "4111 1111 1111 1111"
    own = put(
        PII,
        kinds={"CREDIT_CARD": {"action": "allow", "sensitivity": "none"}},
        cases=[{"case": "stays", "text": card, "kept": card, "sensitivity": "sensitive"}],
    )
    assert own.guard.policy.of("CREDIT_CARD").sensitivity is Sensitivity.SENSITIVE
    found = refused(
        put,
        PII,
        kinds={"CREDIT_CARD": {"action": "expire", "expire_seconds": 86401}},
        cases=[ALLOWED],
    )
    assert found == {
        ("kinds.CREDIT_CARD.expire_seconds", "what is sensitive lives at most 86400 seconds")
    }


@pytest.mark.requirement("C12")
@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"profile": "lenient"}, "profile"),
        ({"colour": "red"}, "colour"),
        ({"kinds": {"EMAIL": {"action": "allow"}}, "cases": [ALLOWED]}, "kinds.?"),
        ({"kinds": {"HIDDEN_TEXT": {"action": "allow"}}, "cases": [ALLOWED]}, "kinds"),
        ({"kinds": {"FINANCE": {"action": "redact"}}, "cases": [ALLOWED]}, "kinds"),
        ({"rules": [{"action": "pseudonymize", "kinds": ["HEALTH"]}]}, "rules[0]"),
        ({"kinds": {"PERSON": {"action": "hide"}}}, "kinds.PERSON.action"),
        ({"rules": [{"action": "redact", "namespaces": ["*"]}]}, "rules[0].namespaces[0]"),
        ({"rules": [{"action": "redact", "colour": "red"}]}, "rules[0].colour"),
        ({"rules": [{"action": "redact"}]}, "cases"),
        ({"kinds": {"PERSON": {"action": "redact"}}}, "cases"),
        ({"profile": "strict", "cases": [ALLOWED]}, "cases[0]"),
        ({"cases": [ALLOWED | {"rejected": "PERSON"}]}, "cases[0]"),
        ({"cases": [{"case": "neither", "text": "x"}]}, "cases[0]"),
        ({"cases": [ALLOWED | {"colour": "red"}]}, "cases[0].colour"),
        ({"cases": [ALLOWED] * (MAX_CASES + 1)}, "cases"),
        ({"cases": [{"case": "long", "text": "x" * 2048, "kept": "x"}] * 33}, "cases"),
    ],
)
def test_a_document_with_a_fault_is_refused_with_its_place(put, document, place):
    assert {field for field, _ in refused(put, PII, **document)} == {place}
    assert MAX_CHARACTERS < 33 * 2048


@pytest.mark.requirement("C12")
@pytest.mark.parametrize(
    ("rule", "place"),
    [
        ({"pattern": "badge-[0-9]+"}, "rules[0].pattern"),
        ({"pattern": "(?:badge-?){1,9}[0-9]"}, "rules[0].pattern"),
        ({"pattern": "badge-(?R)"}, "rules[0].pattern"),
        ({"pattern": "x" * 2049}, "rules[0].pattern"),
        ({"kind": "PERSON"}, "rules[0].kind"),
        ({"keywords": ["b"]}, "rules[0].keywords"),
        ({"keywords": ["BADGE"]}, "rules[0].keywords"),
        ({"keywords": []}, "rules[0].keywords"),
        ({"judge": "token"}, "rules[0]"),
        ({"id": "Badge One"}, "rules[0].id"),
        ({"colour": "red"}, "rules[0].colour"),
        ({"pattern": "other-[0-9]{6}"}, "cases[0]"),
    ],
)
def test_a_rule_for_secrets_with_a_fault_is_refused_with_its_place(put, rule, place):
    assert {at for at, _ in refused(put, SECRETS, rules=[BADGE | rule], cases=[SEEN])} == {place}


def test_rules_for_secrets_are_few_distinct_and_each_is_shown_to_work(put):
    twice = refused(put, SECRETS, rules=[BADGE, BADGE], cases=[SEEN])
    assert {field for field, _ in twice} == {"rules"}
    many = [BADGE | {"id": f"badge-{number}"} for number in range(MAX_OWN_SECRETS + 1)]
    assert {field for field, _ in refused(put, SECRETS, rules=many, cases=[SEEN])} == {"rules"}
    idle = BADGE | {"id": "idle", "pattern": "pass-[0-9]{6}", "keywords": ["pass-"]}
    found = refused(put, SECRETS, rules=[BADGE, idle], cases=[SEEN])
    assert found == {("rules[1]", "No case is refused by this rule.")}
    assert {field for field, _ in refused(put, SECRETS, rules=[BADGE])} == {"cases"}


def test_a_tenant_adds_rules_for_secrets_and_takes_none_away(put, shipped):
    own = put(SECRETS, rules=[BADGE], cases=[SEEN])
    assert own.guard.secrets_in("badge-483920") == {"own:badge"}
    key = "AKIAQ3EGR7HX2B5KZ4TW"
    assert own.guard.secrets_in(key) == shipped.guard.secrets_in(key) != frozenset()
    assert shipped.guard.secrets_in("badge-483920") == frozenset()


def test_a_case_about_secrets_is_about_secrets_alone(put):
    plain = {"case": "no badge", "text": f"write to {MAIL}", "kept": f"write to {MAIL}"}
    assert put(SECRETS, rules=[BADGE], cases=[SEEN, plain])


def test_a_fault_repeats_nothing_of_the_document(put):
    secret = "AKIAQ3EGR7HX2B5KZ4TW"
    documents: list[dict[str, Any]] = [
        {"kinds": {secret: {"action": "allow"}}},
        {"kinds": {"PERSON": {"action": secret}}},
        {"rules": [{"action": "redact", "kinds": [secret]}]},
        {"cases": [{"case": secret, "text": secret, "kept": secret}]},
        {secret: 1},
    ]
    for document in documents:
        assert secret not in str(refused(put, PII, **document))
    entry = {"id": secret, "kind": secret, "pattern": f"({secret}", "keywords": [secret]}
    assert secret not in str(refused(put, SECRETS, rules=[entry]))


def test_cases_that_take_too_long_are_refused(shipped):
    cases = [CaseEntry.model_validate(ALLOWED)] * 3
    ticks = itertools.count(step=MAX_SECONDS)
    faults = failing(shipped.guard, cases, lambda: next(ticks))
    assert [(fault.field, fault.message) for fault in faults] == [
        ("cases", "They take too long to try.")
    ]


def test_rules_that_do_not_finish_refuse_nothing_that_a_case_could_show(shipped, monkeypatch):
    monkeypatch.setattr("gateway.guard.guard.find_secrets", _never)
    assert shipped.guard.secrets_in("AKIAQ3EGR7HX2B5KZ4TW") == frozenset()


def _never(*_: Any) -> Any:
    raise ScanTimeout("secrets")


def test_a_pseudonym_is_written_in_a_case_by_its_kind(put):
    case = {"case": "by a word", "text": f"to {MAIL}", "kept": "to [EMAIL_ADDRESS]"}
    assert put(PII, kinds={"EMAIL_ADDRESS": {"action": "pseudonymize"}}, cases=[case])


def test_a_case_judges_where_its_text_stands_the_class_and_the_end(shipped):
    policy = parse_pii_policy(
        '{version: "t", defaults: {action: allow}, kinds: {}, rules: [{action: expire,'
        " expire_seconds: 60, namespaces: [hr], sources: [document], layers: [working]}]}"
    )
    guard = shipped.guard.under(policy=policy)
    where = {"namespace": "hr", "source": "document", "layer": "working"}
    base = ALLOWED | {"sensitivity": "personal"}
    for case, holds in (
        (base | where | {"expire_seconds": 60}, True),
        (base | where | {"expire_seconds": 61}, False),
        (base | {"expire_seconds": 60}, False),
        (base, True),
        (base | {"sensitivity": "special"}, False),
        (base | {"kept": "else"}, False),
    ):
        assert CaseEntry.model_validate(case).holds(guard) is holds


@pytest.mark.parametrize("kind", [PII, SECRETS])
def test_the_documents_shown_in_the_guide_are_accepted(put, kind):
    guide = (ROOT / "docs" / "guard.md").read_text(encoding="utf-8")
    after = guide[guide.index(f"PUT /v1/admin/policies/{kind}") :]
    shown = after[after.index("{") : after.index("```", after.index("{"))]
    own = put(kind, **json.loads(shown))
    assert own.needs_a_case
    assert own.cases


def test_the_version_is_of_the_whole_document():
    one = {"profile": "strict", "cases": []}
    assert version_of(one) == version_of(json.loads(json.dumps(one)))
    assert (
        len({version_of(one), version_of({"profile": "balanced", "cases": []}), version_of({})})
        == 3
    )
