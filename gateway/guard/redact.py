"""Replaces what was found in a text, and nothing else.

Rules this module keeps:
- The output holds no character of a finding but those a mask keeps; every other character of the
  original spelling is unchanged.
- Findings that overlap become one replacement, named for the most severe kind: the one the policy
  would reject, then the most sensitive, then the longest, then the surest.
- A replacement reads `[PHONE_NUMBER]`, masked `[CREDIT_CARD ****1111]`, a pseudonym's
  `[PHONE_NUMBER p-...]`; recognizers never find anything in it, so redacting twice changes nothing.
- A mask of a value that was encoded keeps nothing: its last characters are not the value's.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from core.model import Redaction, Sensitivity
from core.pseudonyms import NO_PSEUDONYM
from gateway.guard.marks import Marker
from gateway.guard.normalise import fold
from gateway.guard.pii.finding import Finding
from gateway.guard.policy import Action, KindRule, KindRules

SECRET = "SECRET"  # noqa: S105 - what stands in a query where a secret stood
"""No policy decides on this kind, nor on `NO_PSEUDONYM`: they are never left alone."""

_ALWAYS = {
    SECRET: KindRule(action=Action.REJECT, sensitivity=Sensitivity.SENSITIVE),
    NO_PSEUDONYM: KindRule(action=Action.REDACT, sensitivity=Sensitivity.NONE),
}

_RANK = {
    Sensitivity.NONE: 0,
    Sensitivity.PERSONAL: 1,
    Sensitivity.SPECIAL: 2,
    Sensitivity.SENSITIVE: 3,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A text after redaction, and what was done, without text."""

    text: str = field(repr=False)
    redactions: tuple[Redaction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """What stands in for `original[start:end]`, and why."""

    start: int
    end: int
    kind: str
    action: str
    text: str


class Redactor:
    """Applies a policy's actions to findings.

    Args:
        policy: action per kind, as it is for the text.
    """

    def __init__(self, policy: KindRules) -> None:
        self._policy = policy

    def apply(
        self, text: str, findings: Sequence[Finding], path: str, marker: Marker | None = None
    ) -> Redacted:
        """Return `text` with its findings replaced as the policy asks.

        Args:
            text: the original spelling the findings' spans are of, in code points.
            findings: in any order, overlapping or not; allowed kinds are left alone. A kind that
                the policy rejects is redacted: who may reject does so before.
            path: of the field, for the report.
            marker: puts the placeholders of pseudonyms; without it they tell their kind alone.
        """
        counts: Counter[tuple[str, str]] = Counter()
        parts: list[str] = []
        done = 0
        for one in self.replacements(text, findings, marker):
            parts += [text[done : one.start], one.text]
            counts[one.kind, one.action] += 1
            done = one.end
        parts.append(text[done:])
        return Redacted(
            text="".join(parts),
            redactions=tuple(
                Redaction(kind=kind, action=action, field=path, count=count)
                for (kind, action), count in counts.items()
            ),
        )

    def replacements(
        self, text: str, findings: Sequence[Finding], marker: Marker | None = None
    ) -> Iterator[Replacement]:
        """Yield what `apply` puts in place of what, in the order of the text, none overlapping."""
        acted = [one for one in findings if not rule_of(self._policy, one.kind).action.keeps_text]
        for group in _clusters(acted):
            worst = max(group, key=self._severity)
            start, end = min(one.start for one in group), max(one.end for one in group)
            rule = rule_of(self._policy, worst.kind)
            if rule.action is Action.PSEUDONYMIZE and marker is not None:
                value = text[worst.start : worst.end]
                written = marker.put(worst.kind, value, text[start:end])
                action = Action.PSEUDONYMIZE.value
            else:
                written, action = _replace(text, worst, rule)
            yield Replacement(
                start=start,
                end=end,
                kind=worst.kind,
                action=action,
                text=written,
            )

    def _severity(self, one: Finding) -> tuple[bool, int, int, float]:
        rule = rule_of(self._policy, one.kind)
        rejects = rule.action is Action.REJECT
        return rejects, _RANK[rule.sensitivity], one.end - one.start, one.score


def rule_of(policy: KindRules, kind: str) -> KindRule:
    """Return what is done with a kind: as the policy asks, where it is asked."""
    return _ALWAYS.get(kind) or policy.of(kind)


def higher(one: Sensitivity, other: Sensitivity) -> Sensitivity:
    """Return the more sensitive of two classes."""
    return max(one, other, key=_RANK.__getitem__)


def _clusters(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Group findings that overlap, in the order of the text. Touching ones stay apart."""
    groups: list[list[Finding]] = []
    reach = -1
    for one in sorted(findings, key=lambda one: (one.start, one.end)):
        if groups and one.start < reach:
            groups[-1].append(one)
        else:
            groups.append([one])
        reach = max(reach, one.end)
    return groups


def _replace(text: str, one: Finding, rule: KindRule) -> tuple[str, str]:
    if rule.action is Action.MASK and not one.encoded:
        value = "".join(char for char in fold(text[one.start : one.end]).text if _is_plain(char))
        if len(value) >= 2 * rule.keep_last:
            return f"[{one.kind} ****{value[-rule.keep_last :]}]", Action.MASK.value
    if rule.action is Action.PSEUDONYMIZE:
        return f"[{one.kind}]", Action.PSEUDONYMIZE.value
    return f"[{one.kind}]", Action.REDACT.value


def _is_plain(char: str) -> bool:
    return char.isascii() and char.isalnum()
