"""A text is read in few passes: what no sign of is there is not looked for."""

from collections import Counter
from collections.abc import Iterator
from unittest import mock

import pytest

from gateway.guard.kinds import BEST_EFFORT
from gateway.guard.normalise import normalise
from gateway.guard.pii.detector import Detector
from gateway.guard.pii.recognizer import Recognizer, Span
from gateway.guard.pii.recognizers import every_recognizer
from gateway.guard.pii.together import Together


class Counted:
    """A detector over every recognizer that counts which of them read a text."""

    def __init__(self) -> None:
        self.reads: Counter[str] = Counter()
        self.recognizers = every_recognizer()
        for one in self.recognizers:
            self._count(one)
        self.detector = Detector(self.recognizers)

    def _count(self, one: Recognizer) -> None:
        find, name = one.find, type(one).__name__

        def counted(text: str) -> Iterator[Span]:
            self.reads[name] += 1
            return find(text)

        one.find = counted  # type: ignore[method-assign]

    def read(self, text: str) -> int:
        """Return how many recognizers read `text`."""
        self.reads.clear()
        self.detector.detect(normalise(text))
        return self.reads.total()


@pytest.fixture(scope="module")
def counted() -> Counted:
    return Counted()


@pytest.mark.parametrize(
    "text",
    [
        "She would rather sit by the window, and the tea should be hot.",
        "她喜欢靠窗的座位，茶要热的。",
        "Elle préfère s'asseoir près de la fenêtre.",
    ],
)
def test_a_text_without_any_sign_is_read_by_no_recognizer(counted: Counted, text: str) -> None:
    with mock.patch.object(Together, "analyze") as engine:
        assert counted.read(text) == 0
    assert not engine.called  # nor is Presidio asked at all


@pytest.mark.parametrize(
    "text",
    ["call me on +44 20 7946 0958 before noon", "write to rosa@harbour.example",
     "the meeting is at 14:30 in room 12", "他的手机是13800138000"],
)  # fmt: skip
def test_a_text_with_a_sign_is_read_once_by_a_part_of_them(counted: Counted, text: str) -> None:
    read = counted.read(text)
    assert 0 < read <= len(counted.recognizers) // 2
    assert max(counted.reads.values()) == 1


def test_signs_are_few_however_many_recognizers_there_are(counted: Counted) -> None:
    identifiers = [one for one in counted.recognizers if one.kind not in BEST_EFFORT]
    signs = {one.sign for one in identifiers}
    assert len(signs) <= len(identifiers) // 3


def test_more_words_of_one_kind_add_no_pass(counted: Counted) -> None:
    one = counted.read("call 020 7946 0958")
    many = counted.read("call 020 7946 0958 " * 50)
    assert many == one
