"""How many requests a tenant has open in one process."""

import contextlib

import pytest

from core.errors import Throttled
from core.ids import TenantId, new_uuid
from gateway.front.limits import Slots, budget_headers

pytestmark = pytest.mark.requirement("F7")


def open_as_many(slots: Slots, tenant: TenantId | None, own: int | None = None) -> int:
    """Take slots until one is refused; returns how many were had."""
    with contextlib.ExitStack() as held:
        for taken in range(1000):
            try:
                held.enter_context(slots.hold(tenant, own))
            except Throttled:
                return taken
    raise AssertionError


@pytest.mark.parametrize(("own", "had"), [(None, 8), (3, 3), (1, 1), (8, 8), (9, 8), (10**9, 8)])
def test_a_tenants_own_bound_makes_it_fewer_and_never_more(own, had):
    slots = Slots(8)
    tenant = TenantId(new_uuid())
    assert open_as_many(slots, tenant, own) == had
    assert open_as_many(slots, tenant, own) == had  # all were given back


def test_a_tenant_that_has_all_of_its_slots_has_none_of_another():
    slots = Slots(8)
    with contextlib.ExitStack() as held:
        noisy = TenantId(new_uuid())
        for _ in range(8):
            held.enter_context(slots.hold(noisy))
        with pytest.raises(Throttled):
            held.enter_context(slots.hold(noisy))
        assert open_as_many(slots, TenantId(new_uuid())) == 8
        assert open_as_many(slots, None) == 8


def test_a_slot_is_given_back_when_its_request_fails():
    slots, tenant = Slots(1), TenantId(new_uuid())
    for _ in range(3):
        with pytest.raises(LookupError), slots.hold(tenant):
            raise LookupError
    assert open_as_many(slots, tenant) == 1


def test_where_no_budget_was_charged_nothing_is_said():
    assert budget_headers(None) == []
