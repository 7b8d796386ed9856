"""`memwarden user` against a gateway that runs, under a tenant's own policy for personal data."""

from collections.abc import Callable

import pytest

from tests.live.gateways import Agent, Running
from tests.live.test_admin_commands import Shell


@pytest.mark.requirement("D6")
def test_a_memory_is_revealed_for_a_purpose(live: Running, tenant: Callable[[], Agent]) -> None:
    owner = tenant()
    case = {"case": "a word", "text": "at 139-0013-9000", "kept": "at [PHONE_NUMBER]"}
    policy = {"kinds": {"PHONE_NUMBER": {"action": "pseudonymize"}}, "cases": [case]}
    put = owner.call("PUT", "/v1/admin/policies/pii", json=policy)
    assert put.status_code == 200, put.text
    alice = live.agent(owner, "alice")
    memory = alice.stored("Kay is at 138-0013-8000", metadata={"work": "13900139000"})
    assert "8000" not in alice.get(memory).text
    shell = Shell(live, alice.key)
    shown = shell("user", "reveal", memory, "--user", "alice", "--purpose", "ticket 7").splitlines()
    assert shown[:2] == ["Kay is at 138-0013-8000", "work: 13900139000"]
    assert shown[2].startswith("(2 values shown; on record: event ")
    raw = shell.json("user", "reveal", memory, "--user", "alice", "--purpose", "ticket 7")
    assert raw["purpose"] in shown[2]
    assert "not_found" in shell.refused(
        *("user", "reveal", memory, "--user", "bob", "--purpose", "ticket 7")
    )
    assert "PHONE_NUMBER" in shell.refused(
        *("user", "reveal", memory, "--user", "alice", "--purpose", "call 138-0013-8000")
    )
    shell.refused("user", "reveal", "../x", "--user", "alice", "--purpose", "ticket 7")
