"""Whose keys: of a write, of a row, of everything that a recall searches.

Rules this module keeps:
- A `members` space owns what is in it, and each memory there is sealed under a key of the space and
  of the person it is about. Everything else is owned by its person, what agents share in a
  `same_user` space included.
- Who wrote is said by the credential and by nothing that came with the request.
- What is about a person does not enter a space that other people read when it is of a special or a
  sensitive class.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from core.errors import ContentRejected, Denied, Reason, Tampered
from core.ids import SpaceId
from core.model import Details, Filter, Lookups, Memory, Owner, Row, Sensitivity
from core.ports import Keyring, OwnerKeys, Place, SealedPseudonym
from core.scope import Principal, Scope

STAYS_OUT = frozenset({Sensitivity.SPECIAL, Sensitivity.SENSITIVE})
"""Classes that never enter a `members` space."""
OUTSIDE = "SPACE.SENSITIVE"
"""The reason that is given for it."""


def author_of(principal: Principal) -> str:
    """Return who writes: `user:<user_id>` of a token that is a person's, else `key:<id>`."""
    if principal.by_token and principal.person is not None:
        return f"user:{principal.person}"
    return f"key:{principal.key_id}"


def owner_into(scope: Scope) -> Owner:
    """Return the owner of what a write under `scope` keeps.

    Raises:
        Denied: the space may not be written to.
    """
    if scope.into is None:
        return Owner.of(scope)
    if scope.into in scope.writable.members:
        return Owner.of_space(scope, scope.into, scope.user)
    if scope.into in scope.writable.same_user:
        return Owner.of(scope)
    raise Denied(rule="space-reader")


def owner_of(scope: Scope, row: Row | SealedPseudonym) -> Owner:
    """Return the owner of a row that the record showed under `scope`.

    Outside `members` spaces that is the scope's own person, whoever the row names: were another
    person's ever shown, it would not open.
    """
    if row.space is not None and row.space in scope.readable.members:
        return Owner.of_space(scope, row.space, row.user)
    return Owner.of(scope)


def writable(scope: Scope, row: Row) -> bool:
    """Tell whether `scope` may change a row that it shows; who only reads a space may not."""
    spaces = scope.writable
    return row.space is None or row.space in spaces.same_user | spaces.members


def admit(sensitivity: Sensitivity, owner: Owner, field: str = "content") -> None:
    """Let a class of content into what `owner` keeps. Raises: ContentRejected."""
    if owner.is_space and sensitivity in STAYS_OUT:
        raise ContentRejected((Reason(kind=OUTSIDE, field=field),))


async def keys_of(scope: Scope, rows: Iterable[Row], keyring: Keyring) -> Mapping[Owner, OwnerKeys]:
    """Return the keys that open `rows`; an owner whose keys are gone is left out.

    Raises: Unavailable.
    """
    owners = list(dict.fromkeys(owner_of(scope, row) for row in rows))
    found = await asyncio.gather(*(keyring.owner(owner) for owner in owners))
    return {owner: keys for owner, keys in zip(owners, found, strict=True) if keys is not None}


async def searched(
    scope: Scope, spaces: Sequence[SpaceId], keyring: Keyring
) -> Mapping[SpaceId, OwnerKeys]:
    """Return what looks things up in each of the `members` spaces that has keys; it opens nothing.

    Raises: Unavailable.
    """
    found = await asyncio.gather(*(keyring.owner(Owner.of_space(scope, space)) for space in spaces))
    return {space: keys for space, keys in zip(spaces, found, strict=True) if keys is not None}


def across(filters: Sequence[Filter]) -> Filter:
    """Return one filter for a search over several owners, from each one's own; at least one.

    All ask the same, each under its owner's look-ups.
    """
    first, *others = filters
    return Filter(
        layers=first.layers,
        kinds=first.kinds,
        tags=first.tags,
        tags_all=first.tags_all,
        session=first.session,
        elsewhere=tuple(Lookups(tags=one.tags, session=one.session) for one in others),
        created_after=first.created_after,
        created_before=first.created_before,
        min_confidence=first.min_confidence,
        states=first.states,
    )


def opened(scope: Scope, row: Row, keys: Mapping[Owner, OwnerKeys]) -> Memory:
    """Return the memory of a row that the record confirmed.

    Raises:
        Tampered: it is not what was sealed, or its key is destroyed.
    """
    owned = keys.get(owner_of(scope, row))
    if owned is None:
        raise Tampered

    def open_field(name: str, envelope: bytes) -> bytes:
        place = Place(record=row.id, version=row.version, field=name, namespace=row.namespace)
        return owned.open(place, envelope)

    return Memory(
        row=row,
        content=open_field("content", row.content).decode(),
        details=Details.from_bytes(open_field("details", row.details)),
    )
