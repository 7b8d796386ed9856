"""The owner-keyed orthogonal transform of vectors.

Rules this module keeps:
- Obfuscation, not encryption: whoever has about as many known pairs as dimensions recovers it. It
  makes points left behind in a segment useless once the key is gone, and no more is claimed.
- Inner products are kept to 1e-5, so ranking does not change.
- The same key and dimension give the same transform on every machine and with every library
  version: it is made from SHAKE-256, never from a library's random numbers.
"""

import hashlib
from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.ports.vectors import Vectors
from gateway.vault.labels import Label
from gateway.vault.secret import Secret

ROUNDS = 3  # one spreads a coordinate over its block, the next ones over all blocks
_LARGEST_BLOCK = 512


class Rotation:
    """Rounds of signs, blockwise normalised Hadamard, permutation.

    Args:
        secret: the owner's look-up secret.
        dimension: length of a vector, from 1. Mixing needs a power of two as a factor: 384 is three
            blocks of 128. An odd dimension is only signed and permuted.
    """

    __slots__ = ("_block", "_dimension", "_permutations", "_signs")

    def __init__(self, secret: Secret, dimension: int) -> None:
        key = secret.expand(Label.OWNER_ROTATION.info)
        stream = hashlib.shake_256(key + dimension.to_bytes(4)).digest(ROUNDS * dimension * 9)
        signs = np.frombuffer(stream, np.uint8, ROUNDS * dimension)
        order = np.frombuffer(stream, "<u8", ROUNDS * dimension, offset=ROUNDS * dimension)
        self._dimension = dimension
        self._block = min(dimension & -dimension, _LARGEST_BLOCK)
        self._signs = np.where(signs & 1, np.float32(1), np.float32(-1)).reshape(ROUNDS, dimension)
        # Sorting 64 random bits is a uniform permutation but for ties, which nobody will see.
        self._permutations = np.argsort(order.reshape(ROUNDS, dimension), axis=1, kind="stable")

    def apply(self, vectors: Vectors) -> Vectors:
        """Return `vectors`, shape (n, dimension), transformed; the argument is left as it is."""
        turned = vectors.astype(np.float32, copy=False)
        mix = _hadamard(self._block)
        for signs, permutation in zip(self._signs, self._permutations, strict=True):
            blocks = (turned * signs).reshape(-1, self._block)
            turned = (blocks @ mix).reshape(-1, self._dimension)[:, permutation]
        return np.ascontiguousarray(turned)


@cache
def _hadamard(size: int) -> NDArray[np.float32]:
    """Return the normalised Hadamard matrix, `size` a power of two. Source: Sylvester 1867."""
    matrix = np.ones((1, 1), np.float32)
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix / np.float32(np.sqrt(size))
