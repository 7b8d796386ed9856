"""The dashboard for Grafana asks for metrics and labels that there are."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from core.errors import ContentRejected, Reason
from core.model import Redaction
from gateway.telemetry import FOUND, Telemetry

DASHBOARDS = sorted((Path(__file__).parents[2] / "docs" / "grafana").glob("*.json"))
_METRIC = re.compile(r"\b(memwarden_\w+)(?:\{([^}]*)\})?")
_LABEL = re.compile(r'(\w+)\s*(=~|=)\s*"([^"]*)"')
_BY = re.compile(r"by \(([^)]*)\)")


async def lived() -> CollectorRegistry:
    """Return a registry in which everything has happened once."""
    telemetry = Telemetry(CollectorRegistry())
    actions = ("allow", "observe", "expire", "mask", "pseudonymize", "redact", "reject")
    telemetry.found(
        Redaction(kind=kind, action=action, field="content", count=1)
        for kind in sorted(FOUND)
        for action in actions
    )
    with pytest.raises(ContentRejected):
        async with telemetry.step("guard"):
            raise ContentRejected((Reason(kind="SECRET.TOKEN", field="content"),))
    return telemetry.registry


def asked(dashboard: dict[str, Any]) -> list[str]:
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_every_panel_asks_for_what_there_is(path: Path) -> None:
    registry = asyncio.run(lived())
    samples = [sample for metric in registry.collect() for sample in metric.samples]
    dashboard = json.loads(path.read_text(encoding="utf-8"))
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    for expression in asked(dashboard):
        found = _METRIC.findall(expression)
        assert found, expression
        for name, conditions in found:
            mine = [sample.labels for sample in samples if sample.name == name]
            assert mine, f"no metric {name}"
            for label, how, value in _LABEL.findall(conditions):
                wanted = set(value.split("|")) if how == "=~" else {value}
                assert wanted <= {labels.get(label) for labels in mine}, (name, label)
            for grouped in _BY.findall(expression):
                assert set(grouped.replace(" ", "").split(",")) <= set(mine[0]), expression


def test_there_is_one_for_the_guard() -> None:
    assert [path.stem for path in DASHBOARDS] == ["guard"]
