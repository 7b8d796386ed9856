"""A policy that is not wholly understood does not load."""

import pytest

from core.model import Sensitivity
from gateway.guard.kinds import BEST_EFFORT, HIDDEN_TEXT, KINDS, SPECIAL_TOPICS, TOPICS
from gateway.guard.pii.recognizers import every_recognizer
from gateway.guard.policy import Action, load_pii_policy, parse_pii_policy
from gateway.guard.policy_file import PolicyInvalid
from gateway.guard.rules import load_secret_rules, parse_secret_rules
from gateway.resources import data_path

PII = """
version: "t1"
defaults: {action: redact}
kinds:
  CREDIT_CARD: {action: mask, keep_last: 4, sensitivity: sensitive}
  EMAIL_ADDRESS: {action: allow}
"""

SECRETS = """
version: "t1"
plain: ["weak"]
placeholders: ["x{3,9}"]
rules:
  - {id: one, kind: SECRET.TOKEN, pattern: "tok_[a-z]{4,8}", keywords: ["tok_"]}
"""


def test_a_policy_answers_for_every_kind():
    policy = parse_pii_policy(PII)
    assert policy.of("CREDIT_CARD").action is Action.MASK
    assert policy.of("CREDIT_CARD").sensitivity is Sensitivity.SENSITIVE
    assert policy.of("EMAIL_ADDRESS").action is Action.ALLOW
    assert policy.of("US_SSN").action is Action.REDACT


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("version", "verzion"), "verzion"),
        (("EMAIL_ADDRESS", "EMAIL"), "unknown kinds: EMAIL"),
        (("allow", "permit"), "EMAIL_ADDRESS.action"),
        (("allow", "expire"), "expire needs it"),
        (("{action: allow}", "{action: allow, expire_seconds: 9}"), "expire_seconds belongs to"),
        (("{action: allow}", "{action: expire, expire_seconds: 0}"), "expire_seconds"),
        (
            ("mask, keep_last: 4", "expire, expire_seconds: 86401"),
            "what is sensitive lives at most 86400 seconds",
        ),
        (("{action: allow}", "{action: allow, colour: red}"), "colour"),
        (("{action: allow}", "{action: allow, keep_last: 4}"), "keep_last belongs to mask"),
        (("mask, keep_last: 4", "mask"), "mask needs it"),
        (("keep_last: 4", "keep_last: 9"), "keep_last"),
        (("sensitive}", "secretive}"), "sensitivity"),
        (("EMAIL_ADDRESS", "CREDIT_CARD"), "repeated"),
        (
            ("EMAIL_ADDRESS: {action: allow}", "HIDDEN_TEXT: {action: mask, keep_last: 1}"),
            "HIDDEN_TEXT",
        ),
        (("defaults: {action: redact}", ""), "defaults"),
        (("kinds:", "kinds: ["), "not YAML"),
    ],
)
def test_a_policy_with_a_fault_does_not_load_and_says_where(change, said):
    with pytest.raises(PolicyInvalid, match=said):
        parse_pii_policy(PII.replace(*change))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("SECRET.TOKEN", "SECRET.SAUCE"), "unknown kind of secret"),
        (("tok_[a-z]{4,8}", "tok_[a-z]+"), "repeats without a bound"),
        (("tok_[a-z]{4,8}", "tok_.*"), "repeats without a bound"),
        (("tok_[a-z]{4,8}", "tok_[a-z]{4,}"), "repeats without a bound"),
        (("tok_[a-z]{4,8}", "tok_([a-z]"), "is no pattern"),
        (('["tok_"]', '["TOK_"]'), "lower case"),
        (('["tok_"]', "[]"), "keywords"),
        (("keywords:", "judge: token, keywords:"), "names its group"),
        (("keywords:", "entropy_bits: 3, keywords:"), "entropy_bits"),
        (("keywords:", "colour: red, keywords:"), "colour"),
        (
            ("rules:", 'rules:\n  - {id: one, kind: SECRET.JWT, pattern: "e", keywords: ["e"]}'),
            "share an id",
        ),
        (("plain:", "plainly:"), "plainly"),
    ],
)
def test_secret_rules_with_a_fault_do_not_load_and_say_where(change, said):
    with pytest.raises(PolicyInvalid, match=said):
        parse_secret_rules(SECRETS.replace(*change))


def test_a_sign_inside_a_class_or_escaped_is_no_repeat():
    rules = parse_secret_rules(
        SECRETS.replace("tok_[a-z]{4,8}", r"tok_[*+]\\+\\*[]*+]{1,3}(?:a){0,2}")
    )
    assert rules.rules[0].pattern.search("tok_*+*]")


def test_a_missing_file_is_a_policy_error_without_its_path(tmp_path):
    with pytest.raises(PolicyInvalid, match=r"^none\.yaml: cannot be read$"):
        load_pii_policy(tmp_path / "none.yaml")


def test_a_policy_error_does_not_echo_what_stood_there():
    with pytest.raises(PolicyInvalid) as refused:
        parse_pii_policy(PII.replace("allow", "rosa@harbour.example"))
    assert "rosa" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "let_through"), [("balanced", BEST_EFFORT), ("strict", frozenset())]
)
def test_a_shipped_policy_names_every_kind_and_transforms_every_identifier(name, let_through):
    policy = load_pii_policy(data_path("policies", "pii", f"{name}.yaml"))
    assert set(policy.kinds) == KINDS
    allowed = {kind for kind in KINDS if policy.of(kind).action is Action.ALLOW}
    assert allowed == let_through | SPECIAL_TOPICS


def test_every_recognizer_reports_a_kind_of_the_policies_and_every_kind_is_reported():
    assert {one.kind for one in every_recognizer()} | TOPICS | {HIDDEN_TEXT} == KINDS


def test_the_shipped_rules_for_secrets_load():
    assert len(load_secret_rules(data_path("policies", "secrets.yaml")).rules) > 40
