"""A set of rules, checked and immutable, and what Casbin says of them.

Rules this module keeps:
- Casbin decides, and is believed only with its reason: an answer counts when the rule it names is
  one of ours, has that effect, and is about exactly what was asked. So a Casbin switched off, an
  empty policy and an empty request, which all "allow" without a rule, are denials here.
- Whatever Casbin raises, or says without its reason, is a denial.
- Casbin tries every rule it is given, so it is given those of one subject, place and object: they
  lie sorted, and a binary search finds them. A question that no rule is about is not put to it.
- Rules never change: a new policy is a new object, and what Casbin has said is kept with it, once a
  rule at most.
- One thread asks at a time: an enforcer holds the rules that it is being asked about.
"""

import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import casbin
from typing_extensions import override

from core.scope import Action

TENANT: Final = "tenant"
"""The place that means everywhere in a tenant."""
BASE: Final = -1
"""Number of a rule of the base policy, which is named by what it says."""


class RuleLine(NamedTuple):
    """One rule: a subject may, or may not, do a verb to an object in a place.

    Args:
        subject: `role:<role>`, `key:<key id>` or `user:<keyed look-up in hex>`.
        place: `tenant`, `namespace:<keyed look-up in hex>` or `space:<keyed look-up in hex>`.
        effect: `allow` or `deny`.
        number: where it stands in the tenant's own policy; `BASE` for a rule of the base policy.
    """

    subject: str
    place: str
    object: str
    verb: str
    effect: str
    number: int = BASE

    @property
    def id(self) -> str:
        """How the audit log names it."""
        if self.number == BASE:
            return f"p:{self.subject},{self.object},{self.verb}"
        return f"rules[{self.number}]"

    @override
    def __repr__(self) -> str:
        return f"RuleLine({self.id})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What a policy says, and the rule that says so."""

    allowed: bool
    rule: str


DEFAULT_DENY: Final = Ruling(allowed=False, rule="default-deny")
_BROKEN: Final = Ruling(allowed=False, rule="matcher-error")


class Rules:
    """Rules that passed a loader's checks; only a loader makes some.

    Args:
        model: Casbin's model.
        lines: no two about the same subject, place, object and verb.
        version: short hash of the contents.
    """

    __slots__ = ("_asking", "_casbin", "_lines", "_said", "version")

    def __init__(self, model: str, lines: Iterable[RuleLine], *, version: str) -> None:
        self.version = version
        self._lines = sorted(lines)
        # Without logging: Casbin would log each denied request with its values.
        self._casbin = casbin.Enforcer(casbin.Enforcer.new_model(text=model), enable_log=False)
        self._asking = threading.Lock()  # cases are tried off the loop, over the same base rules
        self._said: dict[int, Ruling] = {}

    def ask(self, subject: str, place: str, action: Action) -> Ruling:
        """Return what one rule says of one subject in one place; `DEFAULT_DENY` when none does."""
        return self._ask(subject, place, action.object, action.verb)

    def granted(self, subject: str, action: Action) -> Iterator[RuleLine]:
        """Yield each rule that allows `action` to `subject` somewhere, by place."""
        at = bisect_left(self._lines, (subject,))
        while at < len(self._lines) and (line := self._lines[at]).subject == subject:
            if (line.object, line.verb, line.effect) == (action.object, action.verb, "allow"):
                yield line
            at += 1

    def has_places(self) -> bool:
        """Tell whether some rule is about less than the whole tenant."""
        return any(line.place != TENANT for line in self._lines)

    def _ask(self, subject: str, place: str, obj: str, verb: str) -> Ruling:
        at = bisect_left(self._lines, (subject, place, obj, verb))
        if at == len(self._lines) or self._lines[at][:4] != (subject, place, obj, verb):
            return DEFAULT_DENY
        said = self._said.get(at)
        if said is None:
            said = self._said[at] = self._confirm(self._lines[at])
        return said

    def _confirm(self, line: RuleLine) -> Ruling:
        try:
            with self._asking:
                self._casbin.get_model()["p"]["p"].policy = self._around(line)
                yes, reason = self._casbin.enforce_ex(*line[:4])
        except Exception:  # noqa: BLE001 - whatever goes wrong in a matcher is a denial
            return _BROKEN
        if reason != list(line[:5]):  # not about what was asked: a denial, not silence
            return _BROKEN
        if yes is True and line.effect == "allow":
            return Ruling(allowed=True, rule=line.id)
        return Ruling(allowed=False, rule=line.id)

    def _around(self, line: RuleLine) -> list[list[str]]:
        """Return, as Casbin reads them, the rules of the subject, place and object of `line`."""
        alike = line[:3]
        at = bisect_left(self._lines, alike)
        found = []
        while at < len(self._lines) and self._lines[at][:3] == alike:
            found.append(list(self._lines[at][:5]))
            at += 1
        return found
