"""The only place that makes a `Guarded`: every string of a draft, a change or a query goes through
the guard here, and what comes out is what the engine may see.

Rules this module keeps:
- Every string is checked: content, tags, metadata keys and values, entities, reference, session,
  task and namespace. A field added to `Draft` and forgotten here fails a test.
- Where a text came from is decided by channel and credential; a claim above the credential's
  ceiling is lowered, not believed.
"""

from collections import Counter
from typing import Any

from core.model import (
    Change,
    Details,
    Draft,
    Guarded,
    GuardedChange,
    Query,
    Redaction,
    Target,
)
from core.pseudonyms import Settled
from core.scope import Principal, SourceKind
from gateway.guard.fields import characters_of
from gateway.guard.guard import Guard
from gateway.guard.judged import Checked
from gateway.guard.marks import Marker
from gateway.guard.policy import TextContext

_MOST_TRUSTED_FIRST = (
    SourceKind.USER_DIRECT,
    SourceKind.AGENT_INFERRED,
    SourceKind.TOOL_OUTPUT,
    SourceKind.DOCUMENT,
    SourceKind.IMPORTED,
)


def source_of(claimed: SourceKind | None, principal: Principal) -> SourceKind:
    """Return the source kind that a write of `principal` gets.

    The default is the credential's ceiling over HTTP and `agent_inferred` over MCP, where it is
    never more; a claim above the ceiling is lowered. Kinds that are the gateway's own cannot be
    claimed.
    """
    ceiling = _trust_rank(principal.ceiling)
    if principal.channel == "mcp":
        ceiling = max(ceiling, _trust_rank(SourceKind.AGENT_INFERRED))
    asked = ceiling if claimed is None else _trust_rank(claimed)
    return _MOST_TRUSTED_FIRST[max(asked, ceiling)]


def _trust_rank(kind: SourceKind) -> int:
    """Return the place of `kind` from most to least trusted; unclaimable kinds count as least."""
    try:
        return _MOST_TRUSTED_FIRST.index(kind)
    except ValueError:
        return len(_MOST_TRUSTED_FIRST) - 1


def size_of(said: Draft | Change | Query) -> int:
    """Return how many characters the guard has to judge of a draft, a change or a query."""
    if isinstance(said, Query):
        return len(said.text)
    if isinstance(said, Change):
        return characters_of([said.content, said.tags, said.metadata])
    details = said.details
    return characters_of(
        [said.content, details.tags, details.metadata, details.entities, details.source_ref,
         details.session_id, details.task]
    )  # fmt: skip


def guard_draft(
    guard: Guard,
    draft: Draft,
    principal: Principal,
    target: Target,
    namespaces: frozenset[str] | None,
) -> Guarded:
    """Return `draft` as the policy lets it through.

    Args:
        namespaces: names of those it goes to, the default one where the caller named none.

    Raises:
        ContentRejected: a secret, a kind that the policy rejects, or a scanner that failed.
        Invalid: text that no store could keep (U+0000, lone surrogates, nothing visible).
    """
    details = draft.details
    source = source_of(draft.source_kind, principal)
    checked = guard.check(
        {
            "content": draft.content,
            "tags": list(details.tags),
            "metadata": dict(details.metadata),
            "entities": list(details.entities),
            "source.ref": details.source_ref,
            "session_id": details.session_id,
            "task": details.task,
            "namespace": list(target.namespaces or ()),
            "space": list(target.spaces or ()),
            "user_id": target.user_id,
        },
        TextContext(namespaces=namespaces, source=source, layer=draft.layer),
    )
    fields = checked.fields
    texts = Details(
        tags=tuple(dict.fromkeys(fields["tags"])),
        metadata=fields["metadata"],
        entities=tuple(fields["entities"]),
        source_ref=fields["source.ref"],
        session_id=fields["session_id"],
        task=fields["task"],
    )
    return Guarded(
        draft=_saying(draft, fields["content"], texts),
        source_kind=source,
        redactions=_redactions(checked),
        sensitivity=checked.sensitivity,
        expire_seconds=checked.expire_seconds,
        marks=checked.marks,
    )


def guard_change(guard: Guard, change: Change, context: TextContext) -> GuardedChange:
    """Return `change` as the policy lets it through.

    Args:
        context: the memory's own: where it is kept, and who said it first.

    Raises: as `guard_draft`.
    """
    given: dict[str, Any] = {}
    if change.content is not None:
        given["content"] = change.content
    if change.tags is not None:
        given["tags"] = list(change.tags)
    if change.metadata is not None:
        given["metadata"] = dict(change.metadata)
    checked = guard.check(given, context)
    fields = checked.fields
    tags = fields.get("tags")
    return GuardedChange(
        change=Change(
            content=fields.get("content"),
            tags=None if tags is None else tuple(dict.fromkeys(tags)),
            metadata=fields.get("metadata"),
            importance=change.importance,
            confidence=change.confidence,
            expires_at=change.expires_at,
            clear_expiry=change.clear_expiry,
            expected_version=change.expected_version,
        ),
        redactions=_redactions(checked),
        sensitivity=checked.sensitivity,
        expire_seconds=checked.expire_seconds,
        marks=checked.marks,
    )


def guard_query(guard: Guard, query: Query, principal: Principal, target: Target) -> Query:
    """Return `query` with what must not be embedded, cached or recorded transformed.

    Tags and the session are only looked up under a key and never kept, so they stay as they are.

    Args:
        principal: who asks, and so the source of the words.
        target: names the namespaces, or leaves them to the credential.

    Raises: Invalid, ContentRejected (a scanner failed).
    """
    named = principal.namespaces if target.namespaces is None else target.namespaces
    context = TextContext(
        namespaces=None if named is None else frozenset(named),
        source=source_of(None, principal),
    )
    marker = Marker()
    return query.saying(guard.check_query(query.text, context, marker), marker.marks)


def settled_draft(guarded: Guarded, by: Settled) -> Guarded:
    """Return a guarded draft whose placeholders have their person's words."""
    return Guarded(
        draft=_saying(guarded.draft, by.content, by.details),
        source_kind=guarded.source_kind,
        redactions=_joined(guarded.redactions, by.redactions),
        sensitivity=guarded.sensitivity,
        expire_seconds=guarded.expire_seconds,
        originals=by.originals,
    )


def settled_change(guarded: GuardedChange, by: Settled) -> GuardedChange:
    """Return a guarded change whose placeholders have their person's words."""
    change = guarded.change
    return GuardedChange(
        change=Change(
            content=None if change.content is None else by.content,
            tags=change.tags,
            metadata=None if change.metadata is None else by.details.metadata,
            importance=change.importance,
            confidence=change.confidence,
            expires_at=change.expires_at,
            clear_expiry=change.clear_expiry,
            expected_version=change.expected_version,
        ),
        redactions=_joined(guarded.redactions, by.redactions),
        sensitivity=guarded.sensitivity,
        expire_seconds=guarded.expire_seconds,
        originals=by.originals,
    )


def _saying(draft: Draft, content: str, details: Details) -> Draft:
    return Draft(
        content=content,
        details=details,
        layer=draft.layer,
        kind=draft.kind,
        importance=draft.importance,
        confidence=draft.confidence,
        occurred_at=draft.occurred_at,
        expires_at=draft.expires_at,
        ttl_seconds=draft.ttl_seconds,
        until_session_end=draft.until_session_end,
        persistence=draft.persistence,
        source_kind=draft.source_kind,
        extract=draft.extract,
        outcome=draft.outcome,
        wait_merged=draft.wait_merged,
    )


def _joined(done: tuple[Redaction, ...], more: tuple[Redaction, ...]) -> tuple[Redaction, ...]:
    """Return both, with one entry for each field, kind and action."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for one in (*done, *more):
        counts[one.kind, one.action, one.field] += one.count
    return tuple(
        Redaction(kind=kind, action=action, field=field, count=count)
        for (kind, action, field), count in counts.items()
    )


def _redactions(checked: Checked) -> tuple[Redaction, ...]:
    return tuple(checked.redactions)
