"""What is counted of the guard's findings: kinds and actions from closed lists, nothing else."""

import threading

import pytest
from prometheus_client import CollectorRegistry

from core.model import Redaction
from gateway.telemetry import Telemetry


def finding(kind: str, action: str, count: int = 1) -> Redaction:
    return Redaction(kind=kind, action=action, field="metadata.of-rosa", count=count)


def counted(telemetry: Telemetry) -> dict[tuple[str, str], float]:
    return {
        (sample.labels["kind"], sample.labels["action"]): sample.value
        for metric in telemetry.registry.collect()
        for sample in metric.samples
        if sample.name == "memwarden_guard_findings_total"
    }


def test_findings_are_counted_by_kind_and_action() -> None:
    telemetry = Telemetry(CollectorRegistry())
    telemetry.found([finding("PHONE_NUMBER", "redact", 2), finding("SECRET.TOKEN", "reject")])
    telemetry.found([finding("PHONE_NUMBER", "redact"), finding("PHONE_NUMBER", "observe")])
    assert counted(telemetry) == {
        ("PHONE_NUMBER", "redact"): 3,
        ("PHONE_NUMBER", "observe"): 1,
        ("SECRET.TOKEN", "reject"): 1,
    }


@pytest.mark.requirement("B14")
def test_a_word_that_is_on_no_list_is_no_label() -> None:
    telemetry = Telemetry(CollectorRegistry())
    telemetry.found([finding("rosa@harbour.example", "redact"), finding("QQ", "13800138000")])
    assert counted(telemetry) == {("other", "redact"): 1, ("QQ", "other"): 1}


def test_threads_count_together() -> None:
    telemetry = Telemetry(CollectorRegistry())

    def count() -> None:
        for _ in range(500):
            telemetry.found([finding("QQ", "redact")])

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert counted(telemetry) == {("QQ", "redact"): 2000}
