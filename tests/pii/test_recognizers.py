"""Each recognizer against what it must find and what it must leave: the cases in recognizers/."""

from pathlib import Path

import pytest
import yaml

from gateway.guard.kinds import BEST_EFFORT
from gateway.guard.normalise import normalise
from gateway.guard.pii import load_detector
from gateway.guard.pii.recognizers import every_recognizer

FILES = sorted((Path(__file__).parent / "recognizers").glob("*.yaml"))


def cases():
    for file in FILES:
        suite = yaml.safe_load(file.read_text(encoding="utf-8"))
        for case in suite["cases"]:
            name = f"{file.stem}: {case['name']}"
            yield pytest.param(suite["kind"], case["text"], case["found"], id=name)


@pytest.fixture(scope="module")
def detector():
    return load_detector()


@pytest.mark.parametrize(("kind", "text", "found"), list(cases()))
def test_a_recognizer_finds_these_and_nothing_else(detector, kind, text, found):
    findings = detector.detect(normalise(text), BEST_EFFORT if kind else frozenset())
    spans = sorted({(f.start, f.end) for f in findings if kind in (None, f.kind)})
    assert [text[start:end] for start, end in spans] == found


def test_every_recognizer_has_its_cases():
    modules = {type(one).__module__.rpartition(".")[2] for one in every_recognizer()}
    assert {file.stem for file in FILES} == modules | {"nothing"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_kind_has_a_true_case_and_a_near_miss(file):
    cases = yaml.safe_load(file.read_text(encoding="utf-8"))["cases"]
    assert any(not case["found"] for case in cases)
    assert file.stem == "nothing" or any(case["found"] for case in cases)
