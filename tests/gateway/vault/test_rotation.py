"""Rotation keeps what ranking needs; and, told honestly, a few hundred known pairs undo it."""

import numpy as np
import pytest

from core.ports import Vectors
from gateway.vault.rotation import Rotation
from gateway.vault.secret import Secret

KEY = Secret(bytes(range(32)))
DIMENSIONS = [384, 768, 1024, 1536, 96, 2, 1, 7]


def unit(rows: int, dimension: int, seed: int = 1) -> Vectors:
    vectors: Vectors = (
        np.random.default_rng(seed).standard_normal((rows, dimension)).astype(np.float32)
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_inner_products_are_kept(dimension):
    vectors = unit(200, dimension)
    turned = Rotation(KEY, dimension).apply(vectors)
    assert turned.dtype == np.float32
    assert turned.shape == vectors.shape
    assert np.abs(turned @ turned.T - vectors @ vectors.T).max() <= 1e-5


def test_the_order_of_a_search_is_kept():
    vectors, query = unit(2000, 384), unit(1, 384, seed=2)
    rotation = Rotation(KEY, 384)
    before = np.argsort(-(vectors @ query[0]))[:50]
    after = np.argsort(-(rotation.apply(vectors) @ rotation.apply(query)[0]))[:50]
    assert list(before) == list(after)


def test_one_key_gives_one_transform_and_another_an_unlike_one():
    vectors = unit(5, 384)
    once = Rotation(KEY, 384).apply(vectors)
    assert np.array_equal(once, Rotation(Secret(bytes(range(32))), 384).apply(vectors))
    other = Rotation(Secret(bytes(32)), 384).apply(vectors)
    assert np.abs(np.sum(once * other, axis=1)).max() < 0.3
    assert np.abs(np.sum(once * vectors, axis=1)).max() < 0.3


def test_the_transform_is_fixed_across_machines_and_library_versions():
    turned = Rotation(KEY, 8).apply(np.eye(8, dtype=np.float32)[:2])
    assert np.allclose(turned, KNOWN, atol=1e-6)


KNOWN = [
    [-0.53033, -0.1767767, 0.5303301, -0.1767766, 0.1767767, 0.1767767, 0.5303301, 0.1767767],
    [0.1767766, -0.1767767, 0.1767767, -0.5303301, -0.1767767, -0.5303301, -0.1767767, 0.53033],
]


def test_one_coordinate_spreads_over_all():
    turned = Rotation(KEY, 384).apply(np.eye(384, dtype=np.float32))
    assert np.abs(turned).max() < 0.5
    assert (np.abs(turned) > 1e-4).mean() > 0.9


def test_the_argument_is_left_as_it_is():
    vectors = unit(3, 384)
    before = vectors.copy()
    Rotation(KEY, 384).apply(vectors)
    assert np.array_equal(vectors, before)
    assert Rotation(KEY, 384).apply(vectors[:0]).shape == (0, 384)


def test_as_many_known_pairs_as_dimensions_recover_it():
    """What `docs/keys.md` says of it: obfuscation. The attack is orthogonal Procrustes."""
    dimension = 384
    rotation = Rotation(KEY, dimension)
    known = unit(dimension + 10, dimension)
    left, _, right = np.linalg.svd(known.T @ rotation.apply(known))
    recovered = left @ right
    unseen = unit(100, dimension, seed=3)
    assert np.abs(rotation.apply(unseen) @ recovered.T - unseen).max() < 1e-3


def test_few_known_pairs_do_not_recover_it():
    dimension = 384
    rotation = Rotation(KEY, dimension)
    known = unit(20, dimension)
    left, _, right = np.linalg.svd(known.T @ rotation.apply(known))
    unseen = unit(100, dimension, seed=3)
    guessed = rotation.apply(unseen) @ (left @ right).T
    assert np.median(np.sum(guessed * unseen, axis=1)) < 0.3
