"""What a policy asks for: by kind, namespace, source and layer, and what the guard makes of it."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from core.errors import ContentRejected
from core.model import Layer, Sensitivity
from core.scope import SourceKind
from gateway.guard.guard import Guard
from gateway.guard.kinds import HIDDEN_TEXT, IDENTIFIERS, KINDS, SENSITIVE_TOPICS, SPECIAL_TOPICS
from gateway.guard.pii import load_detector
from gateway.guard.policy import (
    NOWHERE,
    Action,
    TextContext,
    load_pii_policy,
    parse_pii_policy,
)
from gateway.guard.policy_file import PolicyInvalid
from gateway.guard.rules import load_secret_rules
from gateway.resources import data_path

SECRETS = load_secret_rules(data_path("policies", "secrets.yaml"))
MAIL, CARD = "rosa@harbour.example", "4111 1111 1111 1111"
DETAILS: dict[Action, dict[str, int]] = {
    Action.MASK: {"keep_last": 4},
    Action.EXPIRE: {"expire_seconds": 3600},
}
NAMESPACES, SOURCES = (None, "support", "hr"), (None, *SourceKind)
LAYERS = (None, *Layer)


@pytest.fixture(scope="module")
def detector():
    return load_detector()


def policy_of(*rules: dict[str, Any], default: str = "allow", **kinds: dict[str, Any]):
    document = {
        "version": "t",
        "defaults": {"action": default},
        "kinds": kinds,
        "rules": list(rules),
    }
    return parse_pii_policy(yaml.safe_dump(document))


def context(namespace=None, source=None, layer=None) -> TextContext:
    named = frozenset() if namespace is None else frozenset({namespace})
    return TextContext(namespaces=named, source=source, layer=layer)


def conditions() -> Iterator[dict[str, list[str]]]:
    """Every way to narrow a rule to one namespace, source or layer, or not."""
    for namespace, source, layer in itertools.product(
        (None, "support"), (None, SourceKind.DOCUMENT), (None, Layer.WORKING)
    ):
        found = {"namespaces": namespace, "sources": source, "layers": layer}
        yield {name: [str(value)] for name, value in found.items() if value is not None}


def met(condition: dict[str, list[str]], namespace: Any, source: Any, layer: Any) -> bool:
    """Tell, by itself, whether a rule's conditions are met."""
    wanted = {"namespaces": namespace, "sources": source, "layers": layer}
    return all(wanted[name] == value for name, (value,) in condition.items())


@pytest.mark.requirement("D7")
@pytest.mark.parametrize("action", list(Action))
@pytest.mark.parametrize("condition", list(conditions()), ids=str)
def test_a_rule_decides_where_all_its_conditions_are_met_and_nowhere_else(action, condition):
    asked = {"action": action.value, **DETAILS.get(action, {})}
    policy = policy_of({"kinds": ["EMAIL_ADDRESS"], **condition, **asked}, default="reject")
    tried = 0
    for namespace, source, layer in itertools.product(NAMESPACES, SOURCES, LAYERS):
        where = context(namespace, source, layer)
        decided = policy.of("EMAIL_ADDRESS", where)
        expected = action if met(condition, namespace, source, layer) else Action.REJECT
        assert decided.action is expected, (namespace, source, layer)
        assert policy.of("CREDIT_CARD", where).action is Action.REJECT
        tried += 1
    assert tried == len(NAMESPACES) * len(SOURCES) * len(LAYERS)


OUTCOMES: dict[Action, tuple[str, str, Sensitivity, int | None]] = {
    Action.ALLOW: (f"pay {CARD} now", "", Sensitivity.PERSONAL, None),
    Action.OBSERVE: (f"pay {CARD} now", "observe", Sensitivity.PERSONAL, None),
    Action.EXPIRE: (f"pay {CARD} now", "", Sensitivity.PERSONAL, 3600),
    Action.MASK: ("pay [CREDIT_CARD ****1111] now", "mask", Sensitivity.PERSONAL, None),
    Action.REDACT: ("pay [CREDIT_CARD] now", "redact", Sensitivity.PERSONAL, None),
}
"""What each action makes of a card, what the receipt says, the class, and the end."""


@pytest.mark.requirement("D7")
@pytest.mark.parametrize("action", OUTCOMES)
def test_each_action_does_what_it_says_in_its_place_alone(detector, action):
    kept, told, sensitivity, seconds = OUTCOMES[action]
    asked = {"action": action.value, **DETAILS.get(action, {})}
    rule = {"kinds": ["CREDIT_CARD"], "namespaces": ["support"], **asked}
    guard = Guard(SECRETS, policy_of(rule, default="reject"), detector)
    fields = {"content": f"pay {CARD} now"}
    checked = guard.check(fields, context("support"))
    assert checked.fields["content"] == kept
    assert [one.action for one in checked.redactions] == ([told] if told else [])
    assert (checked.sensitivity, checked.expire_seconds) == (sensitivity, seconds)
    with pytest.raises(ContentRejected):
        guard.check(fields, context("hr"))
    with pytest.raises(ContentRejected):
        guard.check(fields)


def test_what_stays_may_stand_in_a_name_and_what_is_cut_may_not(detector):
    for action in Action:
        asked = {"action": action.value, **DETAILS.get(action, {})}
        guard = Guard(SECRETS, policy_of(EMAIL_ADDRESS=asked), detector)
        fields = {"content": "ok", "tags": [MAIL]}
        if not action.keeps_text:
            with pytest.raises(ContentRejected):
                guard.check(fields)
            continue
        checked = guard.check(fields)
        assert checked.fields["tags"] == [MAIL]
        assert checked.sensitivity is Sensitivity.PERSONAL
        assert checked.expire_seconds == DETAILS.get(action, {}).get("expire_seconds")
        assert len(checked.redactions) == (action is Action.OBSERVE)


def test_the_first_rule_that_matches_decides():
    policy = policy_of(
        {"kinds": ["EMAIL_ADDRESS"], "namespaces": ["support"], "action": "allow"},
        {"namespaces": ["support", "hr"], "action": "redact"},
        {"sources": ["document"], "action": "reject"},
        EMAIL_ADDRESS={"action": "observe"},
    )
    document = SourceKind.DOCUMENT
    for kind, where, action in (
        ("EMAIL_ADDRESS", context("support", document), Action.ALLOW),
        ("PHONE_NUMBER", context("support", document), Action.REDACT),
        ("EMAIL_ADDRESS", context("hr"), Action.REDACT),
        ("EMAIL_ADDRESS", context("sales", document), Action.REJECT),
        ("EMAIL_ADDRESS", context("sales"), Action.OBSERVE),
        ("PHONE_NUMBER", context("sales"), Action.ALLOW),
    ):
        assert policy.of(kind, where).action is action


def test_in_several_namespaces_or_in_any_the_strictest_decides():
    policy = policy_of(
        {"namespaces": ["support"], "action": "mask", "keep_last": 2},
        {"namespaces": ["hr"], "action": "reject"},
    )
    several = TextContext(namespaces=frozenset({"support", "sales"}))
    assert policy.of("PHONE_NUMBER", several).action is Action.MASK
    assert policy.of("PHONE_NUMBER", TextContext(namespaces=None)).action is Action.REJECT
    assert policy.of("PHONE_NUMBER", NOWHERE).action is Action.ALLOW


def test_of_one_action_the_stricter_is_that_which_leaves_less():
    policy = policy_of(
        {"namespaces": ["a"], "action": "mask", "keep_last": 4},
        {"namespaces": ["b"], "action": "mask", "keep_last": 1},
        {"namespaces": ["c"], "action": "expire", "expire_seconds": 60},
        {"namespaces": ["d"], "action": "expire", "expire_seconds": 600},
    )
    both = policy.of("PHONE_NUMBER", TextContext(namespaces=frozenset({"a", "b"})))
    assert both.keep_last == 1
    either = policy.of("PHONE_NUMBER", TextContext(namespaces=frozenset({"c", "d"})))
    assert either.expire_seconds == 60


def test_a_rule_without_kinds_means_neither_hidden_text_nor_topics():
    policy = policy_of({"action": "observe"})
    assert policy.of(HIDDEN_TEXT).action is Action.REJECT
    assert {policy.of(kind).action for kind in SPECIAL_TOPICS} == {Action.ALLOW}
    assert {policy.of(kind).action for kind in SENSITIVE_TOPICS} == {Action.EXPIRE}
    assert {policy.of(kind).action for kind in IDENTIFIERS} == {Action.OBSERVE}


def test_a_rule_raises_a_class_and_never_lowers_it():
    policy = policy_of(
        {"namespaces": ["up"], "action": "allow", "sensitivity": "special"},
        {"namespaces": ["down"], "action": "allow", "sensitivity": "none"},
        CREDIT_CARD={"action": "redact", "sensitivity": "sensitive"},
    )
    assert policy.of("PHONE_NUMBER", context("up")).sensitivity is Sensitivity.SPECIAL
    assert policy.of("PHONE_NUMBER", context("down")).sensitivity is Sensitivity.PERSONAL
    for where in ("up", "down", "elsewhere"):
        assert policy.of("CREDIT_CARD", context(where)).sensitivity is Sensitivity.SENSITIVE


def test_what_is_sensitive_expires_within_a_day_under_a_rule_for_all_kinds():
    policy = policy_of(
        {"action": "expire", "expire_seconds": 30 * 86400},
        CREDIT_CARD={"action": "redact", "sensitivity": "sensitive"},
    )
    assert policy.of("CREDIT_CARD").expire_seconds == 86400
    assert policy.of("PHONE_NUMBER").expire_seconds == 30 * 86400


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"action": "redact", "kinds": ["EMAIL"]}, "unknown kind of personal data"),
        ({"action": "redact", "kinds": []}, "kinds"),
        ({"action": "vanish"}, "action"),
        ({}, "action"),
        ({"action": "redact", "source": ["document"]}, "source"),
        ({"action": "redact", "sources": ["hearsay"]}, "sources"),
        ({"action": "redact", "layers": ["deep"]}, "layers"),
        ({"action": "redact", "namespaces": ["*"]}, "wildcard"),
        ({"action": "redact", "namespaces": [" hr"]}, "white space"),
        ({"action": "redact", "namespaces": "hr"}, "namespaces"),
        ({"action": "mask"}, "mask needs it"),
        ({"action": "expire"}, "expire needs it"),
        ({"action": "expire", "expire_seconds": 0}, "expire_seconds"),
        ({"action": "allow", "kinds": [HIDDEN_TEXT]}, "redacted or rejected"),
        ({"action": "observe", "kinds": [HIDDEN_TEXT]}, "redacted or rejected"),
        (
            {"action": "expire", "expire_seconds": 86401, "kinds": ["FINANCE"]},
            "at most 86400 seconds",
        ),
    ],
)
def test_a_rule_with_a_fault_does_not_load(rule, said):
    with pytest.raises(PolicyInvalid, match=said):
        policy_of(rule)


@pytest.mark.requirement("D7")
@pytest.mark.parametrize("kind", sorted(SPECIAL_TOPICS | SENSITIVE_TOPICS))
@pytest.mark.parametrize("action", list(Action))
def test_a_topic_is_let_through_or_rejected_and_a_policy_that_replaces_it_does_not_load(
    kind, action
):
    asked = {"action": action.value, **DETAILS.get(action, {})}
    forms: list[Callable[[], object]] = [
        lambda: policy_of(default="allow", **{kind: asked}),
        lambda: policy_of({"kinds": ["PHONE_NUMBER", kind], **asked}),
    ]
    for load in forms:
        if action.keeps_text or action is Action.REJECT:
            load()
            continue
        with pytest.raises(PolicyInvalid, match=f"{kind} is a topic of whole sentences") as refused:
            load()
        assert len(refused.value.faults) == 1


@pytest.mark.requirement("D7")
def test_by_default_sensitive_topics_end_within_a_day_and_special_ones_are_kept():
    for name in ("balanced", "strict"):
        policy = load_pii_policy(data_path("policies", "pii", f"{name}.yaml"))
        for kind in SENSITIVE_TOPICS:
            rule = policy.of(kind)
            assert rule.action is Action.EXPIRE
            assert rule.expire_seconds is not None
            assert rule.expire_seconds <= 86400
            assert rule.sensitivity is Sensitivity.SENSITIVE
        for kind in SPECIAL_TOPICS:
            assert policy.of(kind).action is Action.ALLOW
            assert policy.of(kind).sensitivity is Sensitivity.SPECIAL


def test_to_observe_changes_no_kind_and_lowers_no_class():
    observe = load_pii_policy(data_path("policies", "pii", "observe.yaml"))
    balanced = load_pii_policy(data_path("policies", "pii", "balanced.yaml"))
    assert set(observe.kinds) == KINDS
    for kind in KINDS - {HIDDEN_TEXT}:
        assert observe.of(kind).action is Action.OBSERVE, kind
        assert observe.of(kind).sensitivity is balanced.of(kind).sensitivity, kind
    assert observe.of(HIDDEN_TEXT).action is Action.REJECT


def test_what_comes_to_light_by_a_redaction_counts_too(detector):
    guard = Guard(
        SECRETS,
        policy_of(
            EMAIL_ADDRESS={"action": "redact"},
            PHONE_NUMBER={"action": "expire", "expire_seconds": 60},
        ),
        detector,
    )
    # The number is glued to the address; once that is replaced, the number stands alone.
    checked = guard.check({"content": f"{MAIL}13912345678"})
    assert checked.fields["content"] == "[EMAIL_ADDRESS]13912345678"
    assert checked.expire_seconds == 60
