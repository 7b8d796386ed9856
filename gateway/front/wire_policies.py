"""A tenant's access policy, and questions about decisions, as they look on the wire.

Rules this module keeps:
- The shape is checked here, so that the OpenAPI document says it; what the policy may say is judged
  by its lint alone, which also reads what was put before.
- What was put comes back as it was put.
"""

from typing import Annotated

from pydantic import Field, StringConstraints

from core.model import Json
from core.scope import Role
from gateway.access.overlay import MAX_CASES, MAX_PEOPLE, MAX_RULES
from gateway.front.wire import Identifier, Shown, Wire
from gateway.front.wire_admin import GrantedRole
from gateway.policies import Explained, PutPolicy, Question

MAX_TEXT = 160
"""Characters of a subject or a place: a word, a colon and a name."""

Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT)]
In = Annotated[Text, Field(alias="in")]


class PolicyRule(Wire):
    """One rule: who (`role:<role>`, `key:<key id>`, `user:<user_id>`) may, or may not, do what
    where (`tenant`, `namespace:<name>`, `space:<name>`).
    """

    subject: Text
    place: In = "tenant"
    object: Text
    verb: Text
    effect: Text


class PolicyPerson(Wire):
    """What a person may do at most, and with that whoever acts for them; `["*"]` is everywhere."""

    user_id: Text
    roles: list[Text]
    namespaces: list[Text]


class PolicySubject(Wire):
    """Whom a case is about: a credential's roles, its id, and the person it acts for."""

    roles: list[Text]
    key: Text | None = None
    user_id: Text | None = None


class PolicyCase(Wire):
    """What the policy must decide: by action, such as `memory:item:read`, `allow` or `deny`."""

    case: Text
    subject: PolicySubject
    place: In = "tenant"
    expect: dict[Text, Text]


class PolicyBody(Wire):
    """A tenant's access policy, whole. Without rules and people the base policy alone decides."""

    rules: list[PolicyRule] = Field(max_length=MAX_RULES)
    people: list[PolicyPerson] = Field(default=[], max_length=MAX_PEOPLE)
    cases: list[PolicyCase] = Field(default=[], max_length=MAX_CASES)

    def document(self) -> dict[str, Json]:
        """Return it as it was written."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class ExplainBody(Wire):
    """A decision to explain: of roles, or of an API key with its own."""

    action: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    roles: list[GrantedRole] | None = Field(default=None, max_length=len(Role))
    key_id: Identifier | None = None
    user_id: Identifier | None = None
    namespace: Identifier | None = None
    space: Identifier | None = None

    def question(self) -> Question:
        """Return it as the path takes it."""
        return Question(
            action=self.action,
            roles=None if self.roles is None else frozenset(Role(role) for role in self.roles),
            key_id=self.key_id,
            user_id=self.user_id,
            namespace=self.namespace,
            space=self.space,
        )


class PolicyVersionShown(Shown):
    """The version of the policy in force; decisions in the audit log name it."""

    version: str


class PolicyShown(PolicyVersionShown):
    """The policy in force, as it was put."""

    policy: PolicyBody


class CheckShown(Shown):
    """A rule that was asked."""

    subject: str
    place: str = Field(alias="in")
    rule: str
    effect: str


class ExplainedShown(Shown):
    """A decision, the rule that made it, and every rule that was asked."""

    allowed: bool
    rule: str
    policy_version: str
    checked: list[CheckShown]


def policy_reply(put: PutPolicy) -> dict[str, Json]:
    """Return a policy as it is shown."""
    return {"version": put.version, "policy": dict(put.document)}


def explained_reply(explained: Explained) -> dict[str, Json]:
    """Return an explanation as it is shown."""
    return {
        "allowed": explained.allowed,
        "rule": explained.rule,
        "policy_version": explained.policy_version,
        "checked": [
            {"subject": one.subject, "in": one.place, "rule": one.rule, "effect": one.effect}
            for one in explained.checked
        ],
    }
