"""Over 2,000 requests generated from the OpenAPI document, on real engines over a real socket."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from core.scope import Action
from gateway.front.http import OPERATIONS
from tests.live.gateways import ALL_ROLES, Agent

EXAMPLES = 33
"""A mode; there are two modes, and more than 30 operations."""
OPERATORS = frozenset({Action.TENANT_CREATE, Action.TENANT_LIST, Action.TENANT_ERASE})


@pytest.fixture(scope="module")
def described(served):
    return schemathesis.openapi.from_url(f"{served.url}/openapi.json")


@pytest.fixture(scope="module")
def agent(served):
    """Whose tenant gets policies and quotas that chance makes: nobody else's."""
    admin = served.house.tenant()
    key = served.house.agent(admin, roles=[*ALL_ROLES, "admin"], namespaces=["*"]).key
    return Agent(served.agent.http, key, admin.tenant, "alice")


def test_there_are_two_thousand_and_more():
    assert EXAMPLES * len(list(GenerationMode)) * len(OPERATIONS) >= 2000


def excluded(operation, status):
    """Return the checks that ask for more than JSON Schema can say of an operation."""
    # A text of invisible characters, a `session_end` without a session: both are refused.
    asks = [positive_data_acceptance]
    # A batch is accepted whatever is in it, each item gets its own answer; and the check does not
    # know that a text over its bound is refused with 413.
    if operation.name == "write_memories" or status == 413:
        asks.append(negative_data_rejection)
    return asks


# Hypothesis sees that `random` was used, and cannot see that another thread did: the gateway's.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
@pytest.mark.requirement("F6")
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.name.lower())
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda op: op.name)
def test_a_generated_request_gets_no_5xx_and_only_documented_replies(
    served, described, agent, operation, mode
):
    found = described[operation.path][operation.method]
    asker = served.operator if operation.action in OPERATORS else agent
    headers = {"X-API-Key": asker.key}

    @given(case=found.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    def holds(case):
        reply = case.call(headers=headers)
        case.validate_response(reply, excluded_checks=excluded(operation, reply.status_code))

    holds()
