"""Quotas over HTTP."""

from core.scope import Action
from gateway import quotas
from gateway.front.operation import Answer, Ask, Nothing, Operation
from gateway.front.wire_quotas import QuotasBody, QuotasShown, quotas_reply


async def put_quotas(ask: Ask[QuotasBody, Nothing]) -> Answer:
    """Put quotas in force, whole."""
    made = await quotas.put(ask.gate, ask.call, ask.body.quotas())
    return Answer(body=quotas_reply(made), access_version=made.access_version)


async def get_quotas(ask: Ask[None, Nothing]) -> Answer:
    """Return the quotas in force."""
    return Answer(body=quotas_reply(await quotas.get(ask.gate, ask.call)))


OPERATIONS = (
    Operation(
        method="PUT",
        path="/v1/admin/quotas",
        action=Action.QUOTA_WRITE,
        handler=put_quotas,
        name="put_quotas",
        summary="Put the tenant's quotas in force, whole",
        body=QuotasBody,
        reply=QuotasShown,
    ),
    Operation(
        method="GET",
        path="/v1/admin/quotas",
        action=Action.QUOTA_READ,
        handler=get_quotas,
        name="get_quotas",
        summary="The quotas in force",
        reply=QuotasShown,
    ),
)
