"""docs/guard.md says of every kind how it is told and how well, and promises no more than that."""

import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.guard_texts import KINDS as MEASURED
from gateway.guard.kinds import BEST_EFFORT, KINDS, SENSITIVE_TOPICS, SPECIAL_TOPICS, TOPICS

DOCUMENT = (Path(__file__).parents[3] / "docs" / "guard.md").read_text(encoding="utf-8")


def rows(heading):
    part = DOCUMENT.partition(f"\n{heading}")[2].partition("\n## ")[0]
    return [line.split("|")[1:-1] for line in part.splitlines() if line.startswith("| ")]


def named(row):
    return set(re.findall(r"`([A-Z_]+)`", row[0]))


@pytest.mark.requirement("D8")
def test_every_kind_is_listed_once_and_best_effort_is_called_so():
    table = [row for row in rows("## Personal data is transformed") if named(row)]
    assert sorted(kind for row in table for kind in named(row)) == sorted(KINDS - TOPICS)
    assert {kind for row in table if "best effort" in row[1] for kind in named(row)} == BEST_EFFORT


@pytest.mark.requirement("D8")
def test_every_topic_is_listed_with_its_class_and_figures_in_both_languages():
    table = [row for row in rows("## Sensitivity") if named(row)]
    listed = [(kind, row[1].strip()) for row in table for kind in named(row) if len(row) == 3]
    special = [(kind, "`special`") for kind in SPECIAL_TOPICS]
    sensitive = [(kind, "`sensitive`") for kind in SENSITIVE_TOPICS]
    assert sorted(listed) == sorted(special + sensitive)
    measured = [(kind, row[1].strip()) for row in table for kind in named(row) if len(row) > 3]
    assert sorted(measured) == sorted((kind, of) for kind in TOPICS for of in ("en", "zh"))


@pytest.mark.requirement("D8")
def test_every_measured_kind_has_its_figures_with_intervals_in_both_languages():
    figures: dict[str, Any] = {}
    for row in rows("## Measured"):
        for kind in named(row):
            figures.setdefault(kind, []).append(row)
    assert set(figures) == {kind.name for kind in MEASURED}
    interval = re.compile(r" \d+\.\d \(\d+\.\d-\d+\.\d\) ")
    for made in figures.values():
        assert all(interval.fullmatch(cell) for row in made for cell in row[2:4])


def test_it_promises_no_anonymity():
    assert "anonym" not in DOCUMENT.lower()
