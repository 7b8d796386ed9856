"""Every way to change a sealed log below the gateway, as functions on a `FakeSealStore`.

The log has two tenants; twelve events of ONE and six of TWO, sealed in three runs.
"""

import copy

from core.ids import TenantId, new_uuid
from core.ports import SignedEvent
from gateway.audit.chain import extend, genesis
from gateway.audit.checkpoint import CheckpointSigner
from gateway.audit.event import digest
from gateway.audit.writer import Writer
from tests.gateway.audit.log import KEY, SEED, make_event

ONE, TWO = TenantId(new_uuid()), TenantId(new_uuid())
SIGNER = CheckpointSigner(SEED)
STRANGER = CheckpointSigner(b"x" * 32)


def edit(row, **changes):
    """Change fields of a sealed row's event; its digest and MAC stay, as nobody can make them."""
    event = row.signed.event
    values = {name: getattr(event, name) for name in type(event).__slots__} | changes
    resign(row, event=type(event)(**values))


def resign(row, **changes):
    names = SignedEvent.__slots__
    row.signed = SignedEvent(**({name: getattr(row.signed, name) for name in names} | changes))


def rebuild(store, upto=None):
    """Recompute tenant ONE's chain over its rows as they are, as an attacker with the code can."""
    rows = store.of(ONE)[:upto]
    for row in rows:
        resign(row, digest=digest(row.signed.event))
    for row, place in zip(rows, extend(0, genesis(ONE), [row.signed for row in rows]), strict=True):
        row.sequence, row.prev, row.hash = place.sequence, place.prev, place.hash
    return rows


def drop(store, *positions):
    rows = store.of(ONE)
    gone = [id(rows[position]) for position in positions]
    store.rows = [row for row in store.rows if id(row) not in gone]


def swap(store):
    one, other = store.of(ONE)[3:5]
    one.signed, other.signed = other.signed, one.signed


def swap_places(store):
    one, other = store.of(ONE)[3:5]
    one.sequence, other.sequence = other.sequence, one.sequence


def duplicate(store):
    store.rows.append(copy.copy(store.of(ONE)[4]))


def duplicate_at_the_end(store):
    row = copy.copy(store.of(ONE)[4])
    row.sequence = 13
    store.rows.append(row)


def renumber_after_dropping(store):
    drop(store, 4)
    for number, row in enumerate(store.of(ONE), 1):
        row.sequence = number


def rewrite(store):
    edit(store.of(ONE)[5], outcome="fine")
    rebuild(store)


def rewrite_and_sign_with_another_key(store):
    rewrite(store)
    rows = store.of(ONE)
    store.signed = [one for one in store.signed if one.tenant != ONE]
    store.signed.append(STRANGER.sign(ONE, 12, rows[-1].hash, store.time))


def rewrite_and_remove_heads(store):
    rewrite(store)
    store.signed = [one for one in store.signed if one.tenant != ONE]


def fork(store):
    store.signed.append(SIGNER.sign(ONE, 8, b"f" * 32, store.time))


def cut(store):
    drop(store, 10, 11)


def cut_with_its_heads(store):
    drop(store, 8, 9, 10, 11)
    store.signed = [one for one in store.signed if one.tenant != ONE or one.size <= 8]


def remove_everything_of_a_tenant(store):
    store.rows = [row for row in store.rows if row.signed.event.tenant != ONE]
    store.signed = [one for one in store.signed if one.tenant != ONE]


def unseal_the_tail(store):
    for row in store.of(ONE)[10:]:
        row.sequence = row.prev = row.hash = None


def insert_after_the_end(store):
    signed = Writer(KEY).sign(make_event(ONE))
    rows = store.of(ONE)
    (place,) = extend(12, rows[-1].hash, [signed])
    store.add(signed)
    row = store.rows[-1]
    row.sequence, row.prev, row.hash = place.sequence, place.prev, place.hash


def insert_far_after_the_end(store):
    insert_after_the_end(store)
    store.rows[-1].sequence = 1000


def move_to_another_tenant(store):
    rows, others = store.of(ONE), store.of(TWO)
    others[2].signed = rows[2].signed
    edit(others[2], tenant=TWO)


def sign_an_old_head_again_as_newer(store):
    first = next(one for one in store.signed if one.tenant == ONE)
    store.signed.append(
        type(first)(
            **{
                **{name: getattr(first, name) for name in type(first).__slots__},
                "size": 12,
            }
        )
    )


def forge_a_signature(store):
    last = store.signed[-1]
    values = {name: getattr(last, name) for name in type(last).__slots__}
    store.signed[-1] = type(last)(**(values | {"signature": bytes(64)}))


ATTACKS = {
    "edit the first": (lambda s: edit(s.of(ONE)[0], actor="c" * 32), 1),
    "edit one in the middle": (lambda s: edit(s.of(ONE)[5], outcome="fine"), 6),
    "edit the last": (lambda s: edit(s.of(ONE)[11], count=0), 12),
    "edit a time": (lambda s: edit(s.of(ONE)[5], at=s.time), 6),
    "take a person out": (lambda s: edit(s.of(ONE)[5], on_behalf_of=None), 6),
    "edit a MAC": (lambda s: resign(s.of(ONE)[5], mac=bytes(32)), 6),
    "edit a number": (lambda s: resign(s.of(ONE)[5], number=99), 6),
    "edit a writer": (lambda s: resign(s.of(ONE)[5], writer=new_uuid()), 6),
    "edit a hash": (lambda s: setattr(s.of(ONE)[5], "hash", bytes(32)), 6),
    "edit a link": (lambda s: setattr(s.of(ONE)[5], "prev", bytes(32)), 6),
    "empty a hash": (lambda s: setattr(s.of(ONE)[5], "hash", None), 6),
    "edit a sequence": (lambda s: setattr(s.of(ONE)[11], "sequence", 40), 12),
    "drop the head": (lambda s: drop(s, 0), 1),
    "drop one in the middle": (lambda s: drop(s, 5), 6),
    "drop the last": (lambda s: drop(s, 11), 12),
    "drop several": (lambda s: drop(s, 2, 3, 8), 3),
    "drop one and renumber": (renumber_after_dropping, 5),
    "swap two events": (swap, 4),
    "swap two places": (swap_places, 4),
    "repeat an event": (duplicate, 6),
    "repeat an event at the end": (duplicate_at_the_end, 13),
    "rewrite all after an edit": (rewrite, 8),
    "rewrite and sign with another key": (rewrite_and_sign_with_another_key, None),
    "rewrite and remove the heads": (rewrite_and_remove_heads, 2),
    "sign two histories": (fork, 8),
    "cut the tail": (cut, 11),
    "cut the tail and its heads": (cut_with_its_heads, 9),
    "remove a tenant": (remove_everything_of_a_tenant, 1),
    "take places away": (unseal_the_tail, 11),
    "insert after the end": (insert_after_the_end, 13),
    "insert far after the end": (insert_far_after_the_end, 13),
    "move an event to another tenant": (move_to_another_tenant, 3),
    "pass an old head for a new one": (sign_an_old_head_again_as_newer, None),
    "forge a signature": (forge_a_signature, None),
}
