"""The guard over whole requests: the cases in requests/."""

from pathlib import Path

import pytest
import yaml

from core.errors import ContentRejected
from gateway.guard.guard import Guard
from gateway.guard.pii import load_detector
from gateway.guard.policy import load_pii_policy
from gateway.guard.rules import load_secret_rules
from gateway.resources import data_path

FILES = sorted((Path(__file__).parent / "requests").glob("*.yaml"))


def cases(*, passing: bool):
    for file in FILES:
        for case in yaml.safe_load(file.read_text(encoding="utf-8"))["cases"]:
            if ("kept" in case) is passing:
                yield pytest.param(case, id=case["name"])


@pytest.fixture(scope="module")
def guard():
    return Guard(
        load_secret_rules(data_path("policies", "secrets.yaml")),
        load_pii_policy(data_path("policies", "pii", "balanced.yaml")),
        load_detector(),
    )


@pytest.mark.requirement("D4")
@pytest.mark.parametrize("case", list(cases(passing=True)))
def test_a_request_passes_transformed(guard, case):
    checked = guard.check(case["fields"])
    assert checked.fields == case["kept"]
    assert checked.sensitivity == case["sensitivity"]
    if "redactions" in case:
        assert [
            {"kind": r.kind, "action": r.action, "field": r.field, "count": r.count}
            for r in checked.redactions
        ] == case["redactions"]


@pytest.mark.requirement("D4")
@pytest.mark.parametrize("case", list(cases(passing=False)))
def test_a_request_is_refused_for_these_reasons(guard, case):
    with pytest.raises(ContentRejected) as refused:
        guard.check(case["fields"])
    reasons = [{"kind": r.kind, "field": r.field} for r in refused.value.reasons]
    assert reasons == case["reasons"]


@pytest.mark.parametrize("case", list(cases(passing=True)))
def test_what_was_kept_passes_again_unchanged(guard, case):
    again = guard.check(case["kept"])
    assert again.fields == case["kept"]
    assert again.redactions == ()
