"""What was refused is in the log before the caller hears of it."""

from types import SimpleNamespace
from typing import Any

import pytest

from core.errors import (
    Conflict,
    ContentRejected,
    Denied,
    Invalid,
    NotFound,
    Outdated,
    PreconditionFailed,
    Reason,
    Throttled,
    TooLarge,
    Unavailable,
)
from core.ids import SYSTEM_TENANT, KeyId, TenantId, new_uuid
from core.ports import PolicyRow
from core.scope import Action, Call, Principal, Role, Standing
from gateway.access.enforcer import Enforcer
from gateway.access.loader import load
from gateway.access.refusals import AuditRefusals
from gateway.refusing import refusing
from gateway.resources import data_path
from tests.gateway.access.directory import NOON, FakeDirectory, FakeLog, make_keyring

pytestmark = pytest.mark.requirement("C13")

TENANT = TenantId(new_uuid())
RULES = load(data_path("policies", "access"))


def call(*roles, tenant=TENANT, users=None) -> Call:
    principal = Principal(
        tenant=tenant,
        key_id=KeyId("abcdefgh234567zz"),
        roles=frozenset(roles),
        namespaces=None,
        users=users,
    )
    return Call(principal=principal, request_id="r-1", trace_id="f" * 32)


@pytest.fixture
async def keyring():
    return await make_keyring(TENANT)


@pytest.fixture
def log():
    return FakeLog()


@pytest.fixture
def refusals(log, keyring):
    return AuditRefusals(log, keyring, Enforcer(RULES, FakeDirectory(), keyring))


@pytest.mark.parametrize("policy", ["", "replaced meanwhile"])
async def test_a_call_that_lost_its_rights_on_the_way_is_logged(log, keyring, policy):
    directory = FakeDirectory()
    if policy:
        row = PolicyRow(kind="access", version="another", sealed=b"")
        directory.policies[TENANT, "access"] = row
    gate: Any = SimpleNamespace(
        refusals=AuditRefusals(log, keyring, Enforcer(RULES, directory, keyring))
    )
    principal = Principal(
        tenant=TENANT,
        key_id=KeyId("abcdefgh234567zz"),
        roles=frozenset({Role.READER}),
        namespaces=None,
        users=None,
        standing=Standing(epoch=1, policy=policy),
    )
    one = Call(principal=principal, request_id="r-1")
    with pytest.raises(Outdated):
        async with refusing(gate, one, Action.MEMORY_RECALL, "alice"):
            raise Outdated
    (event,) = log.events
    assert event.outcome == "outdated"
    assert (event.decision, event.policy_version) == (
        ("deny", policy) if policy else ("allow", RULES.version)
    )


async def test_a_denied_call_is_logged_with_the_rule_that_denied_it(refusals, log, keyring):
    error = Denied(rule="person-outside-credential")
    await refusals.record(call(Role.READER), Action.MEMORY_RECALL, error, user_id="alice")
    (event,) = log.events
    keys = await keyring.tenant(TENANT)
    assert event.tenant == TENANT
    assert event.at == NOON
    assert (event.decision, event.rule) == ("deny", "person-outside-credential")
    assert (event.outcome, event.count) == ("forbidden", 0)
    assert (event.action, event.object) == ("memory:item:recall", "memories")
    assert event.policy_version == RULES.version
    assert event.actor == keys.blind("actor", "abcdefgh234567zz").hex()
    assert event.on_behalf_of == keys.blind("person", "alice").hex()
    assert (event.request_id, event.trace_id) == ("r-1", "f" * 32)
    assert "alice" not in repr(event)


@pytest.mark.parametrize(
    "error",
    [
        NotFound(),
        Invalid(field="content"),
        TooLarge(),
        Conflict(),
        PreconditionFailed(),
        Throttled(),
        ContentRejected((Reason(kind="SECRET.JWT", field="content"),) * 3),
    ],
    ids=lambda error: error.code,
)
async def test_what_the_policy_allowed_and_failed_otherwise_keeps_its_rule(refusals, log, error):
    await refusals.record(call(Role.WRITER), Action.MEMORY_WRITE, error)
    (event,) = log.events
    assert (event.decision, event.outcome) == ("allow", error.code)
    assert event.rule == "p:role:writer,memory:item,write"
    assert event.count == (3 if isinstance(error, ContentRejected) else 0)


async def test_a_malformed_call_of_somebody_who_may_not_is_logged_as_denied(refusals, log):
    await refusals.record(call(Role.READER), Action.MEMORY_WRITE, Invalid())
    (event,) = log.events
    assert (event.decision, event.rule, event.outcome) == ("deny", "default-deny", "invalid")


async def test_a_pinned_person_is_logged_when_the_call_named_none(refusals, log, keyring):
    pinned = call(Role.READER, users=frozenset({"alice"}))
    await refusals.record(pinned, Action.MEMORY_RECALL, NotFound())
    keys = await keyring.tenant(TENANT)
    assert log.events[0].on_behalf_of == keys.blind("person", "alice").hex()


@pytest.mark.parametrize("name", [None, "", "*", "a\ud800", "x" * 10_000], ids=ascii)
async def test_what_is_no_name_is_logged_as_nobody(refusals, log, name):
    await refusals.record(call(Role.READER), Action.MEMORY_RECALL, Invalid(), user_id=name)
    assert log.events[0].on_behalf_of is None


async def test_a_refused_operator_is_logged_in_the_systems_chain(refusals, log):
    await refusals.record(
        call(Role.OPERATOR, tenant=None), Action.MEMORY_READ, Denied(), user_id="alice"
    )
    (event,) = log.events
    assert event.tenant == SYSTEM_TENANT
    assert event.on_behalf_of is None


@pytest.mark.parametrize("action", Action)
async def test_every_action_has_a_class_of_things(refusals, log, action):
    await refusals.record(call(), action, Denied())
    assert log.events[0].object.isalpha()


async def test_without_a_log_there_is_no_refusal_either(refusals, log):
    log.down = True
    with pytest.raises(Unavailable):
        await refusals.record(call(), Action.MEMORY_READ, Denied())
