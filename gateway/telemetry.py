"""Spans and step times. Attributes come from an allow-list.

Rules this module keeps:
- A span holds a step's name, an outcome code, a route template, a method: nothing a caller wrote,
  no id of a person or a credential, and never an exception's text.
- A client's own trace is not continued, only linked: a stranger does not choose our trace ids.
- Without an endpoint nothing is exported, and steps are still timed for `/metrics`.
"""

import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Link, SpanContext, TraceFlags, Tracer, format_trace_id
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from core.errors import GatewayError
from core.model import Redaction
from core.pseudonyms import NO_PSEUDONYM
from gateway.guard.judged import SCANNER_FAILED
from gateway.guard.kinds import KINDS
from gateway.guard.policy import Action
from gateway.guard.redact import SECRET
from gateway.guard.rules import SECRET_KINDS

ATTRIBUTES = frozenset({"memwarden.step", "memwarden.outcome", "http.route", "http.method"})
"""Everything that a span of ours may carry; a test compares it with what spans do carry."""

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "MCP"})
"""Any other method is a word that a caller made up, and is called `other`."""

FOUND = KINDS | SECRET_KINDS | {SECRET, SCANNER_FAILED, NO_PSEUDONYM}
"""Kinds that findings are counted by; any other, as a later rule could make one, is `other`."""

_ACTIONS = frozenset(action.value for action in Action)
_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_TRACEPARENT_PARTS = 4


@dataclass(slots=True)
class Telemetry:
    """One process's telemetry.

    Args:
        registry: of `/metrics`.
        exporter: where spans go; None makes none.
        on_step: told (name, seconds) of every step; for benchmarks.
    """

    registry: CollectorRegistry
    exporter: SpanExporter | None = None
    on_step: Callable[[str, float], None] | None = None
    _tracer: Tracer | None = field(init=False, default=None)
    _provider: TracerProvider | None = field(init=False, default=None)
    _steps: Histogram = field(init=False)
    _failures: Counter = field(init=False)
    _findings: Counter = field(init=False)

    def __post_init__(self) -> None:
        """Register the metrics, and start the exporter if there is one."""
        self._steps = Histogram(
            "memwarden_step_seconds",
            "Time of one step of a path",
            ["step"],
            registry=self.registry,
            buckets=_BUCKETS,
        )
        self._failures = Counter(
            "memwarden_step_failures_total",
            "Steps that raised, by step and error code",
            ["step", "code"],
            registry=self.registry,
        )
        self._findings = Counter(
            "memwarden_guard_findings_total",
            "What the guard found in writes, changes, names and queries, and what became of it",
            ["kind", "action"],
            registry=self.registry,
        )
        if self.exporter is not None:
            resource = Resource.create({"service.name": "memwarden"})
            self._provider = TracerProvider(resource=resource)
            self._provider.add_span_processor(BatchSpanProcessor(self.exporter))
            self._tracer = self._provider.get_tracer("memwarden")

    def found(self, findings: Iterable[Redaction]) -> None:
        """Count what the guard found, by kind and action alone: whose it was is not told.

        May be called from any thread.
        """
        for one in findings:
            kind = one.kind if one.kind in FOUND else "other"
            action = one.action if one.action in _ACTIONS else "other"
            self._findings.labels(kind, action).inc(one.count)

    def watch_index(self, pending: Callable[[], float]) -> None:
        """Show how many tasks wait for the index, as counted when `/metrics` is read."""
        gauge = Gauge(
            "memwarden_index_pending",
            "Memories whose points do not follow the record yet",
            registry=self.registry,
        )
        gauge.set_function(pending)

    def watch_audit(self, broken: Callable[[], float]) -> None:
        """Show how many tenants' audit chains no longer extend what was signed; must stay 0."""
        gauge = Gauge(
            "memwarden_audit_broken_chains",
            "Audit chains that were changed below the gateway",
            registry=self.registry,
        )
        gauge.set_function(broken)

    def close(self) -> None:
        """Send what is waiting and stop the exporter."""
        if self._provider is not None:
            self._provider.shutdown()

    @asynccontextmanager
    async def request(
        self, method: str, route: str, traceparent: str | None = None
    ) -> AsyncIterator[str]:
        """Open the span of one request and give its trace id: 32 hex digits, or "" without one.

        Args:
            method, route: an HTTP method and a route's template, or `MCP` and a tool's name.
            traceparent: the client's, kept as a link only.
        """
        if self._tracer is None:
            yield ""
            return
        named = method if method in METHODS else "other"
        with self._tracer.start_as_current_span(
            f"{named} {route}",
            links=_links(traceparent),
            attributes={"http.method": named, "http.route": route},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield format_trace_id(span.get_span_context().trace_id)
            except GatewayError as err:
                span.set_attribute("memwarden.outcome", err.code)
                raise

    @asynccontextmanager
    async def step(self, name: str) -> AsyncIterator[None]:
        """Time one step of a path, and trace it when there is an exporter."""
        started = time.perf_counter()
        try:
            if self._tracer is None:
                yield
            else:
                with self._tracer.start_as_current_span(
                    name,
                    attributes={"memwarden.step": name},
                    record_exception=False,
                    set_status_on_exception=False,
                ):
                    yield
        except GatewayError as err:
            self._failures.labels(name, err.code).inc()
            raise
        finally:
            seconds = time.perf_counter() - started
            self._steps.labels(name).observe(seconds)
            if self.on_step is not None:
                self.on_step(name, seconds)


def otlp_exporter(endpoint: str | None) -> SpanExporter | None:
    """Return an exporter to an OTLP/HTTP endpoint, or None without one."""
    if endpoint is None:
        return None
    # Imported here: it costs start-up time that only its users should pay.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
        OTLPSpanExporter,
    )

    return OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")


def _links(traceparent: str | None) -> list[Link]:
    """Return a link to the client's span if its header is well-formed.

    Source: W3C Trace Context, 3.2.
    """
    parts = (traceparent or "").split("-")
    if len(parts) != _TRACEPARENT_PARTS:
        return []
    try:
        trace_id, span_id = int(parts[1], 16), int(parts[2], 16)
    except ValueError:
        return []
    context = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(0))
    return [Link(context)] if context.is_valid else []
