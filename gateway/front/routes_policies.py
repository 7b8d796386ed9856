"""A tenant's access policy over HTTP."""

from core.scope import Action
from gateway import policies
from gateway.front.operation import Answer, Ask, Nothing, Operation
from gateway.front.wire_policies import (
    ExplainBody,
    ExplainedShown,
    PolicyBody,
    PolicyShown,
    PolicyVersionShown,
    explained_reply,
    policy_reply,
)


async def put_policy(ask: Ask[PolicyBody, Nothing]) -> Answer:
    """Put the access policy in force, whole."""
    put = await policies.put_access_policy(ask.gate, ask.call, ask.body.document())
    return Answer(body={"version": put.version}, access_version=put.access_version)


async def get_policy(ask: Ask[None, Nothing]) -> Answer:
    """Read the access policy as it was put."""
    return Answer(body=policy_reply(await policies.access_policy(ask.gate, ask.call)))


async def explain(ask: Ask[ExplainBody, Nothing]) -> Answer:
    """Say what would be decided, and by which rules."""
    told = await policies.explain(ask.gate, ask.call, ask.body.question())
    return Answer(body=explained_reply(told))


OPERATIONS = (
    Operation(
        method="PUT",
        path="/v1/admin/policies/access",
        action=Action.POLICY_WRITE,
        handler=put_policy,
        name="put_access_policy",
        summary="Put the tenant's access policy in force, whole",
        body=PolicyBody,
        reply=PolicyVersionShown,
    ),
    Operation(
        method="GET",
        path="/v1/admin/policies/access",
        action=Action.POLICY_READ,
        handler=get_policy,
        name="get_access_policy",
        summary="Read the tenant's access policy",
        reply=PolicyShown,
    ),
    Operation(
        method="POST",
        path="/v1/admin/policies/access/explain",
        action=Action.POLICY_EXPLAIN,
        handler=explain,
        name="explain_access",
        summary="Explain a decision",
        body=ExplainBody,
        reply=ExplainedShown,
    ),
)
