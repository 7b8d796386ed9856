"""The engine's write. Nothing is kept before it is sealed, or told to the caller before the audit
log has it.

Rules this module keeps:
- It takes a Scope and a Guarded, nothing else: where a memory goes was decided, what it says was
  checked.
- The memory, its version, its terms, its vectors, its index task, its audit event and the kept
  reply of an idempotency key commit together or not at all.
- Vectors are made before the transaction, never while a connection is held. A long text, and every
  text while the embedder is down, is embedded by the indexer after the acknowledgement.
- What is `sensitive` always expires and never gets a vector.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from core import merge
from core.errors import Invalid, Tampered, Unavailable
from core.event import AuditEvent
from core.ids import EventId, MemoryId, new_uuid
from core.model import (
    Details,
    Draft,
    Fact,
    Guarded,
    GuardedChange,
    Kept,
    Layer,
    Memory,
    Outcome,
    Owner,
    Receipt,
    Row,
    Sensitivity,
    State,
    Status,
    Trust,
)
from core.ports import Claim, MemoryView, OwnerKeys, Place, Reply, Vectors, WriteStages
from core.scope import Scope

SENSITIVE_LIFE = timedelta(hours=24)
"""What a policy let through although it is sensitive is gone after this, at the latest."""
WORKING_LIFE = timedelta(minutes=30)
"""Working memory matters for minutes; a caller may ask for less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """An idempotency claim and how to write down the reply that answers its repeats."""

    claim: Claim
    encode: Callable[[Receipt], bytes]


async def write(
    scope: Scope, guarded: Guarded, stages: WriteStages, keeping: Keeping | None = None
) -> Receipt:
    """Keep what `guarded` says under `scope`, and return what became of each fact.

    Raises:
        Unavailable: the record, the keys or the audit log did not answer; nothing was kept.
        Repeated: `keeping` had its effect before; nothing was kept, the stored reply answers.
    """
    async with stages.spans.step("extract"):
        facts = await stages.extractor.extract(guarded)
    keys = await stages.keyring.ensure_owner(Owner.of(scope))
    async with stages.spans.step("embed"):
        at_once = guarded.draft.wait_merged and guarded.sensitivity is not Sensitivity.SENSITIVE
        vectors = [await _vectors(fact.text, stages) if at_once else None for fact in facts]
    async with stages.spans.step("commit"), stages.store.view(scope) as view:
        outcomes = []
        for fact, fact_vectors in zip(facts, vectors, strict=True):
            kept = _kept(scope, guarded, fact, fact_vectors, keys, stages, now=view.now)
            outcomes.append(await _keep(view, kept, fact, fact_vectors, keys))
        event = await _record(view, scope, [outcome.id for outcome in outcomes], outcomes[0].status)
        receipt = Receipt(
            outcomes=tuple(outcomes), redactions=guarded.redactions, event_id=event.event_id
        )
        await settle(view, keys, keeping, receipt)
    stages.wake_index()
    return receipt


async def _vectors(text: str, stages: WriteStages) -> Vectors | None:
    """Return the vectors of a short text; None leaves it to the indexer."""
    pieces = stages.embedder.chunks(text)
    if len(pieces) != 1:
        return None
    try:
        return await stages.embedder.passages(pieces)
    except Unavailable:
        return None  # kept without a vector; the indexer tries again


async def _keep(
    view: MemoryView, kept: Kept, fact: Fact, vectors: Vectors | None, keys: OwnerKeys
) -> Outcome:
    existing = (await view.insert(kept)).existing
    if existing is None:
        return _outcome(kept.id, Status.STORED, kept)
    confidence = merge.raised(max(existing.confidence, kept.confidence - merge.REPETITION_GAIN))
    try:
        old = Details.from_bytes(keys.open(_place(existing, "details"), existing.details))
        details = merge.joined(old, fact.details)
    except Tampered:  # the honest repeat replaces what no longer opens
        old, details = None, fact.details
    if details == old:
        row = await view.adjust(existing.id, confidence=confidence)
        return _merged(row)
    row = await view.revise(
        _reseal(existing, kept, fact.text, details, vectors, keys, confidence=confidence),
        expected_version=existing.version,
    )
    return _merged(row)


def _kept(
    scope: Scope,
    guarded: Guarded,
    fact: Fact,
    vectors: Vectors | None,
    keys: OwnerKeys,
    stages: WriteStages,
    *,
    now: datetime,
) -> Kept:
    draft = guarded.draft
    memory = MemoryId(new_uuid())
    (namespace,) = scope.namespaces
    words = Counter(stages.tokenizer.words(fact.text))
    terms = dict(zip(keys.terms(list(words)), words.values(), strict=True))

    def place(field: str) -> Place:
        return Place(record=memory, version=1, field=field, namespace=namespace)

    return Kept(
        id=memory,
        version=1,
        namespace=namespace,
        space=None,
        layer=draft.layer,
        kind=fact.kind,
        state=State.ACTIVE,
        importance=draft.importance,
        confidence=draft.confidence,
        persistence=draft.persistence,
        sensitivity=guarded.sensitivity,
        trust=Trust.of(guarded.source_kind),
        source_kind=guarded.source_kind,
        outcome=draft.outcome,
        occurred_at=draft.occurred_at,
        expires_at=expiry(draft, guarded.sensitivity, now=now),
        until_session_end=draft.until_session_end,
        session=_session(fact.details, keys),
        tags=tag_lookups(fact.details.tags, keys),
        digest=keys.digest("content", stages.tokenizer.canonical(fact.text)),
        content=keys.seal(place("content"), fact.text.encode()),
        details=keys.seal(place("details"), fact.details.to_bytes()),
        terms=terms,
        token_count=sum(words.values()),
        vectors=_sealed_vectors(vectors, keys, place),
        embedder=stages.embedder.name if vectors is not None else "",
    )


def expiry(draft: Draft, sensitivity: Sensitivity, *, now: datetime) -> datetime | None:
    """Return when a draft expires, by the database's time; the soonest reason wins.

    Raises:
        Invalid: the caller's own `expires_at` has passed already.
    """
    if draft.expires_at is not None and draft.expires_at <= now:
        raise Invalid("This time has passed already.", field="expires_at")
    ends = [draft.expires_at] if draft.expires_at is not None else []
    if draft.ttl_seconds is not None:
        ends.append(now + timedelta(seconds=draft.ttl_seconds))
    if sensitivity is Sensitivity.SENSITIVE:
        ends.append(now + SENSITIVE_LIFE)
    if draft.layer is Layer.WORKING:
        ends.append(now + WORKING_LIFE)
    return min(ends, default=None)


async def revise(
    scope: Scope, memory: MemoryId, guarded: GuardedChange, stages: WriteStages
) -> tuple[Memory, AuditEvent]:
    """Give a live memory a new version under `scope`, and return it opened, with its audit event.

    Raises:
        NotFound: not live in this scope.
        PreconditionFailed: the caller expected another version.
        Conflict: another live memory already says the same.
        Tampered: what is stored is not what was sealed.
        Unavailable: nothing was changed.
    """
    change = guarded.change
    keys = await stages.keyring.ensure_owner(Owner.of(scope))
    async with stages.store.view(scope) as view:
        before = await view.get(memory)
        text = change.content
        if text is None:
            text = keys.open(_place(before, "content"), before.content).decode()
    sensitivity = max(before.sensitivity, guarded.sensitivity, key=list(Sensitivity).index)
    sealed_only = sensitivity is Sensitivity.SENSITIVE  # never in the vector index
    vectors = None if sealed_only else await _vectors(text, stages)
    async with stages.store.view(scope) as view:
        # Read again, locked: embedding took its time and nothing was held meanwhile.
        row = await view.get(memory, lock=True)
        expected = change.expected_version if change.expected_version is not None else row.version
        old = Details.from_bytes(keys.open(_place(row, "details"), row.details))
        if change.content is None and row.version != before.version:
            text = keys.open(_place(row, "content"), row.content).decode()
            vectors = None  # somebody changed the text meanwhile; the indexer embeds it
        details = _changed(old, guarded)
        kept = _revised(row, guarded, text, details, vectors, keys, stages, now=view.now)
        after = await view.revise(kept, expected_version=expected)
        event = await _record(view, scope, [after.id], Status.STORED)
    stages.wake_index()
    return Memory(row=after, content=text, details=details), event


def _changed(old: Details, guarded: GuardedChange) -> Details:
    change = guarded.change
    return Details(
        tags=old.tags if change.tags is None else change.tags,
        metadata={**old.metadata, **(change.metadata or {})},
        entities=old.entities,
        source_ref=old.source_ref,
        session_id=old.session_id,
        task=old.task,
    )


def _revised(
    row: Row,
    guarded: GuardedChange,
    text: str,
    details: Details,
    vectors: Vectors | None,
    keys: OwnerKeys,
    stages: WriteStages,
    *,
    now: datetime,
) -> Kept:
    change = guarded.change
    if change.expires_at is not None and change.expires_at <= now:
        raise Invalid("This time has passed already.", field="expires_at")
    expires_at = row.expires_at if change.expires_at is None else change.expires_at
    if change.clear_expiry:
        expires_at = None
    sensitivity = max(row.sensitivity, guarded.sensitivity, key=list(Sensitivity).index)
    if sensitivity is Sensitivity.SENSITIVE:  # no update lengthens what must go
        latest = row.created_at + SENSITIVE_LIFE
        expires_at = latest if expires_at is None else min(expires_at, latest)
    if row.layer is Layer.WORKING:
        latest = row.created_at + WORKING_LIFE
        expires_at = latest if expires_at is None else min(expires_at, latest)
    words = Counter(stages.tokenizer.words(text))
    version = row.version + 1

    def place(field: str) -> Place:
        return Place(record=row.id, version=version, field=field, namespace=row.namespace)

    return Kept(
        id=row.id,
        version=version,
        namespace=row.namespace,
        space=row.space,
        layer=row.layer,
        kind=row.kind,
        state=row.state,
        importance=row.importance if change.importance is None else change.importance,
        confidence=row.confidence if change.confidence is None else change.confidence,
        persistence=row.persistence,
        sensitivity=sensitivity,
        trust=row.trust,
        source_kind=row.source_kind,
        outcome=row.outcome,
        occurred_at=row.occurred_at,
        expires_at=expires_at,
        until_session_end=row.until_session_end,
        session=_session(details, keys),
        tags=tag_lookups(details.tags, keys),
        digest=keys.digest("content", stages.tokenizer.canonical(text)),
        content=keys.seal(place("content"), text.encode()),
        details=keys.seal(place("details"), details.to_bytes()),
        terms=dict(zip(keys.terms(list(words)), words.values(), strict=True)),
        token_count=sum(words.values()),
        vectors=_sealed_vectors(vectors, keys, place),
        embedder=stages.embedder.name if vectors is not None else "",
    )


def _reseal(
    existing: Row,
    kept: Kept,
    text: str,
    details: Details,
    vectors: Vectors | None,
    keys: OwnerKeys,
    *,
    confidence: float,
) -> Kept:
    """Return the next version of `existing` with joined details, made from the repeat `kept`."""
    version = existing.version + 1

    def place(field: str) -> Place:
        return Place(record=existing.id, version=version, field=field, namespace=existing.namespace)

    return Kept(
        id=existing.id,
        version=version,
        namespace=existing.namespace,
        space=existing.space,
        layer=existing.layer,
        kind=existing.kind,
        state=existing.state,
        importance=max(existing.importance, kept.importance),
        confidence=confidence,
        persistence=existing.persistence,
        sensitivity=max(existing.sensitivity, kept.sensitivity, key=list(Sensitivity).index),
        trust=existing.trust,
        source_kind=existing.source_kind,
        outcome=existing.outcome,
        occurred_at=existing.occurred_at,
        expires_at=existing.expires_at,
        until_session_end=existing.until_session_end,
        session=_session(details, keys),
        tags=tag_lookups(details.tags, keys),
        digest=kept.digest,
        content=keys.seal(place("content"), text.encode()),
        details=keys.seal(place("details"), details.to_bytes()),
        terms=kept.terms,
        token_count=kept.token_count,
        vectors=_sealed_vectors(vectors, keys, place),
        embedder=kept.embedder,
    )


async def _record(
    view: MemoryView, scope: Scope, memories: Sequence[MemoryId], status: Status
) -> AuditEvent:
    event = AuditEvent.of(
        scope,
        event_id=EventId(new_uuid()),
        at=view.now,
        object=str(memories[0]) if len(memories) == 1 else "memories",
        outcome="ok" if status is Status.STORED else status.value,
        count=len(memories),
    )
    await view.record(event)
    return event


async def settle(
    view: MemoryView, keys: OwnerKeys, keeping: Keeping | None, receipt: Receipt
) -> None:
    """Keep the sealed reply of an idempotency key, as the last step of its transaction.

    Raises: Repeated.
    """
    if keeping is None:
        return
    reply = new_uuid()
    sealed = keys.seal(Place(record=reply, version=1, field="reply"), keeping.encode(receipt))
    await view.settle(keeping.claim, Reply(body=keeping.claim.body, sealed=sealed, id=reply))


def tag_lookups(tags: Sequence[str], keys: OwnerKeys) -> tuple[bytes, ...]:
    """Return the keyed look-up of each tag, in order."""
    return tuple(keys.blind("tag", tag) for tag in tags)


def _session(details: Details, keys: OwnerKeys) -> bytes | None:
    return None if details.session_id is None else keys.blind("session", details.session_id)


def _sealed_vectors(
    vectors: Vectors | None, keys: OwnerKeys, place: Callable[[str], Place]
) -> tuple[bytes, ...]:
    if vectors is None:
        return ()
    return tuple(
        keys.seal(place(f"vector.{chunk}"), vector.astype("<f4").tobytes())
        for chunk, vector in enumerate(vectors)
    )


def _place(row: Row, field: str) -> Place:
    return Place(record=row.id, version=row.version, field=field, namespace=row.namespace)


def _outcome(memory: MemoryId, status: Status, kept: Kept) -> Outcome:
    return Outcome(
        id=memory,
        status=status,
        version=kept.version,
        expires_at=kept.expires_at,
        sensitivity=kept.sensitivity,
    )


def _merged(row: Row) -> Outcome:
    return Outcome(
        id=row.id,
        status=Status.MERGED,
        version=row.version,
        expires_at=row.expires_at,
        sensitivity=row.sensitivity,
    )
