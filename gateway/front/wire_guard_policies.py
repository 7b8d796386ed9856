"""A tenant's policies for personal data and for secrets, as they look on the wire.

Rules this module keeps:
- The shape is checked here, so that the OpenAPI document says it; what a policy may say is judged
  by its lint alone, which also reads what was put before.
- What was put comes back as it was put.
"""

from typing import Annotated

from pydantic import Field, StringConstraints

from core.model import Json
from gateway.front.wire import Shown, Wire
from gateway.front.wire_policies import PolicyVersionShown
from gateway.guard.cases import MAX_CASES, MAX_TEXT, MAX_TITLE
from gateway.guard.kinds import KINDS
from gateway.guard.overlay import MAX_OWN_SECRETS
from gateway.guard.policy import MAX_RULES

Word = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=128)]
Title = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TITLE)]
CaseText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
KeptText = Annotated[str, StringConstraints(min_length=1, max_length=2 * MAX_TEXT)]
PatternText = Annotated[str, StringConstraints(min_length=1, max_length=2_048)]


class GuardCase(Wire):
    """What the policy must make of a text: `kept` as it says, or `rejected` for a kind."""

    case: Title
    text: CaseText
    namespace: Name | None = None
    source: Word | None = None
    layer: Word | None = None
    kept: KeptText | None = None
    rejected: Word | None = None
    sensitivity: Word | None = None
    expire_seconds: int | None = None


class PiiKind(Wire):
    """What is done with a kind: `allow`, `observe`, `expire`, `mask`, `pseudonymize`, `redact` or
    `reject`; the class of what is let through can be raised, not lowered.
    """

    action: Word
    keep_last: int | None = None
    expire_seconds: int | None = None
    sensitivity: Word | None = None


class PiiRule(PiiKind):
    """What is done where: the first rule whose conditions are all met decides."""

    kinds: list[Word] | None = Field(default=None, max_length=len(KINDS))
    namespaces: list[Name] | None = Field(default=None, max_length=256)
    sources: list[Word] | None = Field(default=None, max_length=16)
    layers: list[Word] | None = Field(default=None, max_length=16)


class PiiPolicyBody(Wire):
    """A tenant's policy for personal data, whole: a profile (`balanced`, `strict`, `observe`; left
    out, the deployment's) and what differs from it. An empty one leaves the deployment's in force.
    """

    profile: Word | None = None
    kinds: dict[Word, PiiKind] = Field(default={}, max_length=len(KINDS))
    rules: list[PiiRule] = Field(default=[], max_length=MAX_RULES)
    cases: list[GuardCase] = Field(default=[], max_length=MAX_CASES)

    def document(self) -> dict[str, Json]:
        """Return it as it was written."""
        return self.model_dump(exclude_unset=True)


class SecretRule(Wire):
    """One more way a secret looks: docs/guard.md says what each field means."""

    id: Word
    kind: Word
    pattern: PatternText
    keywords: list[Word] = Field(max_length=32)
    ignore_case: bool = False
    judge: Word = "none"
    entropy_bits: float = 0.0
    squeeze: bool = False
    until: Word | None = None


class SecretsPolicyBody(Wire):
    """A tenant's own rules for secrets, whole, beside the shipped ones."""

    rules: list[SecretRule] = Field(default=[], max_length=MAX_OWN_SECRETS)
    cases: list[GuardCase] = Field(default=[], max_length=MAX_CASES)

    def document(self) -> dict[str, Json]:
        """Return it as it was written."""
        return self.model_dump(exclude_unset=True)


class PiiPolicyShown(PolicyVersionShown, Shown):
    """The policy in force, as it was put."""

    policy: PiiPolicyBody


class SecretsPolicyShown(PolicyVersionShown, Shown):
    """The policy in force, as it was put."""

    policy: SecretsPolicyBody
