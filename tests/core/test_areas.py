"""The sentence that says what a Scope sees, in the words of the index, for every combination."""

from itertools import chain, combinations, product
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from core.adapters.inmemory.index import InMemoryIndex
from core.ids import MemoryId, NamespaceId, SpaceId, TenantId, UserId, new_uuid
from core.lexicon import Lexicon
from core.model import Json, Owner, Query
from core.ports import Point
from core.recall import areas_of, reach_of
from core.scope import Action, Spaces
from gateway.guard.normalise import canonical_text
from gateway.vault.inmemory import memory_keyring
from tests.record_values import Person

pytestmark = [pytest.mark.requirement("C6"), pytest.mark.requirement("C1")]

VECTOR = np.eye(8, dtype=np.float32)[0]


def subsets(values):
    return chain.from_iterable(combinations(values, size) for size in range(len(values) + 1))


def sees(scope, where):
    """The sentence of core.scope.Scope, in Python."""
    tenant, user, namespace, space = where
    if tenant != scope.tenant:
        return False
    if space is None:
        return user == scope.user and namespace in scope.namespaces
    readable = scope.readable
    return space in readable.members or (space in readable.same_user and user == scope.user)


async def test_the_searches_of_a_recall_find_exactly_what_the_sentence_says():
    keyring, index = memory_keyring(), InMemoryIndex(dimension=8)
    stages = cast("Any", SimpleNamespace(keyring=keyring, tokenizer=Lexicon(canonical_text)))
    points: dict[Any, tuple[Any, ...]] = {}
    worlds = []
    for _ in range(2):
        tenant = TenantId(new_uuid())
        words = await keyring.create_tenant(tenant)
        users = [UserId(new_uuid()) for _ in range(2)]
        namespaces = [NamespaceId(new_uuid()) for _ in range(2)]
        same, members = ([SpaceId(new_uuid()) for _ in range(2)] for _ in range(2))
        for user, namespace, space in product(users, namespaces, [None, *same, *members]):
            owner = Owner(tenant=tenant, id=user)
            if space in members:
                owner = Owner(tenant=tenant, id=space, is_space=True, person=user)
            keys = await keyring.ensure_owner(owner)
            memory = MemoryId(new_uuid())
            payload: dict[str, Json] = {
                "tenant": words.word("tenant", str(tenant)),
                "owner": words.word("owner", str(owner.id)),
                "user": words.word("user", str(user)),
                "namespace": words.word("namespace", str(namespace)),
                "space": "" if space is None else words.word("space", str(space)),
                "session": "",
                "tags": [],
                "layer": "semantic",
                "kind": "fact",
                "created": 1.0,
                "expires": 0.0,
                "confidence": 0.7,
                "version": 1,
                "pointer": words.seal_pointer(memory, 1),
            }
            point = Point(
                id=words.point_id(owner, memory, 0),
                vector=keys.rotate(VECTOR.reshape(1, -1))[0],
                terms={},
                payload=payload,
            )
            await index.upsert(payload["tenant"], [point])
            points[point.id] = (tenant, user, namespace, space)
        worlds.append((tenant, users, namespaces, same, members))
    scopes = 0
    for tenant, users, namespaces, same, members in worlds:
        words = await keyring.tenant(tenant)
        for user, some, one, other in product(
            users, subsets(namespaces), subsets(same), subsets(members)
        ):
            readable = Spaces(same_user=frozenset(one), members=frozenset(other))
            scope = Person(tenant=tenant, user=user, namespace=namespaces[0]).scope(
                Action.MEMORY_RECALL, namespaces=some, readable=readable
            )
            own = await keyring.owner(Owner.of(scope))
            areas, beyond = await areas_of(scope, Query(text="tea"), own, stages)
            assert not beyond
            found: dict[Any, float] = {}
            for area in areas:
                reach = reach_of(scope, area, words, vector=VECTOR, now=2.0)
                hits = await index.search(reach, limit=100, also=list(points))
                assert not found.keys() & {hit.id for hit in hits}  # no area is in another
                found |= {hit.id: hit.score for hit in hits}
            assert found.keys() == {id_ for id_, where in points.items() if sees(scope, where)}
            # The vector was turned under the key of whoever owns the point.
            assert all(score == pytest.approx(1.0, abs=1e-5) for score in found.values())
            scopes += 1
    assert scopes == 2 * 2 * 4 * 4 * 4
