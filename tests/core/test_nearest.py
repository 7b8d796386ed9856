"""A sealed vector is compared where it was sealed, and nowhere else."""

from typing import Any

import numpy as np
import pytest

from core.ids import MemoryId, NamespaceId, TenantId, UserId, new_uuid
from core.keeping import sealed_vectors
from core.model import Owner
from core.nearest import Compared, compare
from core.ports import OwnerKeys, Place, SealedVectors, Vector
from gateway.vault.inmemory import memory_keyring

MEMORY, NAMESPACE = MemoryId(new_uuid()), NamespaceId(new_uuid())
NEAR: Vector = np.array([1, 0, 0, 0], dtype=np.float32)
FAR: Vector = np.array([0, 1, 0, 0], dtype=np.float32)

pytestmark = pytest.mark.requirement("E11")


async def people() -> list[OwnerKeys]:
    """Keys of two people of one tenant."""
    keyring, tenant = memory_keyring(), TenantId(new_uuid())
    await keyring.create_tenant(tenant)
    owners = [Owner(tenant=tenant, id=UserId(new_uuid())) for _ in range(2)]
    return [await keyring.ensure_owner(owner) for owner in owners]


def sealed(keys: OwnerKeys, **elsewhere: Any) -> SealedVectors:
    """Two chunks of one memory as a write keeps them, told to be `elsewhere`."""

    def place(field: str) -> Place:
        return Place(record=MEMORY, version=2, field=field, namespace=NAMESPACE)

    vectors = sealed_vectors(np.stack([FAR, NEAR]), keys, place)
    where: dict[str, Any] = {
        "memory": MEMORY, "version": 2, "namespace": NAMESPACE, "vectors": vectors
    }  # fmt: skip
    return SealedVectors(**(where | elsewhere))


async def compared(kept: SealedVectors, keys: OwnerKeys) -> Compared:
    into = Compared()
    await compare(NEAR, [kept], keys, into)
    return into


async def test_the_chunk_nearest_to_the_question_counts() -> None:
    keys, _ = await people()
    found = await compared(sealed(keys), keys)
    assert found.cosines == {MEMORY: pytest.approx(1.0)}
    assert found.damaged == []


@pytest.mark.parametrize("what", ["memory", "version", "namespace", "chunk", "person"])
async def test_a_vector_that_was_moved_proposes_nothing_and_is_named(what: str) -> None:
    keys, other = await people()
    kept = sealed(other if what == "person" else keys)
    elsewhere: dict[str, Any] = {
        "memory": {"memory": MemoryId(new_uuid())},
        "version": {"version": 1},
        "namespace": {"namespace": NamespaceId(new_uuid())},
        "chunk": {"vectors": kept.vectors[::-1]},
        "person": {"vectors": kept.vectors},
    }
    moved = sealed(keys, **elsewhere[what])
    found = await compared(moved, keys)
    assert found.cosines == {}
    assert found.damaged == [moved.memory]
