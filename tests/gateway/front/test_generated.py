"""Requests generated from the OpenAPI document: no 5xx, and no reply that it does not have."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from gateway.front.http import OPERATIONS
from tests.gateway.front.conftest import KEY, House

HEADERS = {"Host": "localhost", "Authorization": f"Bearer {KEY}"}
EXAMPLES = 15


@pytest.fixture(scope="module")
def described():
    """The document once, over stubs that each test replaces by its own."""
    made: dict[str, Any] = {}

    def make(paths):
        if not made:
            made["schema"] = schemathesis.openapi.from_asgi(
                "/openapi.json", House(paths).app, headers={"Host": "localhost"}
            )
        return made["schema"]

    return make


def excluded(operation, status):
    """Return the checks that ask for more than JSON Schema can say of an operation."""
    # A text of invisible characters, a `session_end` without a session: both are refused.
    asks = [positive_data_acceptance]
    # A batch is accepted whatever is in it, each item gets its own answer; and the check does not
    # know that a text over its bound is refused with 413.
    if operation.name == "write_memories" or status == 413:
        asks.append(negative_data_rejection)
    return asks


@pytest.mark.requirement("F6")
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.name.lower())
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda op: op.name)
def test_every_generated_request_gets_a_documented_reply(described, paths, operation, mode):
    found = described(paths)[operation.path][operation.method]

    @given(case=found.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    def holds(case):
        reply = case.call(headers=HEADERS)
        case.validate_response(reply, excluded_checks=excluded(operation, reply.status_code))

    holds()
