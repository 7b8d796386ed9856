"""Casbin's own answer counts: what it does not plainly allow is denied, whatever rule it names."""

import pytest

from core.scope import Action
from gateway.access.loader import MODEL
from gateway.access.rules import TENANT, RuleLine, Rules


def reader() -> Rules:
    read = RuleLine("role:reader", TENANT, "memory:item", "read", "allow")
    return Rules(MODEL, [read], version="v")


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("answer", [False, None, 0, 1, "yes", [True]])
def test_a_rule_that_is_named_without_a_plain_yes_allows_nothing(
    monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    rules = reader()
    asks = rules._casbin.enforce_ex

    def unsure(*asked: str) -> tuple[object, list[str]]:
        return answer, asks(*asked)[1]

    monkeypatch.setattr(rules._casbin, "enforce_ex", unsure)
    assert not rules.ask("role:reader", TENANT, Action.MEMORY_READ).allowed
    assert reader().ask("role:reader", TENANT, Action.MEMORY_READ).allowed
