"""The guard over one request: each string normalised, searched for secrets, then personal data.

Rules this module keeps:
- A secret refuses the request; it is never cleaned, since what was pasted once must be changed.
- Personal data is transformed as the policy says. In a name by which things are looked up (a tag, a
  session, a key of an object) or in a number it refuses the request: a look-up value is hashed, and
  a masked one would find nothing.
- After a redaction the text is searched again, until nothing is left to find.
- Hidden text is a finding of its own, and what it says is searched like any other layer.
- A scanner that fails or runs out of time refuses the request, as `SCANNER_FAILED`.
- A refusal names kinds and fields; no text leaves but in the fields themselves.

Source: requirement D4.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import ContentRejected, GatewayError, Invalid, Reason
from core.model import Redaction, Sensitivity
from gateway.guard.fields import Leaf, Role, keys_of, rebuild
from gateway.guard.kinds import BEST_EFFORT, HIDDEN_TEXT
from gateway.guard.normalise import Normalised, normalise
from gateway.guard.pii.finding import Finding, PiiDetector
from gateway.guard.redact import SECRET, Redactor, higher
from gateway.guard.rules import Action, KindRule, PiiPolicy, SecretRules
from gateway.guard.scan import ScanFailed
from gateway.guard.secrets import SecretFinding, find_secrets

IDENTIFIER_FIELDS = frozenset({"name", "namespace", "session_id", "space", "tags", "task"})
"""Fields that name a thing, most of them looked up by a keyed hash."""

PERSON_FIELDS = frozenset({"user_id"})
"""Fields that name a person on purpose: searched for secrets only."""

SCANNER_FAILED = "SCANNER_FAILED"

_MAX_ROUNDS = 16
"""Redacting can bring a finding to light that was glued to another; a chain longer is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A request that passed: its fields, and what was done to them.

    Args:
        fields: the same names; lists stay lists, mappings become dicts.
        redactions: one entry for each field, kind and action.
        sensitivity: the highest class among kinds let through; `personal` if any was transformed.
        kinds_found: what was found, whatever was done.
    """

    fields: dict[str, Any] = field(repr=False)
    redactions: tuple[Redaction, ...]
    sensitivity: Sensitivity
    kinds_found: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Scan:
    normalised: Normalised
    secrets: tuple[SecretFinding, ...]
    findings: tuple[Finding, ...]


class Guard:
    """Checks requests against one set of rules. Holds no state between them.

    Args:
        secret_rules: what is refused.
        pii_policy: what is done to personal data, per kind.
        detector: finds personal data; warm.
    """

    def __init__(
        self, secret_rules: SecretRules, pii_policy: PiiPolicy, detector: PiiDetector
    ) -> None:
        self._secret_rules = secret_rules
        self._policy = pii_policy
        self._detector = detector
        self._redactor = Redactor(pii_policy)
        self._asked = frozenset(
            kind for kind in BEST_EFFORT if pii_policy.of(kind).action is not Action.ALLOW
        )

    def check(self, fields: Mapping[str, object]) -> Checked:
        """Return `fields` as the policy lets them through.

        Args:
            fields: name -> JSON value, such as `content`, `tags`, `metadata`, `source.ref`.

        Raises:
            ContentRejected: a secret, a kind the policy rejects, personal data where a name or a
                number stands, or a scanner that failed.
            Invalid: U+0000, a lone surrogate, a `content` that shows nothing, or too deep nesting.
        """
        pass_ = _Pass(self)
        for name, value in fields.items():
            for key in keys_of(value, name):
                pass_.visit_name(key)
        pass_.refuse()
        kept = {name: rebuild(value, name, pass_.visitor(name)) for name, value in fields.items()}
        pass_.refuse()
        return Checked(
            fields=kept,
            redactions=tuple(pass_.redactions),
            sensitivity=pass_.sensitivity,
            kinds_found=frozenset(pass_.kinds),
        )

    def check_query(self, text: str) -> str:
        """Return a recall's query with its secrets and personal data transformed.

        A query is not kept as a memory, so nothing in it is refused: it is cleaned, and the clean
        text alone is embedded, cached and recorded.

        Raises:
            ContentRejected: a scanner failed.
            Invalid: U+0000 or a lone surrogate.
        """
        for _ in range(_MAX_ROUNDS):
            scan = self.scan(Leaf(path="query", text=text))
            if scan is None:
                break
            secrets = tuple(_as_finding(one) for one in scan.secrets)
            cleaned = self._redactor.apply(text, secrets + scan.findings, "query")
            if not cleaned.redactions:
                return text
            text = cleaned.text
        raise ContentRejected((Reason(kind=SCANNER_FAILED, field="query"),))

    def scan(self, leaf: Leaf) -> _Scan | None:
        """Return what is in one string, or None if a scanner failed.

        A value is read behind its label, as in "phone: 62781234": the key says what the value is.

        Raises:
            Invalid: what cannot be stored.
        """
        label = f"{leaf.label}: " if leaf.label else ""
        try:
            normalised = normalise(label + leaf.text, field=leaf.path)
            secrets = find_secrets(normalised, self._secret_rules)
            findings = (*_hidden(normalised), *self._detect(normalised))
        except GatewayError:
            raise
        except Exception:  # noqa: BLE001 - whatever broke, the text was not judged: it is refused
            return None
        cut = len(label)
        return _Scan(
            normalised, secrets, tuple(_behind(one, cut) for one in findings if one.end > cut)
        )

    def _detect(self, normalised: Normalised) -> tuple[Finding, ...]:
        if self._asked:
            return self._detector.detect(normalised, self._asked)
        return self._detector.detect(normalised)

    def redacted(self, leaf: Leaf, scan: _Scan) -> tuple[str, list[Redaction]]:
        """Return the text with its findings replaced, searched again until nothing is found.

        Raises:
            ScanFailed: a scanner failed on the way, or there was no end to it.
        """
        text = leaf.text
        done: list[Redaction] = []
        findings = scan.findings
        for _ in range(_MAX_ROUNDS):
            result = self._redactor.apply(text, findings, leaf.path)
            if not result.redactions:
                return text, done
            text = result.text
            done.extend(result.redactions)
            again = self.scan(Leaf(path=leaf.path, text=text, label=leaf.label))
            if again is None:
                break
            findings = again.findings
        raise ScanFailed("redaction found no end")

    def rule(self, kind: str) -> KindRule:
        """Return what the policy asks for `kind`."""
        return self._policy.of(kind)


class _Pass:
    """What one check has found so far."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._reasons: dict[Reason, None] = {}
        self._counts: dict[tuple[str, str, str], int] = {}
        self.kinds: set[str] = set()
        self.sensitivity = Sensitivity.NONE

    @property
    def redactions(self) -> list[Redaction]:
        return [
            Redaction(kind=kind, action=action, field=path, count=count)
            for (path, kind, action), count in self._counts.items()
        ]

    def refuse(self) -> None:
        """Raise ContentRejected if there is a reason to."""
        if self._reasons:
            raise ContentRejected(tuple(self._reasons))

    def visitor(self, name: str) -> Callable[[Leaf], str]:
        if name in PERSON_FIELDS:
            return self._visit_person
        return self.visit_name if name in IDENTIFIER_FIELDS else self._visit_value

    def visit_name(self, leaf: Leaf) -> str:
        """Judge what is looked up: nothing in it can be replaced."""
        scan = self._scanned(leaf)
        if scan is not None:
            for one in scan.findings:
                if self._guard.rule(one.kind).action is Action.ALLOW:
                    self._note(one, leaf.path)
                else:
                    self._reason(one.kind, leaf.path)
        return leaf.text

    def _visit_person(self, leaf: Leaf) -> str:
        self._scanned(leaf)
        return leaf.text

    def _visit_value(self, leaf: Leaf) -> str:
        if leaf.role is Role.NUMBER:
            return self.visit_name(leaf)
        scan = self._scanned(leaf)
        if scan is None:
            return leaf.text
        if leaf.path == "content" and scan.normalised.blank:
            raise Invalid("The content shows nothing: it is empty or invisible.", field="content")
        for one in scan.findings:
            self._note(one, leaf.path)
        try:
            text, redactions = self._guard.redacted(leaf, scan)
        except ScanFailed:
            self._reason(SCANNER_FAILED, leaf.path)
            return leaf.text
        for made in redactions:
            key = made.field, made.kind, made.action
            self._counts[key] = self._counts.get(key, 0) + made.count
        return text

    def _scanned(self, leaf: Leaf) -> _Scan | None:
        scan = self._guard.scan(leaf)
        if scan is None:
            self._reason(SCANNER_FAILED, leaf.path)
            return None
        for secret in scan.secrets:
            self._reason(secret.kind, leaf.path)
        return scan

    def _note(self, one: Finding, path: str) -> None:
        rule = self._guard.rule(one.kind)
        self.kinds.add(one.kind)
        if rule.action is Action.REJECT:
            self._reason(one.kind, path)
        elif rule.action is Action.ALLOW:
            self.sensitivity = higher(self.sensitivity, rule.sensitivity)
        elif rule.sensitivity is not Sensitivity.NONE:
            self.sensitivity = higher(self.sensitivity, Sensitivity.PERSONAL)

    def _reason(self, kind: str, path: str) -> None:
        self._reasons[Reason(kind=kind, field=path)] = None


def _hidden(normalised: Normalised) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            kind=HIDDEN_TEXT,
            start=one.start,
            end=one.end,
            score=1.0,
            recognizer="normaliser",
            encoded=True,
        )
        for one in normalised.findings
    )


def _behind(one: Finding, cut: int) -> Finding:
    """Return the finding with its span moved from the labelled text to the value."""
    if not cut:
        return one
    return Finding(
        kind=one.kind,
        start=max(0, one.start - cut),
        end=one.end - cut,
        score=one.score,
        recognizer=one.recognizer,
        encoded=one.encoded,
    )


def _as_finding(one: SecretFinding) -> Finding:
    return Finding(
        kind=SECRET, start=one.start, end=one.end, score=1.0, recognizer=one.rule, encoded=True
    )
