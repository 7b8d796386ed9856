"""A tenant's own policies for personal data and for secrets, from the documents an administrator
puts to a guard in force.

Rules this module keeps:
- A document is accepted whole or not at all. A fault names its place in the document and says what
  is wanted, never what was there.
- Over a profile it may change what is done with each kind, but lower the class of none: what is
  sensitive expires and stays out of the index, whoever lets it through.
- Of the rules for secrets it takes none away; it adds its own.
- It brings its own cases: a document that says something of kinds or has rules and no case, a rule
  for secrets that no case is refused by, or a case that comes out otherwise, is refused. A profile
  by itself was tried before it was shipped.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import Field, field_validator

from core.errors import FieldFault
from core.model import Json, Sensitivity
from gateway.guard.cases import CaseEntry, HasCases, failing
from gateway.guard.guard import Guard
from gateway.guard.policy import (
    TOO_LONG,
    Action,
    KindRule,
    OwnKinds,
    PiiPolicy,
    PolicyRule,
    RuleEntries,
    rules_of,
)
from gateway.guard.policy_file import MAX_FAULTS, PolicyInvalid, checked
from gateway.guard.rules import OwnSecretEntry

PII: Final = "pii"
SECRETS: Final = "secrets"
PROFILES: Final = ("balanced", "strict", "observe")
MAX_BYTES: Final = 1 << 20
MAX_OWN_SECRETS: Final = 64
EMPTY: Final[Mapping[str, Mapping[str, Json]]] = {
    PII: {"kinds": {}, "rules": [], "cases": []},
    SECRETS: {"rules": [], "cases": []},
}
"""What a tenant without a policy of its own has put, as far as a reader can tell."""


class _PiiDocument(HasCases):
    profile: Literal["balanced", "strict", "observe"] | None = None
    kinds: OwnKinds = Field(default_factory=dict)
    rules: RuleEntries = Field(default_factory=list)


class _SecretsDocument(HasCases):
    rules: Annotated[list[OwnSecretEntry], Field(max_length=MAX_OWN_SECRETS)] = Field(
        default_factory=list
    )

    @field_validator("rules")
    @classmethod
    def _distinct(cls, value: list[OwnSecretEntry]) -> list[OwnSecretEntry]:
        if len({entry.id for entry in value}) != len(value):
            raise ValueError("two rules share an id")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """What the deployment brings, over which tenants' own stand.

    Args:
        guard: with the policy for whoever has none of their own.
        profiles: by name.
    """

    guard: Guard
    profiles: Mapping[str, PiiPolicy] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """Of everything in it: a document's cases came out over this very version, or not."""
        said = [*self.guard.versions, *(one.version for one in self.profiles.values())]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """A document that reads well.

    Args:
        guard: over what was shipped.
        empty: it says nothing: what was shipped is in force.
        needs_a_case: it says what nobody has tried.
        cases: of the document.
        secrets: ids of its own rules for secrets, in its order.
    """

    guard: Guard
    empty: bool
    needs_a_case: bool
    cases: tuple[CaseEntry, ...] = field(repr=False)
    secrets: tuple[str, ...] = ()


def version_of(document: Mapping[str, Json]) -> str:
    """Return the version of a document: 12 hex digits."""
    contents = json.dumps(document, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(contents.encode()).hexdigest()[:12]


def parse(kind: str, document: Mapping[str, Json], shipped: Shipped, over: Guard) -> Own:
    """Return what `document` says.

    Args:
        kind: `PII` or `SECRETS`.
        over: the guard that it changes: one with the other of the tenant's own, or as shipped.

    Raises:
        PolicyInvalid: it is refused; at most 20 faults, in its order.
    """
    version = version_of(document)
    if kind == PII:
        source = checked(_PiiDocument, document)
        base = shipped.guard.policy if source.profile is None else shipped.profiles[source.profile]
        return Own(
            guard=over.under(policy=_policy(source, base, version)),
            empty=source.profile is None and not source.kinds and not source.rules,
            needs_a_case=bool(source.kinds or source.rules),
            cases=tuple(source.cases),
        )
    rules = checked(_SecretsDocument, document)
    own = shipped.guard.secret_rules.with_own([entry.rule() for entry in rules.rules], version)
    return Own(
        guard=over.under(secrets=own),
        empty=not rules.rules,
        needs_a_case=bool(rules.rules),
        cases=tuple(rules.cases),
        secrets=tuple(entry.rule().id for entry in rules.rules),
    )


def try_cases(kind: str, own: Own) -> None:
    """Try the cases of a document.

    Raises:
        PolicyInvalid: one comes out otherwise, or is missing.
    """
    if own.needs_a_case and not own.cases:
        raise PolicyInvalid(FieldFault(field="cases", message="At least one case is needed."))
    guard = own.guard if kind == PII else own.guard.under(policy=_KEEPS_ALL)
    if faults := failing(guard, own.cases):
        raise PolicyInvalid(*faults)
    seen = {rule for case in own.cases for rule in guard.secrets_in(case.text)}
    if missed := [number for number, rule in enumerate(own.secrets) if rule not in seen]:
        said = "No case is refused by this rule."
        raise PolicyInvalid(
            *(FieldFault(field=f"rules[{number}]", message=said) for number in missed[:MAX_FAULTS])
        )


_KEEPS_ALL: Final = PiiPolicy(
    version="keeps-all",
    default=KindRule(action=Action.ALLOW, sensitivity=Sensitivity.NONE),
    kinds=MappingProxyType({}),
)
"""Under which a case about secrets is about secrets alone."""


def _policy(source: _PiiDocument, base: PiiPolicy, version: str) -> PiiPolicy:
    """Return `base` with what a tenant says over it."""
    kinds = dict(base.kinds)
    said = []
    for kind, entry in source.kinds.items():
        rule = PolicyRule(
            asks=entry.asked(), kinds=frozenset({kind}), sensitivity=entry.sensitivity
        )
        kinds[kind] = rule.of(base.entry(kind))
        if kinds[kind].expire_seconds != entry.expire_seconds:
            raise PolicyInvalid(FieldFault(field=f"kinds.{kind}.expire_seconds", message=TOO_LONG))
        said.append(rule)
    own = rules_of(source.rules, kinds, base.default)
    if not base.rules:
        return PiiPolicy(
            version=version, default=base.default, kinds=MappingProxyType(kinds), rules=own
        )
    # The profile has rules of its own: what the tenant says of a kind comes before them.
    return PiiPolicy(
        version=version,
        default=base.default,
        kinds=base.kinds,
        rules=(*own, *said, *base.rules),
    )
