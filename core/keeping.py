"""Makes the sealed form of one version of a memory: what stands clear, and what is sealed.

Rules this module keeps:
- Every text is sealed here, at its place; every look-up is keyed here. Nothing else makes a `Kept`.
- What is `sensitive` always expires, a day after it was written or became so; working memory
  matters for minutes; a policy may ask for an end. No update lengthens any of that.
- Labels of sensitivity only rise.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self

from core import pseudonyms
from core.errors import Invalid
from core.ids import MemoryId, NamespaceId, SpaceId
from core.model import (
    Change,
    Details,
    Draft,
    Guarded,
    Kept,
    Kind,
    Layer,
    Row,
    Sensitivity,
    Standing,
    State,
    Trust,
)
from core.placeholders import NO_ORIGINALS, Originals
from core.ports import OwnerKeys, Place, Tokenizer, Vectors

SENSITIVE_LIFE = timedelta(hours=24)
"""What a policy let through although it is sensitive is gone after this, at the latest."""
WORKING_LIFE = timedelta(minutes=30)
"""Working memory matters for minutes; a caller may ask for less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """The texts of one version with all that is drawn from them; made before a transaction opens.

    Args:
        vectors: one a chunk, when it has been embedded.
        terms, token_count, digest: as in `core.model.Kept`.
        originals: what the placeholders in them may stand for; of two that know one, the first.
    """

    content: str = field(repr=False)
    details: Details
    vectors: Vectors | None = field(repr=False)
    terms: Mapping[int, int] = field(repr=False)
    token_count: int
    digest: bytes
    originals: tuple[Originals, ...] = field(default=(), repr=False)

    def saying(self, details: Details, *older: Originals) -> Self:
        """Return the same content with other details.

        Args:
            older: what placeholders in the version before stood for.
        """
        return type(self)(
            content=self.content,
            details=details,
            vectors=self.vectors,
            terms=self.terms,
            token_count=self.token_count,
            digest=self.digest,
            originals=(*self.originals, *older),
        )


def texts(
    content: str,
    details: Details,
    vectors: Vectors | None,
    *,
    keys: OwnerKeys,
    tokenizer: Tokenizer,
    originals: Originals = NO_ORIGINALS,
) -> Texts:
    """Return the texts of one version, tokenised and digested under the owner's keys."""
    words = Counter(tokenizer.words(content))
    return Texts(
        content=content,
        details=details,
        vectors=vectors,
        terms=dict(zip(keys.terms(list(words)), words.values(), strict=True)),
        token_count=sum(words.values()),
        digest=keys.digest("content", tokenizer.canonical(content)),
        originals=(originals,),
    )


def first(
    memory: MemoryId,
    namespace: NamespaceId,
    space: SpaceId | None,
    guarded: Guarded,
    kind: Kind,
    *,
    now: datetime,
) -> Standing:
    """Return where a new memory stands.

    Raises:
        Invalid: its `expires_at` has passed already.
    """
    draft = guarded.draft
    return Standing(
        id=memory,
        version=1,
        namespace=namespace,
        space=space,
        layer=draft.layer,
        kind=kind,
        state=State.ACTIVE,
        importance=draft.importance,
        confidence=draft.confidence,
        persistence=draft.persistence,
        sensitivity=guarded.sensitivity,
        trust=Trust.of(guarded.source_kind),
        source_kind=guarded.source_kind,
        outcome=draft.outcome,
        occurred_at=draft.occurred_at,
        expires_at=expiry(draft, guarded.sensitivity, guarded.expire_seconds, now=now),
        until_session_end=draft.until_session_end,
        ends_by=_end(guarded.expire_seconds, now),
    )


def following(
    row: Row,
    *,
    importance: float | None = None,
    confidence: float | None = None,
    sensitivity: Sensitivity = Sensitivity.NONE,
    expires_at: datetime | None,
    ends_by: datetime | None,
    until_session_end: bool | None = None,
) -> Standing:
    """Return where the next version of `row` stands; what is None stays as it is, but the ends."""
    return Standing(
        id=row.id,
        version=row.version + 1,
        namespace=row.namespace,
        space=row.space,
        layer=row.layer,
        kind=row.kind,
        state=row.state,
        importance=row.importance if importance is None else importance,
        confidence=row.confidence if confidence is None else confidence,
        persistence=row.persistence,
        sensitivity=more_sensitive(row.sensitivity, sensitivity),
        trust=row.trust,
        source_kind=row.source_kind,
        outcome=row.outcome,
        occurred_at=row.occurred_at,
        expires_at=expires_at,
        until_session_end=(
            row.until_session_end if until_session_end is None else until_session_end
        ),
        ends_by=ends_by,
    )


def more_sensitive(one: Sensitivity, other: Sensitivity) -> Sensitivity:
    """Return the higher of two labels."""
    return max(one, other, key=list(Sensitivity).index)


def sealed(
    standing: Standing,
    said: Texts,
    keys: OwnerKeys,
    *,
    embedder: str,
    author: bytes | None = None,
) -> Kept:
    """Return one version as the record keeps it, every text of it sealed at its place.

    Args:
        embedder: name of the model that made the vectors.
        author: of a first version; who revises a memory is not counted as its author.
    """
    details = said.details
    session = details.session_id
    vectors = said.vectors

    def place(field: str) -> Place:
        return Place(
            record=standing.id,
            version=standing.version,
            field=field,
            namespace=standing.namespace,
        )

    return Kept(
        id=standing.id,
        version=standing.version,
        namespace=standing.namespace,
        space=standing.space,
        layer=standing.layer,
        kind=standing.kind,
        state=standing.state,
        importance=standing.importance,
        confidence=standing.confidence,
        persistence=standing.persistence,
        sensitivity=standing.sensitivity,
        trust=standing.trust,
        source_kind=standing.source_kind,
        outcome=standing.outcome,
        occurred_at=standing.occurred_at,
        expires_at=standing.expires_at,
        until_session_end=standing.until_session_end,
        ends_by=standing.ends_by,
        session=None if session is None else keys.blind("session", session),
        tags=tag_lookups(details.tags, keys),
        digest=said.digest,
        content=keys.seal(place("content"), said.content.encode()),
        details=keys.seal(place("details"), details.to_bytes()),
        terms=said.terms,
        token_count=said.token_count,
        vectors=() if vectors is None else sealed_vectors(vectors, keys, place),
        embedder="" if vectors is None else embedder,
        author=author,
        pseudonyms=pseudonyms.sealed(
            pseudonyms.entries(said.content, details, *said.originals),
            keys,
            memory=standing.id,
            version=standing.version,
            namespace=standing.namespace,
        ),
    )


def sealed_vectors(
    vectors: Vectors, keys: OwnerKeys, place: Callable[[str], Place]
) -> tuple[bytes, ...]:
    """Return one envelope a vector, in order: little-endian float32."""
    return tuple(
        keys.seal(place(f"vector.{chunk}"), vector.astype("<f4").tobytes())
        for chunk, vector in enumerate(vectors)
    )


def tag_lookups(tags: Sequence[str], keys: OwnerKeys) -> tuple[bytes, ...]:
    """Return the keyed look-up of each tag, in order."""
    return tuple(keys.blind("tag", tag) for tag in tags)


def expiry(
    draft: Draft, sensitivity: Sensitivity, expire_seconds: int | None = None, *, now: datetime
) -> datetime | None:
    """Return when a draft expires, by the database's time; the soonest reason wins.

    Args:
        expire_seconds: how long a policy lets it be kept at most; None for no such end.

    Raises:
        Invalid: the caller's own `expires_at` has passed already.
    """
    if draft.expires_at is not None and draft.expires_at <= now:
        raise Invalid("This time has passed already.", field="expires_at")
    ends = [end for end in (draft.expires_at, _end(expire_seconds, now)) if end is not None]
    if draft.ttl_seconds is not None:
        ends.append(now + timedelta(seconds=draft.ttl_seconds))
    if sensitivity is Sensitivity.SENSITIVE:
        ends.append(now + SENSITIVE_LIFE)
    if draft.layer is Layer.WORKING:
        ends.append(now + WORKING_LIFE)
    return min(ends, default=None)


def joined_expiry(row: Row, again: Kept, *, now: datetime) -> datetime | None:
    """Return when `row` expires once it has been said again: at the later of the two times, so that
    what was asked to be kept is not lost with what was not; and no later than a policy asks of
    either.
    """
    asked = [at for at in (row.expires_at, again.expires_at) if at is not None]
    ends = [max(asked)] if len(asked) == 2 else []  # noqa: PLR2004 - both have an end
    sensitivity = more_sensitive(row.sensitivity, again.sensitivity)
    return _bounded(ends, row, sensitivity, sooner(row.ends_by, again.ends_by), now=now)


def changed_expiry(
    row: Row,
    change: Change,
    sensitivity: Sensitivity,
    ends_by: datetime | None,
    *,
    now: datetime,
) -> datetime | None:
    """Return when the next version of `row` expires.

    Args:
        sensitivity, ends_by: of the next version.

    Raises:
        Invalid: the time asked for has passed already.
    """
    if change.expires_at is not None and change.expires_at <= now:
        raise Invalid("This time has passed already.", field="expires_at")
    asked = row.expires_at if change.expires_at is None else change.expires_at
    ends = [] if asked is None or change.clear_expiry else [asked]
    return _bounded(ends, row, sensitivity, ends_by, now=now)


def changed_end(row: Row, expire_seconds: int | None, *, now: datetime) -> datetime | None:
    """Return by when the next version of `row` ends at the latest, for a policy's sake.

    Args:
        expire_seconds: what the policy asks of the change; None for no end.
    """
    return sooner(row.ends_by, _end(expire_seconds, now))


def sooner(*ends: datetime | None) -> datetime | None:
    """Return the soonest of the times that are one; None for none."""
    return min((end for end in ends if end is not None), default=None)


def _end(expire_seconds: int | None, now: datetime) -> datetime | None:
    return None if expire_seconds is None else now + timedelta(seconds=expire_seconds)


def _bounded(
    ends: list[datetime],
    row: Row,
    sensitivity: Sensitivity,
    ends_by: datetime | None,
    *,
    now: datetime,
) -> datetime | None:
    """Return the soonest of `ends` and of what bounds every version of `row`."""
    bounds = list(ends) if ends_by is None else [*ends, ends_by]
    if sensitivity is Sensitivity.SENSITIVE:
        bounds.append(_sensitive_end(row, now))
    if row.layer is Layer.WORKING:
        bounds.append(row.created_at + WORKING_LIFE)
    return min(bounds, default=None)


def _sensitive_end(row: Row, now: datetime) -> datetime:
    """Return by when what is sensitive ends.

    A memory may become so long after it was written, by a policy or by what is added to it: then it
    has a day from there, and where it stood from then on tells when that was.
    """
    if row.sensitivity is not Sensitivity.SENSITIVE:
        return now + SENSITIVE_LIFE
    from_the_start = row.created_at + SENSITIVE_LIFE
    return from_the_start if row.expires_at is None else max(from_the_start, row.expires_at)
