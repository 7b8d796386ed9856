"""What the guard would do with a text: asked by an administrator, kept nowhere.

Rules this module keeps:
- The text meets the rules that a write would meet and ends here: it is not stored, embedded,
  counted or logged, and the audit log says only that somebody asked.
- What is refused comes back as kinds and fields; no part of the text comes with them.
- A placeholder of a pseudonym tells its kind alone: the words are a person's, and nobody is asked
  about.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Final

from core.keeping import expiry
from core.model import Draft, Layer, Redaction, Sensitivity
from core.placeholders import placeholder, replaced
from core.scope import Action, Call, SourceKind
from gateway.gate import Gate
from gateway.guard.fields import characters_of
from gateway.guard.guard import Guard
from gateway.guard.identifiers import check_identifier
from gateway.guard.judged import Checked, Judged
from gateway.guard.policy import TextContext
from gateway.recording import record
from gateway.refusing import refusing

OBJECT: Final = "guard"
"""What the audit event says was touched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A text that could be written.

    Args:
        namespace: where to; None for one that no rule of the policy names.
        source: by which channel it would come, taken at its word.
        ref: of the source.
    """

    content: str = field(repr=False)
    namespace: str | None = field(default=None, repr=False)
    source: SourceKind = SourceKind.USER_DIRECT
    ref: str | None = field(default=None, repr=False)
    layer: Layer = Layer.SEMANTIC


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What would become of it.

    Args:
        content: as it would be kept; None where it would be refused.
        findings: what was found and what is done with it, one entry a field, kind and action.
        sensitivity: class that a memory of it would have; None where it would be refused.
        expires_in_seconds: how long it would be kept at most; None for as long as it is wanted.
        policy_version: of the policy for personal data and of the rules for secrets.
    """

    content: str | None = field(repr=False)
    findings: tuple[Redaction, ...]
    sensitivity: Sensitivity | None
    expires_in_seconds: int | None
    policy_version: str


async def preview(gate: Gate, call: Call, proposed: Proposed) -> Preview:
    """Say what a write of `proposed` would make of its text.

    Raises:
        Denied, Outdated: the caller may not ask.
        Invalid: what no memory can hold, or no name can be.
        Unavailable: too many texts wait to be judged, or there is no record to note it in.
    """
    action = Action.GUARD_PREVIEW
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        if proposed.namespace is not None:
            check_identifier("namespace", proposed.namespace)
        guard = await gate.guards.of(call.principal)
        judged = await gate.lanes.run(
            scope.tenant,
            characters_of([proposed.content, proposed.ref]),
            partial(_judged, guard, proposed),
        )
        async with gate.directory.admin(scope) as view:
            await record(view, scope, OBJECT)
            now = view.now
        findings, version = judged.findings, "/".join(guard.versions)
        checked = judged.checked
        if checked is None:
            return Preview(
                content=None,
                findings=findings,
                sensitivity=None,
                expires_in_seconds=None,
                policy_version=version,
            )
        draft = Draft(content="", layer=proposed.layer)
        ends = expiry(draft, checked.sensitivity, checked.expire_seconds, now=now)
        return Preview(
            content=_shown(checked),
            findings=findings,
            sensitivity=checked.sensitivity,
            expires_in_seconds=None if ends is None else round((ends - now).total_seconds()),
            policy_version=version,
        )


def _judged(guard: Guard, proposed: Proposed) -> Judged:
    named = () if proposed.namespace is None else (proposed.namespace,)
    return guard.judge(
        {"content": proposed.content, "source.ref": proposed.ref, "namespace": list(named)},
        TextContext(namespaces=frozenset(named), source=proposed.source, layer=proposed.layer),
    )


def _shown(checked: Checked) -> str:
    def told(kind: str, word: str) -> str:
        return f"[{kind}]" if word in checked.marks else placeholder(kind, word)

    return replaced(checked.fields["content"], told)
