"""The guard over one request: each string normalised, searched for secrets, personal data, topics.

Rules this module keeps:
- A secret refuses the request; it is never cleaned, since what was pasted once must be changed.
- Personal data is transformed as the policy says for the namespace, the source and the layer of a
  text. In a name by which things are looked up (a tag, a session, a key of an object) or in a
  number it refuses the request: a look-up value is hashed, and a masked one would find nothing.
- After a redaction the text is searched again, until nothing is left to find.
- Hidden text is a finding of its own, and what it says is searched like any other layer.
- A scanner that fails or runs out of time refuses the request, as `SCANNER_FAILED`. So does a
  request whose strings together need more than 250 ms of processor time for each 8 KB begun.
- A refusal names kinds and fields; no text leaves but in the fields themselves.

Source: requirement D4.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from core.errors import ContentRejected, Invalid, Reason
from core.model import Redaction, Sensitivity
from core.placeholders import words_in
from core.pseudonyms import NO_PSEUDONYM
from gateway.guard.fields import Leaf, Role, characters_of, keys_of, rebuild
from gateway.guard.judged import SCANNER_FAILED, Checked, Counts, Judged, Tally, uncounted
from gateway.guard.kinds import BEST_EFFORT
from gateway.guard.marks import Marker
from gateway.guard.normalise import normalise
from gateway.guard.pii.finding import Finding, PiiDetector
from gateway.guard.policy import NOWHERE, Action, KindRule, KindRules, PiiPolicy, TextContext
from gateway.guard.redact import SECRET, Redactor, higher, rule_of
from gateway.guard.rules import SecretRules
from gateway.guard.scan import Deadline, ScanFailed
from gateway.guard.scan_clock import scan_seconds
from gateway.guard.scanned import Scan, scanned
from gateway.guard.secrets import SecretFinding, find_secrets

IDENTIFIER_FIELDS = frozenset(
    {"name", "namespace", "purpose", "session_id", "space", "tags", "task"}
)
"""Fields that name a thing, most of them looked up or compared by a keyed hash."""

PERSON_FIELDS = frozenset({"user_id"})
"""Fields that name a person on purpose: searched for secrets only."""

_MAX_ROUNDS = 16
"""Redacting can bring a finding to light that was glued to another; a chain longer is refused."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text after redaction.

    Args:
        redactions: what was done.
        found: every finding on the way: replacing one can bring another to light.
        left: findings that the policy lets stand in `text`.
    """

    text: str = field(repr=False)
    redactions: tuple[Redaction, ...]
    found: tuple[Finding, ...]
    left: tuple[Finding, ...]


class _Placed:
    """A policy as it is for one text, with what follows from it."""

    def __init__(self, rules: KindRules) -> None:
        self.rules = rules
        self.redactor = Redactor(rules)
        self.asked = frozenset(
            kind for kind in BEST_EFFORT if rules.of(kind).action is not Action.ALLOW
        )


class Guard:
    """Checks requests against one set of rules. Holds no state between them.

    Args:
        secret_rules: what is refused.
        pii_policy: what is done to personal data, per kind.
        detector: finds personal data; warm.
        tally: told of every finding of a check or a query, refused or not.
        timer: seconds of the processor time of the thread that asks, for the deadline.
    """

    def __init__(
        self,
        secret_rules: SecretRules,
        pii_policy: PiiPolicy,
        detector: PiiDetector,
        *,
        tally: Tally = uncounted,
        timer: Callable[[], float] = scan_seconds,
    ) -> None:
        self._tally = tally
        self._timer = timer
        self._secret_rules = secret_rules
        self._policy = pii_policy
        self._detector = detector
        self._anywhere = _Placed(pii_policy.within(NOWHERE))

    @property
    def policy(self) -> PiiPolicy:
        """What is done to personal data."""
        return self._policy

    @property
    def secret_rules(self) -> SecretRules:
        """What is refused."""
        return self._secret_rules

    def under(
        self, *, policy: PiiPolicy | None = None, secrets: SecretRules | None = None
    ) -> "Guard":
        """Return the same guard with another policy or other rules; None leaves each as it is."""
        return Guard(
            secrets or self._secret_rules,
            policy or self._policy,
            self._detector,
            tally=self._tally,
            timer=self._timer,
        )

    @property
    def versions(self) -> tuple[str, str]:
        """Versions of the policy for personal data and of the rules for secrets."""
        return self._policy.version, self._secret_rules.version

    @property
    def asks_where(self) -> bool:
        """Whether the policy tells texts apart by where they stand, by source or by layer."""
        return bool(self._policy.rules)

    def check(self, fields: Mapping[str, object], context: TextContext = NOWHERE) -> Checked:
        """Return `fields` as the policy lets them through.

        Args:
            fields: name -> JSON value, such as `content`, `tags`, `metadata`, `source.ref`.
            context: where the texts are to stand, and who says them.

        Raises:
            ContentRejected: a secret, a kind the policy rejects, personal data where a name or a
                number stands, or a scanner that failed.
            Invalid: U+0000, a lone surrogate, a `content` that shows nothing, or too deep nesting.
        """
        judged = self.judge(fields, context)
        self._tally(judged.findings)
        if judged.checked is None:
            raise ContentRejected(judged.reasons)
        return judged.checked

    def judge(self, fields: Mapping[str, object], context: TextContext = NOWHERE) -> Judged:
        """Return what `check` would do, whether it would refuse or not; nothing is counted.

        Raises:
            Invalid: as `check`.
        """
        deadline = Deadline(characters_of(fields), self._timer)
        pass_ = _Pass(self, self.placed(context), deadline)
        for name, value in fields.items():
            for key in keys_of(value, name):
                pass_.visit_name(key)
        if pass_.reasons:  # before any path that names a key
            return Judged(checked=None, reasons=pass_.reasons, findings=pass_.findings)
        kept = {name: rebuild(value, name, pass_.visitor(name)) for name, value in fields.items()}
        if pass_.reasons:
            return Judged(checked=None, reasons=pass_.reasons, findings=pass_.findings)
        return Judged(
            checked=Checked(
                fields=kept,
                redactions=pass_.redactions,
                sensitivity=pass_.sensitivity,
                kinds_found=frozenset(pass_.kinds),
                expire_seconds=pass_.expire_seconds,
                marks=pass_.marker.marks,
            ),
            reasons=(),
            findings=pass_.findings,
        )

    def check_query(
        self, text: str, context: TextContext = NOWHERE, marker: Marker | None = None
    ) -> str:
        """Return a recall's query with its secrets and personal data transformed.

        A query is not kept as a memory, so nothing in it is refused: it is cleaned, and the clean
        text alone is embedded, cached and recorded.

        Args:
            context: the namespaces it is asked in, and who asks.
            marker: puts the placeholders of pseudonyms; without it they tell their kind alone.

        Raises:
            ContentRejected: a scanner failed.
            Invalid: U+0000 or a lone surrogate.
        """
        placed = self.placed(context)
        deadline = Deadline(len(text), self._timer)
        found = Counts()
        for _ in range(_MAX_ROUNDS):
            scan = self.scan(Leaf(path="query", text=text), placed)
            if scan is None or deadline.passed:
                break
            secrets = tuple(_as_finding(one) for one in scan.secrets)
            cleaned = placed.redactor.apply(text, secrets + scan.findings, "query", marker)
            if not cleaned.redactions:
                for one in scan.findings:
                    found.add("query", one.kind, rule_of(placed.rules, one.kind).action.value)
                self._tally(found.all)
                return text
            for made in cleaned.redactions:
                found.add("query", made.kind, made.action, made.count)
            text = cleaned.text
        found.add("query", SCANNER_FAILED, Action.REJECT.value)
        self._tally(found.all)
        raise ContentRejected((Reason(kind=SCANNER_FAILED, field="query"),))

    def secrets_in(self, text: str) -> frozenset[str]:
        """Return the ids of the rules for secrets that find something in `text`; none if they fail.

        Raises: Invalid.
        """
        try:
            found = find_secrets(normalise(text), self._secret_rules)
        except ScanFailed:
            return frozenset()
        return frozenset(one.rule for one in found)

    def placed(self, context: TextContext) -> _Placed:
        """Return the policy as it is in `context`."""
        if not self._policy.rules:
            return self._anywhere
        return _Placed(self._policy.within(context))

    def scan(self, leaf: Leaf, placed: _Placed | None = None) -> Scan | None:
        """Return what is in one string, or None if a scanner failed.

        Args:
            placed: the policy as it is for this text; None for one that stands nowhere.

        Raises:
            Invalid: what cannot be stored.
        """
        return scanned(leaf, self._secret_rules, self._detector, (placed or self._anywhere).asked)

    def redacted(
        self,
        leaf: Leaf,
        scan: Scan,
        placed: _Placed | None = None,
        deadline: Deadline | None = None,
        marker: Marker | None = None,
    ) -> Cleaned:
        """Return the text with its findings replaced, searched again until nothing is found.

        Args:
            placed: as in `scan`.
            deadline: of the request; None for one of this text's own.
            marker: as in `check_query`.

        Raises:
            ScanFailed: a scanner failed on the way, there was no end to it, or it took too long.
        """
        placed = placed or self._anywhere
        deadline = deadline or Deadline(len(leaf.text), self._timer)
        text = leaf.text
        done: list[Redaction] = []
        findings = scan.findings
        found = list(findings)
        for _ in range(_MAX_ROUNDS):
            result = placed.redactor.apply(text, findings, leaf.path, marker)
            if not result.redactions:
                return Cleaned(text, tuple(done), tuple(found), findings)
            text = result.text
            done.extend(result.redactions)
            again = self.scan(Leaf(path=leaf.path, text=text, label=leaf.label), placed)
            if again is None or deadline.passed:
                break
            findings = again.findings
            found.extend(findings)
        raise ScanFailed("redaction found no end")


class _Pass:
    """What one check has found so far."""

    def __init__(self, guard: Guard, placed: _Placed, deadline: Deadline) -> None:
        self._guard = guard
        self._placed = placed
        self._deadline = deadline
        self._late = False
        self._reasons: dict[Reason, None] = {}
        self._done = Counts()
        self._found = Counts()
        self.kinds: set[str] = set()
        self.sensitivity = Sensitivity.NONE
        self.expire_seconds: int | None = None
        self.marker = Marker()

    @property
    def redactions(self) -> tuple[Redaction, ...]:
        return self._done.all

    @property
    def findings(self) -> tuple[Redaction, ...]:
        return self._found.all

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return tuple(self._reasons)

    def visitor(self, name: str) -> Callable[[Leaf], str]:
        if name in PERSON_FIELDS:
            return self._visit_person
        return self.visit_name if name in IDENTIFIER_FIELDS else self._visit_value

    def visit_name(self, leaf: Leaf) -> str:
        """Judge what is looked up: nothing in it can be replaced."""
        scan = self._scanned(leaf)
        if scan is not None:
            for one in scan.findings:
                if self._rule(one).action.keeps_text:
                    self._note(one)
                else:
                    self._refuse(one.kind, leaf.path)
            self._let_through(scan.findings, leaf.path)
        if words_in(leaf.text):
            self._refuse(NO_PSEUDONYM, leaf.path)
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
        try:
            cleaned = self._guard.redacted(leaf, scan, self._placed, self._deadline, self.marker)
        except ScanFailed:
            self._fail(leaf.path)
            return leaf.text
        for one in cleaned.found:
            self._note(one)
        for made in cleaned.redactions:
            if rule_of(self._placed.rules, made.kind).action is Action.REJECT:
                self._refuse(made.kind, made.field, made.count)
            else:
                self._done.add(made.field, made.kind, made.action, made.count)
                self._found.add(made.field, made.kind, made.action, made.count)
        self._let_through(cleaned.left, leaf.path)
        return cleaned.text

    def _scanned(self, leaf: Leaf) -> Scan | None:
        if self._late:  # refused already; the rest is not looked at
            return None
        scan = self._guard.scan(leaf, self._placed)
        self._late = self._deadline.passed
        if scan is None or self._late:
            self._fail(leaf.path)
            return None
        for secret in scan.secrets:
            self._refuse(secret.kind, leaf.path)
        return scan

    def _note(self, one: Finding) -> None:
        rule = self._rule(one)
        self.kinds.add(one.kind)
        if rule.action.keeps_text:
            self.sensitivity = higher(self.sensitivity, rule.sensitivity)
            if rule.expire_seconds is not None:
                ends = (self.expire_seconds, rule.expire_seconds)
                self.expire_seconds = min(end for end in ends if end is not None)
        elif rule.sensitivity is not Sensitivity.NONE:
            self.sensitivity = higher(self.sensitivity, Sensitivity.PERSONAL)

    def _let_through(self, left: Iterable[Finding], path: str) -> None:
        """Count what stays where it is, and report what is to be told of."""
        for one in left:
            action = self._rule(one).action
            if action.keeps_text:
                self._found.add(path, one.kind, action.value)
            if action is Action.OBSERVE:
                self._done.add(path, one.kind, action.value)

    def _rule(self, one: Finding) -> KindRule:
        return rule_of(self._placed.rules, one.kind)

    def _fail(self, path: str) -> None:
        self._refuse(SCANNER_FAILED, path)

    def _refuse(self, kind: str, path: str, count: int = 1) -> None:
        self._reasons[Reason(kind=kind, field=path)] = None
        self._found.add(path, kind, Action.REJECT.value, count)


def _as_finding(one: SecretFinding) -> Finding:
    return Finding(
        kind=SECRET, start=one.start, end=one.end, score=1.0, recognizer=one.rule, encoded=True
    )
