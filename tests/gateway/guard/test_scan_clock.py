"""The clock of a scan's budget counts the scan's work, and not the whole process's garbage."""

import gc
import time
from collections.abc import Iterator

import pytest
from typing_extensions import override

from core.errors import ContentRejected
from gateway.guard.guard import Guard
from gateway.guard.normalise import Normalised
from gateway.guard.pii import load_detector
from gateway.guard.pii.finding import Finding, PiiDetector
from gateway.guard.policy import load_pii_policy
from gateway.guard.rules import load_secret_rules
from gateway.guard.scan_clock import scan_seconds
from gateway.resources import data_path

LONG = 60.0
"""Seconds, far over any budget of a text."""

# Of a text of test_exact that was refused once, when a collection of the whole heap fell
# to the thread that judged it.
_FAMILY = " 👩\u200d👩\u200d👧 "
TEXT = _FAMILY.join(
    ("so: ﬁne [PHONE_NUMBER]", "+44 20 7946 0958", "%72%6F%73%61%40harbour.example")
)
KEPT = _FAMILY.join(("so: ﬁne [PHONE_NUMBER]", "[PHONE_NUMBER]", "[EMAIL_ADDRESS]"))


class Clock:
    """Processor time that passes only when it is told to."""

    def __init__(self) -> None:
        self.now = 1.0

    def __call__(self) -> float:
        return self.now

    def collecting(self, phase: str, _info: object) -> None:
        """Let a collection take long."""
        if phase == "start":
            self.now += LONG


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    made = Clock()
    gc.disable()  # no collection but those that a test asks for
    monkeypatch.setattr(time, "thread_time", made)
    gc.callbacks.append(made.collecting)
    yield made
    gc.callbacks.remove(made.collecting)
    gc.enable()


class During(PiiDetector):
    """A detector during whose work something happens."""

    def __init__(self, happens) -> None:
        self._detector = load_detector()
        self._happens = happens

    @override
    def detect(
        self, normalised: Normalised, asked: frozenset[str] = frozenset()
    ) -> tuple[Finding, ...]:
        found = self._detector.detect(normalised, asked)
        self._happens()
        return found


def guard_of(happens) -> Guard:
    return Guard(
        load_secret_rules(data_path("policies", "secrets.yaml")),
        load_pii_policy(data_path("policies", "pii", "balanced.yaml")),
        During(happens),
    )


def test_a_full_collection_takes_no_time_and_work_does(clock):
    began = scan_seconds()
    gc.collect()
    assert clock.now == 1.0 + LONG
    assert scan_seconds() == pytest.approx(began)
    clock.now += 3.0
    assert scan_seconds() == pytest.approx(began + 3.0)


@pytest.mark.requirement("D2")
def test_a_short_text_is_not_refused_for_the_garbage_of_others(clock):
    checked = guard_of(gc.collect).check({"content": TEXT})
    assert clock.now > LONG
    assert checked.fields["content"] == KEPT


@pytest.mark.requirement("D2")
def test_a_text_whose_own_work_takes_too_long_is_refused(clock):
    def works() -> None:
        clock.now += LONG

    with pytest.raises(ContentRejected) as refused:
        guard_of(works).check({"content": TEXT})
    assert {reason.kind for reason in refused.value.reasons} == {"SCANNER_FAILED"}
