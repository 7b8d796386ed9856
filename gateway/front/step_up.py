"""Asking the person before a tool does what cannot be undone.

Rules this module keeps:
- Only who may do it is asked: the policy has allowed the call, and wants the person's word.
- The person is asked by the client, in a form that asks for a yes and for nothing else.
- A yes counts for the call it was asked about, from the credential it was asked of, once. No, and
  no answer, do nothing.
- A client that cannot ask is told how else the person can prove who they are.

Source: MCP 2026-07-28, elicitation and multi round-trip requests; REQUIREMENTS B9, B11.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp_types import (
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    InputResponses,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from core.errors import Denied, Invalid
from core.model import Json
from core.ports import TenantKeys
from core.scope import Action, Call
from gateway.confirmation import Claims, claim, open_confirmation, seal_confirmation
from gateway.gate import Gate

NEEDED = (
    "not done: it cannot be undone, so the person must have signed in within the last five "
    "minutes. Ask them to sign in again, then call this tool once more."
)
"""What a model is told when nobody can be asked."""
DECLINED = "not done: the person did not confirm it."

_ANSWER = "confirm"
_YES: dict[str, Any] = {
    "type": "object",
    "properties": {
        _ANSWER: {
            "type": "boolean",
            "title": "Yes, do it",
            "description": "It cannot be undone.",
            "default": False,
        }
    },
    "required": [_ANSWER],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call of a tool, and what the client brought along with it.

    Args:
        action: of the tool; None for a tool that is not there.
        state: from an earlier answer of ours that asked for something.
        answers: what the client was told.
    """

    tool: str
    action: Action | None
    arguments: Mapping[str, Json] = field(repr=False)
    state: str | None = field(repr=False)
    answers: InputResponses | None = field(repr=False)


class StepUp:
    """Asks, and takes answers.

    Args:
        gate: keys that seal the question, the clock, and the record of what was refused.
        claims: remembers which answers were used; without it nobody is asked.
    """

    def __init__(self, gate: Gate, claims: Claims | None) -> None:
        self._gate = gate
        self._claims = claims

    def possible(self, ctx: ServerRequestContext[Any, Any]) -> bool:
        """Tell whether the client says that it can ask its person."""
        if self._claims is None or ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return False  # before that revision an answer would have to find this very process
        able = ctx.session.client_capabilities
        how = None if able is None else able.elicitation
        return how is not None and (how.form is not None or how.url is None)

    async def ask(self, call: Call, asked: Asked, question: str) -> InputRequiredResult:
        """Return what makes the client ask, and then call again.

        Raises: Unavailable.
        """
        keys = await self._keys(call)
        now = await self._gate.store.now()
        form = ElicitRequestFormParams(message=question, requested_schema=_YES)
        return InputRequiredResult(
            input_requests={_ANSWER: ElicitRequest(params=form)},
            request_state=seal_confirmation(keys, call.principal, asked.tool, asked.arguments, now),
        )

    async def answered(self, call: Call, asked: Asked) -> Call | None:
        """Return the call as the person's answer leaves it: confirmed, or as it came when there is
        no answer; None when the answer is no.

        Raises:
            Invalid: the state is not of a question that this caller was asked about this call.
            Unavailable: nobody can tell.
        """
        if asked.state is None:
            return call
        try:
            yes = await self._answer(call, asked, asked.state)
        except Invalid as err:
            if asked.action is not None:
                person = asked.arguments.get("user_id")
                named = person if isinstance(person, str) else None
                await self._gate.refusals.record(call, asked.action, err, user_id=named)
            raise
        if yes is None:
            return call
        return _confirmed(call) if yes else None

    async def _answer(self, call: Call, asked: Asked, state: str) -> bool | None:
        tenant = call.principal.tenant
        if self._claims is None or tenant is None:
            raise Invalid("Nothing was asked.", field="state")
        keys = await self._keys(call)
        now = await self._gate.store.now()
        identity = open_confirmation(keys, call.principal, asked.tool, asked.arguments, now, state)
        answer = (asked.answers or {}).get(_ANSWER)
        if answer is None:
            return None
        await claim(self._claims, tenant, identity)  # a no is used up as well
        if not isinstance(answer, ElicitResult) or answer.action != "accept":
            return False
        return answer.content is not None and answer.content.get(_ANSWER) is True

    async def _keys(self, call: Call) -> TenantKeys:
        if call.principal.tenant is None:
            raise Denied(rule="no-tenant")
        return await self._gate.keyring.tenant(call.principal.tenant)


def _confirmed(call: Call) -> Call:
    return Call(
        principal=call.principal,
        request_id=call.request_id,
        trace_id=call.trace_id,
        not_before=call.not_before,
        confirmed=True,
    )
