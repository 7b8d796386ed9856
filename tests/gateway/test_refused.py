"""What is refused leaves no trace of whom it was about."""

from typing import Any

import pytest

from tests.house import House


@pytest.mark.parametrize(
    "refused",
    [
        {"expires_at": "2020-01-01T00:00:00Z"},
        {"metadata": {"note": "my password is Tr0ub4dor&3x"}},
        {"space": "nowhere"},
    ],
)
def test_a_refused_write_makes_no_person_and_no_namespace(
    house: House, refused: dict[str, Any]
) -> None:
    agent = house.someone()
    reply = agent.try_write("a thing", user_id="never seen", **refused)
    assert reply.status_code in (404, 422), reply.text
    with house.below("users", "namespaces") as connection:
        for table in ("users", "namespaces"):
            found = connection.execute(
                f"SELECT count(*) FROM {table} WHERE tenant = %s",
                [agent.tenant],
            )
            assert found.fetchone() == (0,), table
