"""What a policy asks for personal data: an action for each kind, namespace, source and layer.

Rules this module keeps:
- An unknown kind, action, source, layer or field, or a name that is no namespace, refuses the whole
  policy.
- Rules are tried in their order and the first that matches decides; then the kind's own entry; then
  the default. A condition on what a text has not got is not met.
- A text that stands in several namespaces, or in any, is treated as the strictest of them asks.
- A rule never lowers the class of a kind.
- Text that nobody sees is redacted or rejected, whatever a policy says of all kinds.
- A topic is left as it is said unless a policy names it: what a policy asks for all kinds is meant
  for identifiers and names, and would cut sentences to pieces. Its class counts all the same.
- A topic is never replaced: what tells of it is a word or two, and what is told is the sentence. A
  policy that asks for it is refused, since the rest would stay and pass for cleaned.
- What expires because it is sensitive does so within a day, whatever a policy asks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, Protocol, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from core.errors import FieldFault, Invalid
from core.model import Layer, Sensitivity
from core.scope import SourceKind
from gateway.guard.identifiers import check_identifier
from gateway.guard.kinds import HIDDEN_TEXT, KINDS, SENSITIVE_TOPICS, SPECIAL_TOPICS, TOPICS
from gateway.guard.policy_file import PolicyInvalid, Strict, Version, parsed, read

MAX_RULES: Final = 256
SENSITIVE_SECONDS: Final = 24 * 3600
"""What is sensitive lives no longer (core.keeping)."""
MAX_EXPIRE_SECONDS: Final = 10 * 366 * 24 * 3600


class Action(StrEnum):
    """What is done with a finding, mildest first.

    - allow: the text stays; its kind decides the memory's class.
    - observe: as allow, and it is reported.
    - expire: the text stays, and the memory expires at most so long after it was written.
    - mask: a placeholder that ends with the last few characters.
    - pseudonymize: a placeholder that is the same for the same value of the same person.
    - redact: a placeholder of the kind.
    - reject: the request is refused.
    """

    ALLOW = "allow"
    OBSERVE = "observe"
    EXPIRE = "expire"
    MASK = "mask"
    PSEUDONYMIZE = "pseudonymize"
    REDACT = "redact"
    REJECT = "reject"

    @property
    def keeps_text(self) -> bool:
        """Whether the finding stays readable where it stands."""
        return self in _KEEPS_TEXT


_KEEPS_TEXT = frozenset({Action.ALLOW, Action.OBSERVE, Action.EXPIRE})
_STRICTNESS = {action: place for place, action in enumerate(Action)}
_CLASSES = tuple(Sensitivity)
"""Least sensitive first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRule:
    """What a policy asks for one kind.

    Args:
        keep_last: characters that a mask leaves readable, 0 to 4.
        expire_seconds: of `expire`: how long the memory lives at most, over 0.
        sensitivity: class of a memory in which a finding was let through.
    """

    action: Action
    keep_last: int = 0
    expire_seconds: int | None = None
    sensitivity: Sensitivity = Sensitivity.PERSONAL

    @property
    def strictness(self) -> tuple[int, int, int, int]:
        """Order of rules: by action, fewer characters left, a shorter life, a higher class."""
        return (
            _STRICTNESS[self.action],
            -self.keep_last,
            -(self.expire_seconds or 0),
            _CLASSES.index(self.sensitivity),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TextContext:
    """What a policy decides by, beside the kind.

    Args:
        namespaces: names of the namespaces the text stands in: one for a memory, several for a
            query, none for a name that an administrator gives; None means any.
        source: None where nobody said it.
        layer: None for what is no memory.
    """

    namespaces: frozenset[str] | None = frozenset()
    source: SourceKind | None = None
    layer: Layer | None = None


NOWHERE: Final = TextContext()
"""Of a text that is in no namespace, from no source and of no layer."""


class KindRules(Protocol):
    """Says what is asked for each kind there is."""

    def of(self, kind: str) -> KindRule:
        """Return the rule for `kind`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """One rule of a policy; a condition that is None is always met.

    Args:
        kinds: those it is about; None for all but hidden text and topics.
        asks: what it asks; its class counts only where `sensitivity` is not None.
        sensitivity: the class is at least this; None leaves each kind the one it has anyway.
    """

    asks: KindRule
    kinds: frozenset[str] | None = None
    namespaces: frozenset[str] | None = None
    sources: frozenset[SourceKind] | None = None
    layers: frozenset[Layer] | None = None
    sensitivity: Sensitivity | None = None

    def matches(
        self, kind: str, namespace: str | None, source: SourceKind | None, layer: Layer | None
    ) -> bool:
        """Tell whether it decides on a kind in one namespace, from one source, in one layer."""
        return (
            (kind in self.kinds if self.kinds is not None else kind not in _UNNAMED)
            and (self.namespaces is None or namespace in self.namespaces)
            and (self.sources is None or source in self.sources)
            and (self.layers is None or layer in self.layers)
        )

    def of(self, otherwise: KindRule) -> KindRule:
        """Return what it asks for a kind that would get `otherwise` without it."""
        sensitivity = otherwise.sensitivity
        if self.sensitivity is not None:
            sensitivity = max(sensitivity, self.sensitivity, key=_CLASSES.index)
        seconds = self.asks.expire_seconds
        if seconds is not None and sensitivity is Sensitivity.SENSITIVE:
            seconds = min(seconds, SENSITIVE_SECONDS)
        return KindRule(
            action=self.asks.action,
            keep_last=self.asks.keep_last,
            expire_seconds=seconds,
            sensitivity=sensitivity,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PiiPolicy:
    """What is done with each kind of personal data, where; `of` answers for every kind there is.

    Args:
        default: for a kind without an entry; hidden text without one is rejected, and a topic
            without one is let through, a sensitive one for a day.
        kinds: entries.
        rules: tried before the entries, in this order.
    """

    version: str
    default: KindRule
    kinds: Mapping[str, KindRule]
    rules: tuple[PolicyRule, ...] = ()

    def of(self, kind: str, context: TextContext = NOWHERE) -> KindRule:
        """Return what is asked for `kind` in `context`."""
        entry = self.entry(kind)
        if not self.rules:
            return entry
        return max(
            (self._first(kind, entry, name, context) for name in self._namespaces(context)),
            key=lambda rule: rule.strictness,
        )

    def entry(self, kind: str) -> KindRule:
        """Return what is asked for `kind` where no rule matches."""
        return _entry(kind, self.kinds, self.default)

    def within(self, context: TextContext) -> "PolicyWithin":
        """Return the policy as it is for one text, for many questions about it."""
        return PolicyWithin(self, context)

    def _first(
        self, kind: str, entry: KindRule, namespace: str | None, context: TextContext
    ) -> KindRule:
        for rule in self.rules:
            if rule.matches(kind, namespace, context.source, context.layer):
                return rule.of(entry)
        return entry

    def _namespaces(self, context: TextContext) -> Iterable[str | None]:
        """Return what to try: None is a namespace that no rule names."""
        if context.namespaces is not None:
            return context.namespaces or (None,)
        named = {name for rule in self.rules for name in rule.namespaces or ()}
        return (None, *named)


class PolicyWithin:
    """A policy as it is for one text; remembers what it answered."""

    def __init__(self, policy: PiiPolicy, context: TextContext) -> None:
        self._policy = policy
        self._context = context
        self._known: dict[str, KindRule] = {}

    def of(self, kind: str) -> KindRule:
        """Return what is asked for `kind`."""
        rule = self._known.get(kind)
        if rule is None:
            rule = self._known[kind] = self._policy.of(kind, self._context)
        return rule


_SPECIAL: Final = KindRule(action=Action.ALLOW, sensitivity=Sensitivity.SPECIAL)
_SENSITIVE: Final = KindRule(
    action=Action.EXPIRE, expire_seconds=SENSITIVE_SECONDS, sensitivity=Sensitivity.SENSITIVE
)
_UNNAMED: Final[Mapping[str, KindRule]] = MappingProxyType(
    {HIDDEN_TEXT: KindRule(action=Action.REJECT, sensitivity=Sensitivity.NONE)}
    | dict.fromkeys(SPECIAL_TOPICS, _SPECIAL)
    | dict.fromkeys(SENSITIVE_TOPICS, _SENSITIVE)
)
"""What is done with kinds that no policy means unless it names them."""


def _entry(kind: str, kinds: Mapping[str, KindRule], default: KindRule) -> KindRule:
    """Return what entries ask for a kind, before any rule."""
    return kinds.get(kind) or _UNNAMED.get(kind, default)


def load_pii_policy(path: Path) -> PiiPolicy:
    """Return the policy in a file. Raises: PolicyInvalid."""
    return parse_pii_policy(read(path))


def parse_pii_policy(text: str) -> PiiPolicy:
    """Return the policy that `text` (YAML) describes. Raises: PolicyInvalid."""
    source = parsed(_PiiFile, text)
    kinds = {kind: entry.rule() for kind, entry in source.kinds.items()}
    return PiiPolicy(
        version=source.version,
        default=source.defaults.rule(),
        kinds=MappingProxyType(kinds),
        rules=rules_of(source.rules, kinds, source.defaults.rule()),
    )


def rules_of(
    entries: Iterable["RuleEntry"], kinds: Mapping[str, KindRule], default: KindRule
) -> tuple[PolicyRule, ...]:
    """Return the rules that `entries` describe.

    Args:
        kinds, default: what the policy asks without them.

    Raises:
        PolicyInvalid: one lets a sensitive kind that it names live longer than a day.
    """
    made = []
    for number, entry in enumerate(entries):
        rule = entry.placed()
        seconds = rule.asks.expire_seconds or 0
        for kind in sorted(rule.kinds or ()) if seconds > SENSITIVE_SECONDS else ():
            if rule.of(_entry(kind, kinds, default)).sensitivity is Sensitivity.SENSITIVE:
                raise PolicyInvalid(
                    FieldFault(field=f"rules[{number}].expire_seconds", message=TOO_LONG)
                )
        made.append(rule)
    return tuple(made)


TOO_LONG: Final = f"what is sensitive lives at most {SENSITIVE_SECONDS} seconds"


def _namespace(value: str) -> str:
    try:
        return check_identifier("namespace", value)
    except Invalid as err:
        raise ValueError(err.detail) from err


def _kind(value: str) -> str:
    if value not in KINDS:
        raise ValueError("unknown kind of personal data")
    return value


KindName = Annotated[str, AfterValidator(_kind)]
Namespace = Annotated[str, AfterValidator(_namespace)]


class _ActionEntry(Strict):
    """An action with what belongs to it."""

    action: Action
    keep_last: Annotated[int, Field(ge=1, le=4)] | None = None
    expire_seconds: Annotated[int, Field(ge=1, le=MAX_EXPIRE_SECONDS)] | None = None

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        if (self.action is Action.MASK) != (self.keep_last is not None):
            raise ValueError("keep_last belongs to mask, and mask needs it")
        if (self.action is Action.EXPIRE) != (self.expire_seconds is not None):
            raise ValueError("expire_seconds belongs to expire, and expire needs it")
        return self


class KindEntry(_ActionEntry):
    """What a policy says of one kind, or of all that it does not name."""

    sensitivity: Sensitivity = Sensitivity.PERSONAL

    @model_validator(mode="after")
    def _ends_soon(self) -> Self:
        if self.sensitivity is Sensitivity.SENSITIVE and (
            (self.expire_seconds or 0) > SENSITIVE_SECONDS
        ):
            raise ValueError(TOO_LONG)
        return self

    def rule(self) -> KindRule:
        """Return what it asks."""
        return KindRule(
            action=self.action,
            keep_last=self.keep_last or 0,
            expire_seconds=self.expire_seconds,
            sensitivity=self.sensitivity,
        )


class OwnKindEntry(_ActionEntry):
    """What is said of a kind over what a policy says of it; a class that is left out stays."""

    sensitivity: Sensitivity | None = None

    def asked(self) -> KindRule:
        """Return what it asks, but for the class."""
        return KindRule(
            action=self.action,
            keep_last=self.keep_last or 0,
            expire_seconds=self.expire_seconds,
        )


class RuleEntry(OwnKindEntry):
    """One rule as a policy spells it; a condition that is left out is always met."""

    kinds: Annotated[list[KindName], Field(min_length=1, max_length=len(KINDS))] | None = None
    namespaces: Annotated[list[Namespace], Field(min_length=1, max_length=256)] | None = None
    sources: Annotated[list[SourceKind], Field(min_length=1, max_length=16)] | None = None
    layers: Annotated[list[Layer], Field(min_length=1, max_length=16)] | None = None

    @model_validator(mode="after")
    def _can_be_done(self) -> Self:
        for kind in self.kinds or ():
            _check_possible(kind, self.action)
        return self

    def placed(self) -> PolicyRule:
        """Return the rule."""
        return PolicyRule(
            asks=self.asked(),
            kinds=None if self.kinds is None else frozenset(self.kinds),
            namespaces=None if self.namespaces is None else frozenset(self.namespaces),
            sources=None if self.sources is None else frozenset(self.sources),
            layers=None if self.layers is None else frozenset(self.layers),
            sensitivity=self.sensitivity,
        )


def _check_possible(kind: str, action: Action) -> None:
    if kind == HIDDEN_TEXT and action not in (Action.REDACT, Action.REJECT):
        raise ValueError(f"{HIDDEN_TEXT} is redacted or rejected")
    if kind in TOPICS and not (action.keeps_text or action is Action.REJECT):
        raise ValueError(
            f"{kind} is a topic of whole sentences and cannot be replaced in them:"
            " allow, observe, expire or reject it"
        )


def _own_kinds(value: dict[str, OwnKindEntry]) -> dict[str, OwnKindEntry]:
    for kind, entry in value.items():
        _check_possible(kind, entry.action)
    return value


OwnKinds = Annotated[dict[KindName, OwnKindEntry], AfterValidator(_own_kinds)]
RuleEntries = Annotated[list[RuleEntry], Field(max_length=MAX_RULES)]


class _PiiFile(Strict):
    version: Version
    defaults: KindEntry
    kinds: dict[str, KindEntry]
    rules: RuleEntries = Field(default_factory=list)

    @field_validator("kinds")
    @classmethod
    def _known(cls, value: dict[str, KindEntry]) -> dict[str, KindEntry]:
        if unknown := sorted(set(value) - KINDS):
            raise ValueError(f"unknown kinds: {', '.join(unknown)}")
        for kind, entry in value.items():
            _check_possible(kind, entry.action)
        return value
