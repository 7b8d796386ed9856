"""Puts the words of a person into what the guard let through about them.

Rules this module keeps:
- It comes after a scope is minted and before anything is embedded, hashed or kept: until then a
  value stands beside its text, in this process's memory alone.
- A placeholder that came with a text stays only if the record knows its word as this owner's and
  this person's own, in a memory that the scope reads and that is live. Any other is written
  `[PHONE_NUMBER]`, and reported: nobody else's resolves, and none is made up.
- A person who has no keys gets none for a query.
"""

import contextlib

from core import pseudonyms
from core.errors import Tampered, TooLarge
from core.ids import MemoryId
from core.model import Details, Guarded, GuardedChange, Owner
from core.owners import owner_into, owner_of
from core.placeholders import Entry, token_of
from core.ports import OwnerKeys
from core.pseudonyms import Settled
from core.scope import Scope
from gateway.gate import Gate
from gateway.guard.guarded import settled_change, settled_draft

MAX_BYTES = 224 * 1024
"""A content of values alone grows when each becomes a placeholder; the record keeps 256 KiB of it,
sealed and padded."""


async def settle_draft(gate: Gate, scope: Scope, guarded: Guarded) -> Guarded:
    """Return `guarded` with the words of whom it is about.

    Raises:
        Denied: the space may not be written to.
        TooLarge: with all its placeholders the content is more than can be kept.
        Unavailable: the record or the keys did not answer.
    """
    draft = guarded.draft
    words = pseudonyms.words_of(draft.content, draft.details)
    if not words:
        return guarded
    owner = owner_into(scope)
    keys = await gate.keyring.ensure_owner(owner)
    known = await _known(gate, scope, owner, keys, words - guarded.marks.keys())
    settled = pseudonyms.settled(
        draft.content,
        draft.details,
        marks=guarded.marks,
        known=known,
        keys=keys,
        person=scope.user,
    )
    return settled_draft(guarded, _fitting(settled))


async def settle_change(
    gate: Gate, scope: Scope, memory: MemoryId, guarded: GuardedChange
) -> GuardedChange:
    """Return `guarded` with the words of whom the memory is about.

    Raises:
        NotFound: the memory is not live in this scope.
        TooLarge: as `settle_draft`.
        Tampered: its keys are destroyed.
        Unavailable: the record or the keys did not answer.
    """
    change = guarded.change
    content, details = change.content or "", Details(metadata=change.metadata or {})
    words = pseudonyms.words_of(content, details)
    if not words:
        return guarded
    async with gate.store.view(scope) as view:
        row = await view.get(memory)
    owner = owner_of(scope, row)
    keys = await gate.keyring.owner(owner)
    if keys is None:
        raise Tampered
    # A word is looked for among the scope's own person's; in a space, another's is not theirs.
    own = words - guarded.marks.keys() if row.user == scope.user else frozenset[str]()
    known = await _known(gate, scope, owner, keys, own)
    settled = pseudonyms.settled(
        content, details, marks=guarded.marks, known=known, keys=keys, person=row.user
    )
    return settled_change(guarded, _fitting(settled))


def _fitting(settled: Settled) -> Settled:
    if len(settled.content.encode()) > MAX_BYTES:
        raise TooLarge("With its pseudonyms the content is too long.", field="content")
    return settled


async def _known(
    gate: Gate, scope: Scope, owner: Owner, keys: OwnerKeys, words: frozenset[str]
) -> dict[str, Entry]:
    """Return what those of `words` stand for that are the owner's own."""
    if not words:
        return {}
    async with gate.store.view(scope) as view:
        rows = await view.pseudonyms_of([token_of(word) for word in sorted(words)])
    found: dict[str, Entry] = {}
    for row in rows:
        if owner_of(scope, row) == owner:
            with contextlib.suppress(Tampered):  # what was changed below stands for nothing
                found |= pseudonyms.opened([row], keys)
    return found
