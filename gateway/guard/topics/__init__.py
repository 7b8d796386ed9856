"""Topics: what a text says of a person that makes it special or sensitive, without a number in it.

Rules this module keeps:
- A topic labels a memory; what it says stays as it is, unless a policy asks for more.
- Special (`HEALTH`, `BELIEF`) is what a person says of themselves and wants remembered; sensitive
  (`FINANCE`, `BIOMETRIC`, `PRECISE_LOCATION`, `MINOR`) is what should not be kept for long.
- Every reading of a text is searched. Rules and no model: a topic is best effort, and precision
  comes before recall, so that ordinary preferences stay ordinary.
- Findings carry spans and kinds, no text.
"""

from gateway.guard.normalise import Normalised
from gateway.guard.pii.context import hide_placeholders
from gateway.guard.pii.finding import Finding
from gateway.guard.topics.belief import BELIEF
from gateway.guard.topics.biometric import BIOMETRIC
from gateway.guard.topics.finance import FINANCE
from gateway.guard.topics.health import HEALTH
from gateway.guard.topics.location import PRECISE_LOCATION
from gateway.guard.topics.minor import MINOR
from gateway.guard.topics.topic import Topics

EVERY_TOPIC = (HEALTH, BELIEF, FINANCE, BIOMETRIC, PRECISE_LOCATION, MINOR)
_TOPICS = Topics(EVERY_TOPIC)


def find_topics(normalised: Normalised) -> tuple[Finding, ...]:
    """Return the topics of a text, each once for a place; spans are of the original."""
    found: dict[Finding, None] = {}
    for layer in normalised.layers:
        for kind, span in _TOPICS.find(hide_placeholders(layer.skeleton)):
            start, end = layer.span(span.start, span.end)
            finding = Finding(
                kind=kind,
                start=start,
                end=end,
                score=span.score,
                recognizer="topics",
                encoded=layer.encoded,
            )
            found[finding] = None
    return tuple(found)
