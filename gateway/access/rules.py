"""One policy, checked and immutable, and the decision it comes to.

Rules this module keeps:
- Casbin decides, and is believed only with its reason: an allow counts when the rule it names is
  one of ours, allows, and is about exactly what was asked. So a Casbin switched off, an empty
  policy and an empty request, which all "allow" without a rule, are denials here.
- Whatever Casbin raises is a denial.
- One denying rule beats every allowing one, whichever role brings it.
- A policy never changes: a new one is a new object, and its decisions are remembered with it.
"""

import re
from dataclasses import dataclass

import casbin

from core.scope import Action, Role

_SAFE = re.compile(r"[a-z_]+(:[a-z_]+)*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleLine:
    """One line of a policy: a role may, or may not, do a verb to an object."""

    subject: str
    object: str
    verb: str
    effect: str

    @property
    def id(self) -> str:
        """How the audit log names it."""
        return f"p:{self.subject},{self.object},{self.verb}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What the policy says, and the rule that says so."""

    allowed: bool
    rule: str


DEFAULT_DENY = Ruling(allowed=False, rule="default-deny")
_BROKEN = Ruling(allowed=False, rule="matcher-error")


class Rules:
    """A policy that passed the loader's checks; only the loader makes one.

    Args:
        model: Casbin's model.
        lines: the rules, at least one.
        version: short hash of the policy's contents.
    """

    __slots__ = ("_casbin", "_decided", "_lines", "version")

    def __init__(self, model: str, lines: tuple[RuleLine, ...], *, version: str) -> None:
        self.version = version
        self._lines = {(line.subject, line.object, line.verb): line for line in lines}
        parsed = casbin.Enforcer.new_model(text=model)
        for line in lines:
            parsed.add_policy("p", "p", [line.subject, line.object, line.verb, line.effect])
        # Without logging: Casbin would log each denied request with its values.
        self._casbin = casbin.Enforcer(parsed, enable_log=False)
        self._decided: dict[tuple[frozenset[Role], Action], Ruling] = {}

    def judge(self, roles: frozenset[Role], action: Action) -> Ruling:
        """Return whether any of `roles` may do `action` and none may not.

        At most (sets of roles) × (actions) rulings are remembered, with the policy they came from.
        """
        known = self._decided.get((roles, action))
        if known is None:
            known = self._decided[roles, action] = self._judge(roles, action)
        return known

    def _judge(self, roles: frozenset[Role], action: Action) -> Ruling:
        allowed = DEFAULT_DENY
        for role in sorted(roles):
            ruling = self._ask(f"role:{role}", action.object, action.verb)
            if not ruling.allowed and ruling is not DEFAULT_DENY:
                return ruling
            if ruling.allowed and not allowed.allowed:
                allowed = ruling
        return allowed

    def _ask(self, subject: str, obj: str, verb: str) -> Ruling:
        if not all(_SAFE.fullmatch(part) for part in (subject, obj, verb)):
            return DEFAULT_DENY
        try:
            yes, reason = self._casbin.enforce_ex(subject, obj, verb)
        except Exception:  # noqa: BLE001 - whatever goes wrong in a matcher is a denial
            return _BROKEN
        line = self._lines.get((subject, obj, verb))
        if line is None or reason != [line.subject, line.object, line.verb, line.effect]:
            return DEFAULT_DENY
        if yes is True and line.effect == "allow":
            return Ruling(allowed=True, rule=line.id)
        return Ruling(allowed=False, rule=line.id)
