"""One string with everything that is in it: secrets, personal data, topics, hidden text.

Rules this module keeps:
- Every scanner reads the same normalised text, and a failure of any is a failure of all.
- A value is read behind its label, as in "phone: 62781234": the key says what the value is.
- In a placeholder of ours nothing is found, and no finding cuts one in two: what a redaction left
  passes when it comes back.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from core.errors import GatewayError
from core.placeholders import spans_in
from core.pseudonyms import NO_PSEUDONYM
from gateway.guard.fields import Leaf
from gateway.guard.kinds import HIDDEN_TEXT
from gateway.guard.marks import lookalikes
from gateway.guard.normalise import Normalised, normalise
from gateway.guard.pii.context import PLACEHOLDER
from gateway.guard.pii.finding import Finding, PiiDetector
from gateway.guard.rules import SecretRules
from gateway.guard.secrets import SecretFinding, find_secrets
from gateway.guard.topics import find_topics


@dataclass(frozen=True, slots=True)
class Scan:
    """What is in one string; spans are of the string, without its label."""

    normalised: Normalised
    secrets: tuple[SecretFinding, ...]
    findings: tuple[Finding, ...]


def scanned(
    leaf: Leaf, rules: SecretRules, detector: PiiDetector, asked: frozenset[str]
) -> Scan | None:
    """Return what is in `leaf`, or None if a scanner failed.

    Args:
        rules: what is a secret.
        detector: finds personal data.
        asked: best-effort kinds to look for besides the identifiers.

    Raises:
        Invalid: what cannot be stored.
    """
    label = f"{leaf.label}: " if leaf.label else ""
    try:
        normalised = normalise(label + leaf.text, field=leaf.path)
        secrets = _uncut(find_secrets(normalised, rules), normalised.original)
        found = detector.detect(normalised, asked) if asked else detector.detect(normalised)
        findings = (*_hidden(normalised), *found, *find_topics(normalised))
        if marks := spans_in(normalised.original):
            # In a placeholder is a word of ours; or it is none, and is taken out as a whole.
            secrets = tuple(one for one in secrets if not _within(one, marks))
            findings = tuple(_whole(one, marks) for one in findings if not _within(one, marks))
        findings += _lookalikes(normalised)
    except GatewayError:
        raise
    except Exception:  # noqa: BLE001 - whatever broke, the text was not judged: it is refused
        return None
    cut = len(label)
    return Scan(normalised, secrets, tuple(_behind(one, cut) for one in findings if one.end > cut))


def _uncut(found: tuple[SecretFinding, ...], text: str) -> tuple[SecretFinding, ...]:
    """Leave out what begins in the middle of what a redaction left; one that reaches into it stays,
    so that nothing hides behind a bracket.
    """
    if not found or "[" not in text:
        return found
    left = [match.span() for match in PLACEHOLDER.finditer(text)]
    return tuple(one for one in found if not any(start < one.start < end for start, end in left))


def _within(one: Finding | SecretFinding, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= one.start and one.end <= end for start, end in spans)


def _whole(one: Finding, spans: Iterable[tuple[int, int]]) -> Finding:
    """Return the finding widened, so that it cuts no placeholder in two."""
    cut = [span for span in spans if span[0] < one.end and one.start < span[1]]
    if not cut:
        return one
    return _at(one, min(one.start, cut[0][0]), max(one.end, cut[-1][1]))


def _lookalikes(normalised: Normalised) -> tuple[Finding, ...]:
    return tuple(
        Finding(kind=NO_PSEUDONYM, start=start, end=end, score=1.0, recognizer="normaliser")
        for start, end in lookalikes(normalised)
    )


def _hidden(normalised: Normalised) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            kind=HIDDEN_TEXT,
            start=one.start,
            end=one.end,
            score=1.0,
            recognizer="normaliser",
            encoded=True,
        )
        for one in normalised.findings
    )


def _behind(one: Finding, cut: int) -> Finding:
    """Return the finding with its span moved from the labelled text to the value."""
    return _at(one, max(0, one.start - cut), one.end - cut) if cut else one


def _at(one: Finding, start: int, end: int) -> Finding:
    return Finding(
        kind=one.kind,
        start=start,
        end=end,
        score=one.score,
        recognizer=one.recognizer,
        encoded=one.encoded,
    )
