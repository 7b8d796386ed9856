"""The detector fails loudly, sees every layer, and keeps no text."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from typing_extensions import override

from gateway.guard.normalise import normalise
from gateway.guard.pii import load_detector
from gateway.guard.pii.detector import Detector
from gateway.guard.pii.recognizer import Recognizer, Span
from gateway.guard.scan import ScanFailed, ScanTimeout


class Broken(Recognizer):
    @override
    def find(self, text):
        raise KeyError(text)


class Digits(Recognizer):
    @override
    def find(self, text):
        for at, char in enumerate(text):
            if char.isdigit():
                yield Span(at, at + 1, 0.5)


@pytest.fixture(scope="module")
def detector():
    return load_detector()


def test_a_recognizer_that_breaks_fails_the_text():
    with pytest.raises(ScanFailed) as failed:
        Detector([Broken("X")]).detect(normalise("call 1"))
    assert "call" not in str(failed.value)


def test_time_that_is_used_up_fails_the_text():
    clock = iter([0.0, 0.26])
    with pytest.raises(ScanTimeout):
        Detector([Digits("X")], timer=lambda: next(clock)).detect(normalise("call 1"))


def test_a_longer_text_has_more_time():
    clock = iter([0.0, 0.26])
    found = Detector([Digits("X")], timer=lambda: next(clock)).detect(normalise("1" + " " * 8192))
    assert [(one.start, one.end, one.score) for one in found] == [(0, 1, 0.5)]


def test_a_finding_in_a_layer_covers_its_run_and_says_so(detector):
    text = "see cm9zYSBpcyByb3NhQGhhcmJvdXIuZXhhbXBsZQ=="
    (finding,) = detector.detect(normalise(text))
    assert (finding.start, finding.end, finding.encoded) == (4, len(text), True)
    assert finding.kind == "EMAIL_ADDRESS"


def test_what_hidden_symbols_say_is_searched(detector):
    hidden = "".join(chr(0xE0000 + ord(char)) for char in "rosa@harbour.example")
    found = detector.detect(normalise(f"hi {hidden}!"))
    assert {(one.kind, one.start, one.end) for one in found} == {
        ("EMAIL_ADDRESS", 3, 3 + len(hidden))
    }


def test_threads_share_a_detector(detector):
    texts = [f"rosa{number}@harbour.example, 139{number:08d}" for number in range(200)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda text: detector.detect(normalise(text)), texts))
    for text, found in zip(texts, results, strict=True):
        assert {text[one.start : one.end] for one in found} == set(text.split(", "))


def test_findings_hold_no_text(detector):
    assert "rosa" not in repr(detector.detect(normalise("rosa@harbour.example")))


def test_the_guard_loads_without_presidio_until_it_is_asked():
    code = (
        "import sys, gateway.guard.guard, gateway.guard.guarded, gateway.guard.pii;"
        "sys.exit('presidio_analyzer' in sys.modules or 'spacy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_groups_of_digits_inside_a_uuid_are_no_number_of_a_person():
    detector = Detector()
    inside = "4251-7000-8817"  # a right Aadhaar number by itself
    assert detector.detect(normalise(f"his number is {inside}"))
    assert not detector.detect(normalise(f"sample 01a22dca-{inside}-b0d4b3ea1a06"))
    assert detector.detect(normalise(f"sample 01a22dca-{inside}-b0d4b3ea1a0"))  # no UUID
