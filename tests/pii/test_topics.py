"""Each topic against what it must tell and what it must leave: the cases in topics/."""

from pathlib import Path

import pytest
import yaml

from core.errors import ContentRejected
from core.model import Sensitivity
from gateway.guard.guard import Guard
from gateway.guard.kinds import SENSITIVE_TOPICS, SPECIAL_TOPICS, TOPICS
from gateway.guard.normalise import normalise
from gateway.guard.pii import load_detector
from gateway.guard.policy import load_pii_policy, parse_pii_policy
from gateway.guard.rules import load_secret_rules
from gateway.guard.topics import EVERY_TOPIC, find_topics
from gateway.guard.topics.topic import REACH, Cue, Reading
from gateway.resources import data_path

SUITES = [
    yaml.safe_load(file.read_text(encoding="utf-8"))
    for file in sorted((Path(__file__).parent / "topics").glob("*.yaml"))
]
SAID = {
    "HEALTH": "I am allergic to peanuts.",
    "BELIEF": "我是穆斯林，不吃猪肉。",
    "FINANCE": "My salary is 84,000 euros a year.",
    "BIOMETRIC": "我的指纹模板是4f8a0c771122。",
    "PRECISE_LOCATION": "I live at 40.741895, -73.989308.",
    "MINOR": "我女儿今年6岁。",
}
DAY = 24 * 3600


def cases(group):
    for suite in SUITES:
        for language in ("en", "zh"):
            for number, text in enumerate(suite[language][group]):
                name = f"{suite['kind']} {language} {number}"
                yield pytest.param(suite["kind"], text, id=name)


def told(text):
    return {one.kind for one in find_topics(normalise(text))}


@pytest.fixture(scope="module")
def guarded_by():
    detector = load_detector()
    secrets = load_secret_rules(data_path("policies", "secrets.yaml"))

    def made(policy):
        return Guard(secrets, policy, detector)

    return made


@pytest.fixture(scope="module")
def shipped(guarded_by):
    return guarded_by(load_pii_policy(data_path("policies", "pii", "balanced.yaml")))


@pytest.mark.parametrize(("kind", "text"), list(cases("said")))
def test_what_is_said_of_a_person_is_told(kind, text):
    assert kind in told(text)


@pytest.mark.parametrize(("kind", "text"), list(cases("near")))
def test_what_only_sounds_like_it_is_left(kind, text):
    assert kind not in told(text)


def test_every_topic_has_its_cases_in_both_languages():
    assert {suite["kind"] for suite in SUITES} == {one.kind for one in EVERY_TOPIC} == TOPICS
    for suite in SUITES:
        for language in ("en", "zh"):
            assert min(len(set(suite[language][group])) for group in ("said", "near")) >= 25


@pytest.mark.requirement("D7")
@pytest.mark.parametrize("name", ["balanced", "strict"])
@pytest.mark.parametrize("kind", sorted(TOPICS))
def test_a_shipped_policy_labels_a_topic_and_what_is_sensitive_ends_within_a_day(
    guarded_by, name, kind
):
    guard = guarded_by(load_pii_policy(data_path("policies", "pii", f"{name}.yaml")))
    checked = guard.check({"content": SAID[kind]})
    assert kind in checked.kinds_found
    if kind in SENSITIVE_TOPICS:
        assert (checked.sensitivity, checked.expire_seconds) == (Sensitivity.SENSITIVE, DAY)
    else:
        assert (checked.sensitivity, checked.expire_seconds) == (Sensitivity.SPECIAL, None)


@pytest.mark.parametrize("kind", sorted(TOPICS))
def test_a_label_changes_no_character_and_is_no_redaction(shipped, kind):
    checked = shipped.check({"content": SAID[kind]})
    assert (checked.fields["content"], checked.redactions) == (SAID[kind], ())


@pytest.mark.requirement("D7")
@pytest.mark.parametrize("action", ["redact", "reject", "observe", "expire, expire_seconds: 60"])
@pytest.mark.parametrize("kind", sorted(TOPICS))
def test_what_a_policy_asks_for_all_kinds_cuts_no_topic_out(kind, action):
    policy = parse_pii_policy(
        f'{{version: "t", defaults: {{action: {action}}}, kinds: {{}},'
        f" rules: [{{action: {action}}}]}}"
    )
    rule = policy.of(kind)
    assert rule.action.keeps_text
    wanted = Sensitivity.SPECIAL if kind in SPECIAL_TOPICS else Sensitivity.SENSITIVE
    assert rule.sensitivity is wanted
    assert rule.expire_seconds == (None if kind in SPECIAL_TOPICS else DAY)


@pytest.mark.requirement("D7")
@pytest.mark.parametrize("kind", sorted(TOPICS))
def test_a_policy_that_names_a_topic_decides_on_it(guarded_by, kind):
    rejects = guarded_by(
        parse_pii_policy(
            f'{{version: "t", defaults: {{action: allow}}, kinds: {{{kind}: {{action: reject}}}}}}'
        )
    )
    with pytest.raises(ContentRejected) as refused:
        rejects.check({"content": SAID[kind]})
    assert {reason.kind for reason in refused.value.reasons} == {kind}
    observes = guarded_by(
        parse_pii_policy(
            f'{{version: "t", defaults: {{action: allow}},'
            f" kinds: {{{kind}: {{action: observe, sensitivity: sensitive}}}}}}"
        )
    )
    checked = observes.check({"content": SAID[kind]})
    assert checked.fields["content"] == SAID[kind]
    assert checked.sensitivity is Sensitivity.SENSITIVE
    assert [(one.kind, one.action) for one in checked.redactions] == [(kind, "observe")]


@pytest.mark.requirement("D7")
@pytest.mark.parametrize(
    "fields",
    [
        {"content": "See the note.", "metadata": {"note": SAID["HEALTH"]}},
        {"content": "See the note.", "metadata": {"notes": [{"a": SAID["HEALTH"]}]}},
        {"content": "See the note.", "entities": [SAID["HEALTH"]]},
        {"content": "See the note.", "tags": ["my asthma"]},
        {"content": "SSBhbSBhbGxlcmdpYyB0byBwZWFudXRzLg=="},
        {"content": "I am ａｌｌｅｒｇｉｃ to pea\u200bnuts."},
    ],
    ids=["metadata", "nested", "entities", "tags", "base64", "full width"],
)
def test_a_topic_is_told_wherever_and_however_it_is_written(shipped, fields):
    assert shipped.check(fields).sensitivity is Sensitivity.SPECIAL


def test_the_highest_class_of_a_request_counts(shipped):
    checked = shipped.check({"content": f"{SAID['HEALTH']} {SAID['FINANCE']}"})
    assert checked.sensitivity is Sensitivity.SENSITIVE


def test_a_placeholder_is_no_topic():
    assert told("[HEALTH] [FINANCE ****1234] [MINOR]") == set()


def test_what_another_sentence_says_belongs_to_no_cue():
    assert told("He reads a lot. Diabetes is on the rise") == set()
    cue = Cue("illness", before="has")
    assert not list(cue.find(Reading("he has. illness")))
    assert list(cue.find(Reading("he has an illness")))
    assert not list(cue.find(Reading("has" + " " * REACH + "illness")))


def test_a_cue_that_any_text_may_hold_is_refused():
    with pytest.raises(ValueError, match="tried on every text"):
        Cue("[a-z]{3,9}")
