"""Each wall between two owners is watched: with it taken away, a test fails."""

import pytest

from tests.mutants.removed import BEHIND_A_GRANT, SCHEMA, all_walls, policies
from tests.mutants.walls import ROOT, run, unwatched


def test_every_wall_is_where_it_is_said_to_be() -> None:
    """So that code that moves is named anew with its change, and not a week later."""
    moved = [
        (wall.name, edit.path)
        for wall in all_walls()
        for edit in wall.edits
        if (ROOT / edit.path).read_text(encoding="utf-8").count(edit.old) != 1
    ]
    assert moved == []


def test_every_test_that_should_notice_is_there() -> None:
    named = {test for wall in all_walls() for test in wall.tests}
    named |= {test for policy in policies() for test in policy.tests}
    assert {test for test in named if not (ROOT / test.partition("::")[0]).exists()} == set()


def test_a_policy_that_is_left_out_is_one_that_there_is() -> None:
    schema = SCHEMA.read_text(encoding="utf-8")
    for name in BEHIND_A_GRANT:
        table, _, policy = name.partition("-")
        assert f"CREATE POLICY {policy} ON public.{table} " in schema
    assert len(policies()) > 70


@pytest.mark.long
def test_with_any_wall_taken_away_a_test_fails() -> None:
    assert unwatched(list(run(all_walls(), with_policies=True))) == []
