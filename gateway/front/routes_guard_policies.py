"""A tenant's policies for personal data and for secrets over HTTP."""

from core.scope import Action
from gateway import guard_policies
from gateway.front.operation import Answer, Ask, Nothing, Operation
from gateway.front.wire_guard_policies import (
    PiiPolicyBody,
    PiiPolicyShown,
    SecretsPolicyBody,
    SecretsPolicyShown,
)
from gateway.front.wire_policies import PolicyVersionShown, policy_reply
from gateway.guard.overlay import PII, SECRETS


async def put_pii(ask: Ask[PiiPolicyBody, Nothing]) -> Answer:
    """Put the policy for personal data in force, whole."""
    put = await guard_policies.put(ask.gate, ask.call, PII, ask.body.document())
    return Answer(body={"version": put.version}, access_version=put.access_version)


async def get_pii(ask: Ask[None, Nothing]) -> Answer:
    """Read the policy for personal data as it was put."""
    return Answer(body=policy_reply(await guard_policies.get(ask.gate, ask.call, PII)))


async def put_secrets(ask: Ask[SecretsPolicyBody, Nothing]) -> Answer:
    """Put the tenant's own rules for secrets in force, whole."""
    put = await guard_policies.put(ask.gate, ask.call, SECRETS, ask.body.document())
    return Answer(body={"version": put.version}, access_version=put.access_version)


async def get_secrets(ask: Ask[None, Nothing]) -> Answer:
    """Read the tenant's own rules for secrets as they were put."""
    return Answer(body=policy_reply(await guard_policies.get(ask.gate, ask.call, SECRETS)))


OPERATIONS = (
    Operation(
        method="PUT",
        path="/v1/admin/policies/pii",
        action=Action.POLICY_WRITE,
        handler=put_pii,
        name="put_pii_policy",
        summary="Put the tenant's policy for personal data in force, whole",
        body=PiiPolicyBody,
        reply=PolicyVersionShown,
    ),
    Operation(
        method="GET",
        path="/v1/admin/policies/pii",
        action=Action.POLICY_READ,
        handler=get_pii,
        name="get_pii_policy",
        summary="Read the tenant's policy for personal data",
        reply=PiiPolicyShown,
    ),
    Operation(
        method="PUT",
        path="/v1/admin/policies/secrets",
        action=Action.POLICY_WRITE,
        handler=put_secrets,
        name="put_secrets_policy",
        summary="Put the tenant's own rules for secrets in force, whole",
        body=SecretsPolicyBody,
        reply=PolicyVersionShown,
    ),
    Operation(
        method="GET",
        path="/v1/admin/policies/secrets",
        action=Action.POLICY_READ,
        handler=get_secrets,
        name="get_secrets_policy",
        summary="Read the tenant's own rules for secrets",
        reply=SecretsPolicyShown,
    ),
)
