"""Numbers about requests, for Prometheus.

Rules this module keeps:
- No label holds anything a caller wrote: routes are templates, methods come from a list, and a
  status is its class.
- The registry is handed in: two gateways in one process do not count into each other's.

Source: REQUIREMENTS B14.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Metrics:
    """What the front counts.

    Args:
        registry: of this process; others register their own numbers there.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self._requests = Counter(
            "memwarden_http_requests",
            "Requests answered.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "memwarden_http_request_seconds",
            "From the first byte routed to the last byte handed over.",
            ("route", "method"),
            buckets=SECONDS,
            registry=self.registry,
        )
        self._open = Gauge(
            "memwarden_http_requests_open",
            "Requests being answered now.",
            registry=self.registry,
        )
        self._failures = Counter(
            "memwarden_http_unexpected_errors",
            "Requests that ended in an error nobody foresaw.",
            registry=self.registry,
        )

    def opened(self) -> None:
        """Count a request in."""
        self._open.inc()

    def closed(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request out.

        Args:
            route: the template it matched, or `unmatched`.
            status: HTTP status; 0 when the client left unanswered.
        """
        named = method if method in METHODS else "other"
        self._open.dec()
        self._requests.labels(route, named, f"{status // 100}xx" if status else "none").inc()
        self._seconds.labels(route, named).observe(seconds)

    def unexpected(self) -> None:
        """Count an error nobody foresaw."""
        self._failures.inc()

    def render(self) -> bytes:
        """Return everything in the registry, in Prometheus' text format."""
        return generate_latest(self.registry)
