"""The engine's write. Nothing is kept before it is sealed, or told to the caller before the audit
log has it.

Rules this module keeps:
- It takes a Scope and a Guarded, nothing else: where a memory goes was decided, what it says was
  checked.
- The memory, its version, its terms, its vectors, its index task, its audit event and the kept
  reply of an idempotency key commit together or not at all.
- Vectors are made before the transaction, never while a connection is held. A long text, and every
  text while the embedder is down, is embedded by the indexer after the acknowledgement.
- What is `sensitive` always expires. Its vectors are kept sealed in the record and go nowhere else;
  an embedder outside this process never gets its text.
- A memory goes where the Scope says, and stays there through every version; it is sealed for its
  owner (core.owners), signed with who wrote it, and merged with nothing of another owner or space.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core import keeping, merge, pseudonyms
from core.errors import Denied, Tampered, Throttled, Unavailable
from core.event import AuditEvent
from core.ids import EventId, MemoryId, new_uuid
from core.model import (
    Change,
    Details,
    Guarded,
    GuardedChange,
    Kept,
    Memory,
    Outcome,
    Receipt,
    Row,
    Sensitivity,
    Standing,
    Status,
    Trust,
)
from core.owners import admit, author_of, owner_into, owner_of, writable
from core.placeholders import NO_ORIGINALS, Originals
from core.ports import Claim, Embedder, MemoryView, OwnerKeys, Place, Reply, Vectors, WriteStages
from core.ports.budgets import ANY_NUMBER, Stored
from core.scope import Scope

LONG_CHARACTERS = 2_000
"""Longer texts have more than one chunk in every language; cutting them takes time of its own."""
FULL_SECONDS = 3600
"""Nothing makes room by itself before something expires: come back much later."""
_RANKS = tuple(Trust)
"""Most trusted first."""
EMBED_SECONDS = 5.0
"""An embedder that takes longer for one short text hangs; the write goes on without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """An idempotency claim and how to write down the reply that answers its repeats."""

    claim: Claim
    encode: Callable[[Receipt], bytes]


async def write(
    scope: Scope,
    guarded: Guarded,
    stages: WriteStages,
    promise: Promise | None = None,
    *,
    person: str | None = None,
    embed_now: bool = True,
    at_most: Stored = ANY_NUMBER,
) -> Receipt:
    """Keep what `guarded` says under `scope`, and return what became of each fact.

    Args:
        person: outside id of whom it is about; kept where other people read it.
        embed_now: False leaves the vectors to the indexer, as for a long text.
        at_most: how many memories may be kept in all.

    Raises:
        Throttled: so many are kept already; nothing was.
        ContentRejected: what is of this class does not enter the space.
        Denied: the space may not be written to.
        Unavailable: the record, the keys or the audit log did not answer; nothing was kept.
        Outdated: rights were taken away meanwhile; nothing was kept.
        Repeated: `promise` was kept before; nothing was kept, the stored reply answers.
    """
    owner = owner_into(scope)
    admit(guarded.sensitivity, owner)
    async with stages.spans.step("extract"):
        facts = await stages.extractor.extract(guarded)
    keys = await stages.keyring.ensure_owner(owner)
    author = author_of(scope.principal)
    counted = (await stages.keyring.tenant(scope.tenant)).blind("author", author)
    about = person if owner.is_space else None
    async with stages.spans.step("embed"):
        wanted = embed_now and guarded.draft.wait_merged
        at_once = wanted and may_embed(guarded.sensitivity, stages.embedder)
        vectors = [await _vectors(fact.text, stages) if at_once else None for fact in facts]
    said = [
        keeping.texts(
            fact.text,
            fact.details.signed(author, about),
            fact_vectors,
            keys=keys,
            tokenizer=stages.tokenizer,
            originals=guarded.originals,
        )
        for fact, fact_vectors in zip(facts, vectors, strict=True)
    ]
    async with stages.spans.step("commit"), stages.store.view(scope) as view:
        (namespace,) = scope.namespaces
        outcomes = []
        for fact, texts in zip(facts, said, strict=True):
            standing = keeping.first(
                MemoryId(new_uuid()), namespace, scope.into, guarded, fact.kind, now=view.now
            )
            kept = keeping.sealed(
                standing, texts, keys, embedder=stages.embedder.name, author=counted
            )
            outcomes.append(await _keep(view, kept, texts, keys, stages.embedder.name))
        await _check_room(view, counted, outcomes, at_most)
        event = await _record(view, scope, [outcome.id for outcome in outcomes], outcomes[0].status)
        receipt = Receipt(
            outcomes=tuple(outcomes), redactions=guarded.redactions, event_id=event.event_id
        )
        await settle(view, keys, promise, receipt)
    stages.wake_index()
    return receipt


async def _check_room(
    view: MemoryView, author: bytes, outcomes: Sequence[Outcome], at_most: Stored
) -> None:
    """Refuse what would be one memory too many; a repeat of what is kept adds none."""
    added = sum(outcome.status is Status.STORED for outcome in outcomes)
    if not added:
        return
    for who, most, sentence in (
        (author, at_most.author, "This credential keeps as many memories as it may."),
        (None, at_most.tenant, "The tenant keeps as many memories as it may."),
    ):
        if most is not None and await view.stored(who, most) + added > most:
            raise Throttled(f"{sentence} Forget some first.", retry_after_seconds=FULL_SECONDS)


def may_embed(sensitivity: Sensitivity, embedder: Embedder) -> bool:
    """Tell whether a text of this class may be given to `embedder`."""
    return embedder.in_process or sensitivity is not Sensitivity.SENSITIVE


async def _vectors(text: str, stages: WriteStages) -> Vectors | None:
    """Return the vectors of a short text; None leaves it to the indexer."""
    if len(text) > LONG_CHARACTERS:
        return None
    pieces = stages.embedder.chunks(text)
    if len(pieces) != 1:
        return None
    try:
        async with asyncio.timeout(EMBED_SECONDS):
            return await stages.embedder.passages(pieces)
    except (TimeoutError, Unavailable):
        return None  # kept without a vector; the indexer tries again


async def _keep(
    view: MemoryView,
    kept: Kept,
    texts: keeping.Texts,
    keys: OwnerKeys,
    embedder: str,
) -> Outcome:
    existing = (await view.insert(kept)).existing
    if existing is None:
        return _outcome(kept.id, Status.STORED, kept)
    confidence = merge.raised(max(existing.confidence, kept.confidence - merge.REPETITION_GAIN))
    try:
        old = Details.from_bytes(keys.open(_place(existing, "details"), existing.details))
        less_trusted = _RANKS.index(kept.trust) > _RANKS.index(existing.trust)
        details = merge.joined(old, texts.details, less_trusted=less_trusted)
        unchanged = merge.adds_nothing(old, details)
    except Tampered:  # the honest repeat replaces what no longer opens
        details, unchanged = texts.details, False
    standing = keeping.following(
        existing,
        importance=max(existing.importance, kept.importance),
        confidence=confidence,
        sensitivity=kept.sensitivity,
        expires_at=keeping.joined_expiry(existing, kept, now=view.now),
        ends_by=keeping.sooner(existing.ends_by, kept.ends_by),
        until_session_end=existing.until_session_end and kept.until_session_end,
    )
    if unchanged and _same_standing(existing, standing):
        return _merged(await view.adjust(existing.id, confidence=confidence))
    older = await _originals(view, existing, keys)
    again = keeping.sealed(standing, texts.saying(details, older), keys, embedder=embedder)
    return _merged(await view.revise(again, expected_version=existing.version))


def _same_standing(row: Row, standing: Standing) -> bool:
    """Tell whether a repeat changes nothing of a memory but its confidence."""
    return (
        row.importance == standing.importance
        and row.sensitivity is standing.sensitivity
        and row.expires_at == standing.expires_at
        and row.ends_by == standing.ends_by
        and row.until_session_end == standing.until_session_end
    )


async def revise(
    scope: Scope, memory: MemoryId, guarded: GuardedChange, stages: WriteStages
) -> tuple[Memory, AuditEvent]:
    """Give a live memory a new version under `scope`, and return it opened, with its audit event.

    Raises:
        NotFound: not live in this scope.
        Denied: it is in a space that may only be read.
        ContentRejected: what is of this class does not enter the space it is in.
        PreconditionFailed: the caller expected another version.
        Conflict: another live memory already says the same.
        Tampered: what is stored is not what was sealed.
        Unavailable: nothing was changed.
    """
    change = guarded.change
    async with stages.store.view(scope) as view:
        before = await view.get(memory)
    if not writable(scope, before):
        raise Denied(rule="space-reader")
    owner = owner_of(scope, before)
    admit(guarded.sensitivity, owner)
    keys = await stages.keyring.owner(owner)
    if keys is None:  # destroyed, and the memory with them
        raise Tampered
    text = change.content
    if text is None:
        text = keys.open(_place(before, "content"), before.content).decode()
    sensitivity = keeping.more_sensitive(before.sensitivity, guarded.sensitivity)
    vectors = None
    if may_embed(sensitivity, stages.embedder):
        vectors = await _vectors(text, stages)
    said = keeping.texts(
        text,
        Details(),
        vectors,
        keys=keys,
        tokenizer=stages.tokenizer,
        originals=guarded.originals,
    )
    async with stages.store.view(scope) as view:
        # Read again, locked: embedding took its time and nothing was held meanwhile.
        row = await view.get(memory, lock=True)
        expected = change.expected_version if change.expected_version is not None else row.version
        old = Details.from_bytes(keys.open(_place(row, "details"), row.details))
        if change.content is None and row.version != before.version:
            # Somebody changed the text meanwhile; the indexer embeds it.
            text = keys.open(_place(row, "content"), row.content).decode()
            said = keeping.texts(
                text,
                Details(),
                None,
                keys=keys,
                tokenizer=stages.tokenizer,
                originals=guarded.originals,
            )
        details = _changed(old, change, author_of(scope.principal))
        sensitivity = keeping.more_sensitive(row.sensitivity, guarded.sensitivity)
        ends_by = keeping.changed_end(row, guarded.expire_seconds, now=view.now)
        standing = keeping.following(
            row,
            importance=change.importance,
            confidence=change.confidence,
            sensitivity=sensitivity,
            expires_at=keeping.changed_expiry(row, change, sensitivity, ends_by, now=view.now),
            ends_by=ends_by,
        )
        older = await _originals(view, row, keys)
        said = said.saying(details, older)
        kept = keeping.sealed(standing, said, keys, embedder=stages.embedder.name)
        after = await view.revise(kept, expected_version=expected)
        event = await _record(view, scope, [after.id], Status.STORED)
    stages.wake_index()
    return Memory(row=after, content=text, details=details), event


async def _originals(view: MemoryView, row: Row, keys: OwnerKeys) -> Originals:
    """Return what the placeholders in the live version of `row` stand for; what does not open any
    more stands for nothing.
    """
    try:
        content = keys.open(_place(row, "content"), row.content).decode()
        details = Details.from_bytes(keys.open(_place(row, "details"), row.details))
        if not pseudonyms.hold_any(content, details):
            return NO_ORIGINALS
        kept = pseudonyms.opened(await view.pseudonyms(row.id), keys)
    except Tampered:
        return NO_ORIGINALS
    return pseudonyms.originals(content, details, kept)


def _changed(old: Details, change: Change, author: str) -> Details:
    return Details(
        tags=old.tags if change.tags is None else change.tags,
        metadata={**old.metadata, **(change.metadata or {})},
        entities=old.entities,
        source_ref=old.source_ref,
        session_id=old.session_id,
        task=old.task,
        author=author,
        person=old.person,
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
    view: MemoryView, keys: OwnerKeys, promise: Promise | None, receipt: Receipt
) -> None:
    """Keep the sealed reply of an idempotency key, as the last step of its transaction.

    Raises: Repeated.
    """
    if promise is None:
        return
    reply = new_uuid()
    sealed = keys.seal(Place(record=reply, version=1, field="reply"), promise.encode(receipt))
    await view.settle(promise.claim, Reply(body=promise.claim.body, sealed=sealed, id=reply))


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
