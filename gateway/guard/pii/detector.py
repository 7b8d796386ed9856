"""Runs Presidio's engine with our recognizers over every reading of a text.

Rules this module keeps:
- Presidio gets its no-op language engine. Names, places and the like are told by word lists and
  their surroundings, and by a spaCy model if there is one (`ner`); they are looked for only when
  asked.
- Decoded layers are scanned too; their findings cover the encoded original.
- Out of time, or an exception in a recognizer, is `ScanTimeout` or `ScanFailed`: never a pass.
- Findings carry spans and kinds, no text.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from presidio_analyzer import AnalyzerEngine, RecognizerRegistry, RecognizerResult
from presidio_analyzer.context_aware_enhancers import ContextAwareEnhancer
from presidio_analyzer.nlp_engine import NlpArtifacts, NoOpNlpEngine
from typing_extensions import override

from gateway.guard.kinds import BEST_EFFORT, MODEL_KINDS
from gateway.guard.normalise import Normalised, normalise
from gateway.guard.pii.context import hide_placeholders
from gateway.guard.pii.finding import Finding, PiiDetector
from gateway.guard.pii.recognizer import LANGUAGE, Recognizer
from gateway.guard.pii.recognizers import every_recognizer
from gateway.guard.pii.together import Together
from gateway.guard.scan import ScanFailed, ScanText, ScanTimeout
from gateway.guard.scan_clock import scan_seconds

if TYPE_CHECKING:
    from gateway.guard.pii.ner import LanguageModel

SECONDS_PER_BLOCK = 0.25
"""Time for each 8 KB begun."""

BLOCK_CHARACTERS = 8192


_SURE = 0.6
"""From this score on a rule's word for a name counts more than the model's."""


class _NoContext(ContextAwareEnhancer):
    """Leaves the scores alone: our recognizers judge their own context."""

    def __init__(self) -> None:
        super().__init__(
            context_similarity_factor=0.0,
            min_score_with_context_similarity=0.0,
            context_prefix_count=0,
            context_suffix_count=0,
        )

    @override
    def enhance_using_context(
        self,
        text: str,
        raw_results: list[RecognizerResult],
        nlp_artifacts: NlpArtifacts,
        recognizers: Sequence[object],
        context: list[str] | None = None,
    ) -> list[RecognizerResult]:
        return raw_results


_UUID = re.compile(
    r"(?<![0-9A-Za-z-])[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    r"(?![0-9A-Za-z-])",
    re.IGNORECASE,
)
"""Source: RFC 9562, 4: with its version and variant."""


class _Engine:
    """Presidio's engine over some recognizers."""

    def __init__(self, recognizers: Sequence[Recognizer]) -> None:
        self._together = Together(recognizers)
        language = NoOpNlpEngine(models=[{"lang_code": LANGUAGE, "model_name": "none"}])
        language.load()
        self._artifacts = language.process_text("", LANGUAGE)
        self._engine = AnalyzerEngine(
            registry=RecognizerRegistry(
                recognizers=[self._together],
                supported_languages=[LANGUAGE],
            ),
            nlp_engine=language,
            supported_languages=[LANGUAGE],
            context_aware_enhancer=_NoContext(),
        )

    def analyze(self, text: str) -> list[RecognizerResult]:
        # Most texts hold no sign that a recognizer starts from; the engine is not asked about them.
        if not self._together.is_worth_reading(text):
            return []
        return self._engine.analyze(text, LANGUAGE, nlp_artifacts=self._artifacts)


class Detector(PiiDetector):
    """Finds personal data; holds no state between texts and may be shared by threads.

    Args:
        recognizers: all of ours when left out.
        seconds_per_block: the budget for each 8 KB begun.
        timer: seconds of this thread's processor time, for the deadline: a machine that is busy
            with other things must not make the guard refuse.
        model: tells names, places and organisations; none when left out.
    """

    def __init__(
        self,
        recognizers: Sequence[Recognizer] | None = None,
        seconds_per_block: float = SECONDS_PER_BLOCK,
        timer: Callable[[], float] = scan_seconds,
        model: "LanguageModel | None" = None,
    ) -> None:
        every = tuple(every_recognizer() if recognizers is None else recognizers)
        identifiers = tuple(one for one in every if one.kind not in BEST_EFFORT)
        self._identifiers = _Engine(identifiers)
        # Built only where there is more to ask for: Presidio pays for each kind it is asked about.
        self._everything = _Engine(every) if len(every) > len(identifiers) else self._identifiers
        self._seconds_per_block = seconds_per_block
        self._timer = timer
        self._model = model

    def warm(self) -> None:
        """Touch what is loaded on first use, such as the numbering plans of the regions."""
        text = normalise("a@b.example +86 138 0013 8000 020 7946 0958 192.0.2.1")
        for layer in text.layers:
            self._scan(layer, BEST_EFFORT)  # without the deadline: loading takes its time, once

    @override
    def detect(
        self, normalised: Normalised, asked: frozenset[str] = frozenset()
    ) -> tuple[Finding, ...]:
        """Return the personal data in a text; spans are of the original.

        Args:
            normalised: the text and its readings.
            asked: best-effort kinds (`gateway.guard.kinds`) to look for besides the identifiers.

        Raises:
            ScanTimeout: over 250 ms for each 8 KB begun.
            ScanFailed: a recognizer broke.
        """
        blocks = 1 + len(normalised.original) // BLOCK_CHARACTERS
        deadline = self._timer() + self._seconds_per_block * blocks
        found: dict[Finding, None] = {}
        for layer in normalised.layers:
            for finding in self._scan(layer, asked):
                found[finding] = None
            if self._timer() > deadline:
                raise ScanTimeout("personal data")
        return tuple(found)

    def _scan(self, layer: ScanText, asked: frozenset[str]) -> list[Finding]:
        text = hide_placeholders(layer.skeleton)
        engine = self._everything if asked else self._identifiers
        try:
            results = engine.analyze(text)
            named = list(self._named(text, layer, asked, results))
        except Exception as err:
            # Whatever broke, the text was not judged; the cause stays inside as `__cause__`.
            raise ScanFailed("personal data") from err
        findings = []
        machine_ids = [found.span() for found in _UUID.finditer(text)] if results else []
        for result in results:
            if any(start < result.start and result.end < end for start, end in machine_ids):
                continue  # groups of digits in the middle of a UUID are no number of a person
            start, end = layer.span(result.start, result.end)
            if result.entity_type in BEST_EFFORT and result.entity_type not in asked:
                continue
            findings.append(
                Finding(
                    kind=result.entity_type,
                    start=start,
                    end=end,
                    score=result.score,
                    recognizer=result.recognition_metadata[RecognizerResult.RECOGNIZER_NAME_KEY],
                    encoded=layer.encoded,
                )
            )
        return findings + named

    def _named(
        self,
        text: str,
        layer: ScanText,
        asked: frozenset[str],
        results: Sequence[RecognizerResult],
    ) -> Iterator[Finding]:
        """Yield what the model finds; where a rule that is sure sees the same, of the rule's"
        " kind.
        """
        if self._model is None or asked.isdisjoint(MODEL_KINDS):
            return
        sure = [
            one for one in results if one.score >= _SURE and one.entity_type in asked & BEST_EFFORT
        ]
        for one in self._model.find(text):
            if any(
                by.entity_type not in BEST_EFFORT and by.start <= one.start and one.end <= by.end
                for by in results
            ):
                continue  # an identifier says better what it is
            kind = next(
                (by.entity_type for by in sure if by.start < one.end and one.start < by.end),
                one.kind,
            )
            if kind in asked:
                start, end = layer.span(one.start, one.end)
                yield Finding(
                    kind=kind,
                    start=start,
                    end=end,
                    score=one.score,
                    recognizer="LanguageModel",
                    encoded=layer.encoded,
                )
