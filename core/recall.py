"""The engine's recall. The index only proposes; the record disposes.

Rules this module keeps:
- Every condition of the query is part of every path; nothing is filtered after a cut.
- Each owner is searched by itself, under its own keys and its own statistics: the person, and each
  space whose members are people. What they find competes in one list.
- Paths run side by side under one deadline. What is missing when it ends is named in `degraded`;
  an empty list means the full answer.
- What is sensitive is in no index: its vectors are opened and compared (core.nearest), and what
  they propose stands in one list with what the index does.
- Every candidate is confirmed under the Scope, opened and verified. What does not open is withheld
  and audited, and the others are answered.
- The record of the recall, the uses it counts and its audit event commit before the answer leaves.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from core import rank
from core.errors import NotFound, Tampered, Unavailable
from core.event import AuditEvent
from core.ids import EventId, MemoryId, RecallId, SpaceId, UserId, new_uuid
from core.keeping import tag_lookups
from core.model import Filter, Owner, Query, Recall, Recalled, Row
from core.nearest import Compared, compare
from core.owners import across, keys_of, opened, searched
from core.ports import (
    MemoryView,
    OwnerKeys,
    Place,
    Proposal,
    Reach,
    RecallStages,
    SealedVectors,
    TenantKeys,
    Vector,
)
from core.pseudonyms import settled_query
from core.scope import Scope

DENSE_LIMIT = 64
LEXICAL_LIMIT = 64
RECENT_LIMIT = 24
ALSO_LIMIT = 32
"""How many of the record's own proposals the index scores beside its nearest."""
CONFIRM_LEAST = 32
"""So many fused candidates, or twice what may be returned, are confirmed against the record."""
MOST_SPACES = 16
"""So many shared spaces are searched at once, the oldest first; more are named in `degraded`."""
FULL_ITEMS = 3
"""So many come in full whatever their length; the next ones as summaries when they are long."""
SUMMARY_TOKENS = 60
KEEP_RECALL_DAYS = 7
WITHHOLD = "memory:item:withhold"
"""The audit action for a memory whose envelope does not open where it stands."""


T = TypeVar("T")


@dataclass(slots=True)
class Proposals:
    """What the paths found, and what was missing.

    Args:
        paths: a path's name and its proposals, once for each owner that it searched by itself.
        now: the database's time, in epoch seconds.
        sealed: vectors of what is sensitive.
        damaged: memories whose vectors did not open.
    """

    paths: list[tuple[str, Sequence[Proposal]]] = field(default_factory=list)
    degraded: set[str] = field(default_factory=set)
    now: float = 0.0
    sealed: list[SealedVectors] = field(default_factory=list)
    damaged: list[MemoryId] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """What one search looks through: all that one owner has in one place, in its own look-ups.

    Args:
        space: None for what the person has in no space.
        user: whose; None in a `members` space, where it is everybody's.
        where: the query's conditions under this owner's keys.
        terms: the query's words under this owner's keys.
    """

    keys: OwnerKeys
    space: SpaceId | None
    user: UserId | None
    where: Filter
    terms: tuple[int, ...] = field(repr=False)


async def recall(scope: Scope, query: Query, stages: RecallStages) -> Recall:
    """Answer `query` under `scope`.

    Raises:
        Unavailable: the record, the keys or the audit log did not answer.
        Outdated: rights were taken away meanwhile.
    """
    recall_id = RecallId(new_uuid())
    keys = await stages.keyring.owner(Owner.of(scope)) if scope.known else None
    areas, beyond = await areas_of(scope, query, keys, stages)
    query = settled_query(query, keys, scope.user)
    if not areas:  # nothing is kept about this person or shared: an empty answer creates nothing
        return await _nothing(scope, recall_id, stages)
    found = await _propose(scope, query, areas, keys, stages)
    if beyond:
        found.degraded.add("spaces")
    where = _anywhere(areas)
    limit = query.limit or rank.natural_limit(len(stages.tokenizer.words(query.text)))
    candidates = rank.fuse(found.paths, rank.Weights())[: max(CONFIRM_LEAST, 2 * limit)]
    async with stages.spans.step("confirm"), stages.store.view(scope) as view:
        rows = await view.find([candidate.id for candidate in candidates], where)
        if query.as_of is not None:
            stood = [await _as_it_was(view, row, query.as_of) for row in rows]
            rows = [row for row in stood if row is not None]
        scored = _scored(candidates, rows, stages, view)
        # At most as many owners as candidates; theirs are unwrapped for minutes, as everybody's.
        opening = await keys_of(scope, rows, stages.keyring)
        items, withheld = _fit(scope, query, limit, scored, opening, stages)
        withheld = list(dict.fromkeys((*withheld, *found.damaged)))
        event = await _record(view, scope, recall_id, query, scored, items, withheld, keys)
    return Recall(
        id=recall_id,
        items=items,
        degraded=tuple(sorted(found.degraded)),
        withheld=len(withheld),
        event_id=event.event_id,
    )


async def areas_of(
    scope: Scope, query: Query, keys: OwnerKeys | None, stages: RecallStages
) -> tuple[list[Area], bool]:
    """Return what is searched, shared spaces first, and whether there are more spaces than that."""
    person = scope.user if scope.known else None
    words: dict[str, list[str]] = {}
    spaces = sorted(scope.readable.same_user | scope.readable.members)
    chosen = spaces[:MOST_SPACES]
    shared = await searched(
        scope, [space for space in chosen if space in scope.readable.members], stages.keyring
    )

    def area(owned: OwnerKeys, space: SpaceId | None, user: UserId | None) -> Area:
        said = settled_query(query, owned, person).text
        if said not in words:  # one text for all owners, unless a value in it has a word of each
            words[said] = list(dict.fromkeys(stages.tokenizer.words(said)))
        return Area(
            keys=owned,
            space=space,
            user=user,
            where=filter_of(query, owned),
            terms=tuple(owned.terms(words[said])),
        )

    areas = [area(owned, space, None) for space, owned in shared.items()]
    if keys is not None:
        same = [space for space in chosen if space in scope.readable.same_user]
        areas += [area(keys, space, scope.user) for space in (*same, None)]
    return areas, len(spaces) > len(chosen)


def filter_of(query: Query, keys: OwnerKeys) -> Filter:
    """Return the query's conditions with its tags and session as keyed look-ups."""
    session = query.session_id
    before = query.created_before
    if query.as_of is not None:  # what was not known yet is not part of the answer
        known = query.as_of + timedelta(microseconds=1)
        before = known if before is None else min(before, known)
    return Filter(
        layers=query.layers,
        kinds=query.kinds,
        tags=tag_lookups(query.tags, keys),
        tags_all=query.tags_all,
        session=None if session is None else keys.blind("session", session),
        created_after=query.created_after,
        created_before=before,
        min_confidence=query.min_confidence,
    )


def _anywhere(areas: Sequence[Area]) -> Filter:
    """Return the conditions of all areas in one."""
    first, *others = areas
    known = {first.keys.owner: first.where} | {one.keys.owner: one.where for one in others}
    return across(list(known.values()))


async def _propose(
    scope: Scope,
    query: Query,
    areas: Sequence[Area],
    keys: OwnerKeys | None,
    stages: RecallStages,
) -> Proposals:
    found = Proposals()
    deadline = time.monotonic() + query.timeout_ms / 1000
    # The record's own paths need no vector: they run while the query is embedded.
    vector, _ = await asyncio.gather(
        _within(deadline, _embed(query.text, keys, stages), "embedder", found),
        _from_record(scope, areas, found, stages),
    )
    if vector is not None:
        indexed, sealed = await asyncio.gather(
            _from_index(scope, areas, vector, deadline, found, stages),
            _from_sealed(vector, keys, deadline, found),
        )
        # Turning vectors keeps their angles, so the cosines of all owners compare.
        nearest = sorted({**indexed, **sealed}.items(), key=lambda pair: -pair[1])
        found.paths.append(("dense", [Proposal(id=one, score=cosine) for one, cosine in nearest]))
    return found


async def _within(deadline: float, work: Awaitable[T], part: str, found: Proposals) -> T | None:
    """Return what `work` gives before `deadline`; else None, and say in `found` what is missing."""
    try:
        async with asyncio.timeout(max(0.001, deadline - time.monotonic())):
            return await work
    except TimeoutError:
        found.degraded.add("deadline")
    except Unavailable:
        found.degraded.add(part)
    return None


async def _embed(text: str, keys: OwnerKeys | None, stages: RecallStages) -> Vector:
    async with stages.spans.step("embed"):
        if keys is None:  # nobody whose key would seal it in the cache
            return await stages.embedder.query(text)
        cached = await stages.cache.get(keys, stages.embedder.name, text)
        if cached is not None:
            return cached
        vector = await stages.embedder.query(text)
        await stages.cache.put(keys, stages.embedder.name, text, vector)
        return vector


async def _from_record(
    scope: Scope, areas: Sequence[Area], found: Proposals, stages: RecallStages
) -> None:
    # No deadline of its own: without the record there is no answer, and its own bounds are short.
    async with stages.spans.step("lexical"), stages.store.view(scope) as view:
        found.now = view.now.timestamp()
        for area in areas:
            # What agents share of a person is searched with the person's own, by one statistic.
            if area.terms and (area.user is None or area.space is None):
                space = area.space if area.user is None else None
                proposed = await view.lexical(area.terms, area.where, LEXICAL_LIMIT, space=space)
                found.paths.append(("lexical", proposed))
        found.paths.append(("recency", await view.recent(_anywhere(areas), RECENT_LIMIT)))
        if stages.sensitive_candidates and any(area.user is not None for area in areas):
            found.sealed = await view.sensitive(
                _anywhere(areas), stages.embedder.name, stages.sensitive_candidates
            )


async def _from_index(
    scope: Scope,
    areas: Sequence[Area],
    vector: Vector,
    deadline: float,
    found: Proposals,
    stages: RecallStages,
) -> dict[MemoryId, float]:
    """Return the cosines that the index knows: every area is searched, side by side, and what
    answers in time counts.
    """
    tenant = await stages.keyring.tenant(scope.tenant)
    others = [one.id for one in rank.fuse(found.paths, rank.Weights())[:ALSO_LIMIT]]
    if stages.rebuilding():  # what is not in the index yet cannot be proposed by it
        found.degraded.add("index")
    best: dict[MemoryId, float] = {}

    async def search(area: Area) -> None:
        reach = reach_of(scope, area, tenant, vector=vector, now=found.now)
        also = [tenant.point_id(area.keys.owner, memory, 0) for memory in others]
        for hit in await stages.index.search(reach, limit=DENSE_LIMIT, also=also):
            try:
                memory, _version = tenant.open_pointer(hit.pointer)
            except Tampered:
                continue  # a foreign or damaged point is lost, never believed
            best[memory] = max(best.get(memory, -1.0), hit.score)

    async with stages.spans.step("search"):
        await asyncio.gather(*(_within(deadline, search(area), "index", found) for area in areas))
    return best


async def _from_sealed(
    vector: Vector, keys: OwnerKeys | None, deadline: float, found: Proposals
) -> dict[MemoryId, float]:
    """Return the cosines of the nearest of what is sensitive, and of what other paths propose."""
    if keys is None or not found.sealed:
        return {}
    compared = Compared()
    await _within(deadline, compare(vector, found.sealed, keys, compared), "index", found)
    found.damaged.extend(compared.damaged)
    return compared.nearest(DENSE_LIMIT, {one.id for _, path in found.paths for one in path})


def reach_of(scope: Scope, area: Area, tenant: TenantKeys, *, vector: Vector, now: float) -> Reach:
    """Return what the index may be asked of one area under `scope`, in its own keyed words."""
    owner = area.keys.owner
    namespaces = scope.namespaces if area.space is None else ()
    return Reach(
        tenant=tenant.word("tenant", str(scope.tenant)),
        owner=tenant.word("owner", str(owner.id)),
        user=None if area.user is None else tenant.word("user", str(area.user)),
        namespaces=tuple(tenant.word("namespace", str(ns)) for ns in sorted(namespaces)),
        space=None if area.space is None else tenant.word("space", str(area.space)),
        vector=area.keys.rotate(vector.reshape(1, -1))[0],
        terms=area.terms,
        where=area.where,
        now=now,
    )


async def _as_it_was(view: MemoryView, row: Row, then: datetime) -> Row | None:
    """Return the version of a memory that stood at `then`; None if it was forgotten just now.

    A version stood until the next one took its place: when it was last touched does not tell, since
    a repeat touches a version and makes no new one.
    """
    if row.version == 1:
        return row
    try:
        stood, *older = await view.versions(row.id)
    except NotFound:  # forgotten since it was found
        return None
    for before in older:
        if before.valid_until is not None and before.valid_until <= then:
            break
        stood = before
    return stood


def _scored(
    candidates: Sequence[rank.Candidate],
    rows: Sequence[Row],
    stages: RecallStages,
    view: MemoryView,
) -> list[rank.Scored]:
    by_id: Mapping[MemoryId, Row] = {row.id: row for row in rows}
    embedder = stages.embedder
    return rank.ordered(
        [
            rank.score(
                candidate,
                by_id[candidate.id],
                now=view.now,
                floor=embedder.floor,
                ceiling=embedder.ceiling,
                weights=rank.Weights(),
            )
            for candidate in candidates
            if candidate.id in by_id
        ]
    )


def _fit(
    scope: Scope,
    query: Query,
    limit: int,
    scored: Sequence[rank.Scored],
    keys: Mapping[Owner, OwnerKeys],
    stages: RecallStages,
) -> tuple[tuple[Recalled, ...], list[MemoryId]]:
    """Open from the best down until the limit or the token budget is reached."""
    least = query.min_score
    if query.limit is None and scored:
        least = max(least, scored[0].score * rank.CUT_BELOW_BEST)
    items: list[Recalled] = []
    withheld: list[MemoryId] = []
    tokens_left = query.max_tokens
    for candidate in scored:
        if len(items) >= limit or tokens_left <= 0 or candidate.score < least:
            break
        try:
            memory = opened(scope, candidate.row, keys)
        except Tampered:
            withheld.append(candidate.row.id)
            continue
        shown, detail = memory.content, "full"
        tokens = stages.embedder.count_tokens(shown)
        if tokens > SUMMARY_TOKENS and (len(items) >= FULL_ITEMS or tokens > tokens_left):
            shown, detail = _summary(shown, min(SUMMARY_TOKENS, tokens_left), tokens), "summary"
            tokens = min(SUMMARY_TOKENS, tokens_left)
        if tokens > tokens_left and items:
            break
        tokens_left -= tokens
        items.append(
            Recalled(
                memory=memory,
                content=shown,
                score=candidate.score,
                detail=detail,
                explain=candidate.parts,
            )
        )
    return tuple(items), withheld


def _summary(text: str, tokens: int, all_tokens: int) -> str:
    """Return the beginning of `text`, about `tokens` long, cut at a sentence or a blank."""
    most = max(1, len(text) * tokens // max(1, all_tokens))
    head = text[:most]
    for marks in ("。！？.!?\n", " ，,;；"):
        cut = max(head.rfind(mark) for mark in marks)
        if cut > most // 2:
            return head[: cut + 1].rstrip() + " …"
    return head + " …"


async def _nothing(scope: Scope, recall_id: RecallId, stages: RecallStages) -> Recall:
    event = AuditEvent.of(
        scope,
        event_id=EventId(new_uuid()),
        at=await stages.store.now(),
        object=str(recall_id),
        count=0,
    )
    await stages.store.append(event)
    return Recall(id=recall_id, items=(), degraded=(), withheld=0, event_id=event.event_id)


async def _record(
    view: MemoryView,
    scope: Scope,
    recall_id: RecallId,
    query: Query,
    scored: Sequence[rank.Scored],
    items: Sequence[Recalled],
    withheld: Sequence[MemoryId],
    keys: OwnerKeys | None,
) -> AuditEvent:
    trace = {
        "query": query.text,
        "candidates": [[str(item.row.id), item.row.version, item.parts] for item in scored],
        "returned": [str(item.memory.row.id) for item in items],
        "policy_version": scope.decision.policy_version,
    }
    data = json.dumps(trace, ensure_ascii=False, separators=(",", ":")).encode()
    event = AuditEvent.of(
        scope,
        event_id=EventId(new_uuid()),
        at=view.now,
        object=str(recall_id),
        count=len(items),
    )
    if keys is not None:  # else there is nobody whose key would seal it
        sealed = keys.seal(Place(record=recall_id, version=1, field="recall"), data)
        await view.keep_recall(recall_id, sealed, days=KEEP_RECALL_DAYS)
    await view.used([item.memory.row.id for item in items])
    await record_withheld(view, scope, withheld)
    await view.record(event)
    return event


async def record_withheld(view: MemoryView, scope: Scope, memories: Sequence[MemoryId]) -> None:
    """Audit each memory whose envelope did not open where it stands."""
    for memory in memories:
        await view.record(
            AuditEvent.of(
                scope,
                event_id=EventId(new_uuid()),
                at=view.now,
                object=str(memory),
                outcome="tampered",
                action=WITHHOLD,
            )
        )
