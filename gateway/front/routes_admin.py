"""Tenants and API keys over HTTP."""

from core.scope import Action
from gateway import admin
from gateway.front.operation import Answer, Ask, Nothing, Operation
from gateway.front.wire_admin import (
    KeyBody,
    KeysShown,
    NewKeyShown,
    NewTenantShown,
    RotateBody,
    TenantBody,
    TenantsQuery,
    TenantsShown,
    keys_reply,
    new_key_reply,
    new_tenant_reply,
    tenants_reply,
)
from gateway.front.wire_memory import DeletedShown


async def create_tenant(ask: Ask[TenantBody, Nothing]) -> Answer:
    """Make a tenant, with its administrator's key."""
    made = await admin.create_tenant(ask.gate, ask.call, ask.body.name, ask.once)
    return Answer(body=new_tenant_reply(made))


async def list_tenants(ask: Ask[None, TenantsQuery]) -> Answer:
    """List tenants, oldest first."""
    page = await admin.tenants(ask.gate, ask.call, ask.query.limit, ask.query.cursor)
    return Answer(body=tenants_reply(page))


async def erase_tenant(ask: Ask[None, Nothing]) -> Answer:
    """Erase a tenant and everything it kept; its audit trail stays."""
    deleted = await admin.erase_tenant(ask.gate, ask.call, ask.names["id"])
    return Answer(body={"deleted": deleted})


async def create_key(ask: Ask[KeyBody, Nothing]) -> Answer:
    """Make an API key."""
    made = await admin.create_key(ask.gate, ask.call, ask.body.spec(), ask.once)
    return Answer(body=new_key_reply(made))


async def list_keys(ask: Ask[None, Nothing]) -> Answer:
    """List the tenant's keys, newest first."""
    return Answer(body=keys_reply(await admin.keys(ask.gate, ask.call)))


async def rotate_key(ask: Ask[RotateBody, Nothing]) -> Answer:
    """Give a key a new secret."""
    overlap = ask.body.overlap_seconds
    made = await admin.rotate_key(ask.gate, ask.call, ask.names["id"], overlap, ask.once)
    return Answer(body=new_key_reply(made), access_version=made.access_version)


async def revoke_key(ask: Ask[None, Nothing]) -> Answer:
    """End a key at once."""
    token = await admin.revoke_key(ask.gate, ask.call, ask.names["id"])
    return Answer(body=None, access_version=token)


OPERATIONS = (
    Operation(
        method="POST",
        path="/v1/admin/tenants",
        action=Action.TENANT_CREATE,
        handler=create_tenant,
        name="create_tenant",
        summary="Make a tenant, with its administrator's key",
        body=TenantBody,
        reply=NewTenantShown,
        status=201,
        refuses=frozenset({409}),
        once=True,
    ),
    Operation(
        method="GET",
        path="/v1/admin/tenants",
        action=Action.TENANT_LIST,
        handler=list_tenants,
        name="list_tenants",
        summary="List tenants, oldest first",
        query=TenantsQuery,
        reply=TenantsShown,
    ),
    Operation(
        method="DELETE",
        path="/v1/admin/tenants/{id}",
        action=Action.TENANT_ERASE,
        handler=erase_tenant,
        name="erase_tenant",
        summary="Erase a tenant and everything it kept; its audit trail stays",
        reply=DeletedShown,
        refuses=frozenset({409}),
    ),
    Operation(
        method="POST",
        path="/v1/admin/keys",
        action=Action.KEY_CREATE,
        handler=create_key,
        name="create_key",
        summary="Make an API key; its secret is shown once",
        body=KeyBody,
        reply=NewKeyShown,
        status=201,
        refuses=frozenset({409}),
        once=True,
    ),
    Operation(
        method="GET",
        path="/v1/admin/keys",
        action=Action.KEY_LIST,
        handler=list_keys,
        name="list_keys",
        summary="List the tenant's keys, newest first",
        reply=KeysShown,
    ),
    Operation(
        method="POST",
        path="/v1/admin/keys/{id}/rotate",
        action=Action.KEY_ROTATE,
        handler=rotate_key,
        name="rotate_key",
        summary="Give a key a new secret, shown once",
        body=RotateBody,
        reply=NewKeyShown,
        once=True,
        refuses=frozenset({409}),
    ),
    Operation(
        method="DELETE",
        path="/v1/admin/keys/{id}",
        action=Action.KEY_REVOKE,
        handler=revoke_key,
        name="revoke_key",
        summary="End a key at once",
        status=204,
    ),
)
