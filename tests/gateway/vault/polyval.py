"""AES-GCM-SIV's authenticator by hand, for the test that builds one ciphertext for two keys.

Source: RFC 8452, 3 and 4. Field elements are integers: bit i is the coefficient of x^i.
"""

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

BLOCK = 16
_MODULUS = 1 << 128 | 1 << 127 | 1 << 126 | 1 << 121 | 1


def multiply(a: int, b: int) -> int:
    product = 0
    while b:
        if b & 1:
            product ^= a
        a <<= 1
        if a >> 128:
            a ^= _MODULUS
        b >>= 1
    return product


def inverse(a: int) -> int:
    result, exponent = 1, (1 << 128) - 2
    while exponent:
        if exponent & 1:
            result = multiply(result, a)
        a = multiply(a, a)
        exponent >>= 1
    return result


_X_TO_MINUS_128 = inverse(_MODULUS ^ 1 << 128)  # x^128 is what is left of the modulus


class Schedule:
    """What a record key and a nonce fix: the authenticator's key, the cipher, the keystream."""

    def __init__(self, key: bytes, nonce: bytes) -> None:
        halves = [_aes(key, i.to_bytes(4, "little") + nonce)[:8] for i in range(6)]
        self.hash_key = multiply(number(halves[0] + halves[1]), _X_TO_MINUS_128)
        self._key = b"".join(halves[2:])
        self._nonce = number(nonce)

    def wanted_hash(self, tag: bytes) -> int | None:
        """Return the hash that gives `tag`, or None when no hash does."""
        decryptor = Cipher(AES(self._key), ECB()).decryptor()  # noqa: S305 - one block
        masked = number(decryptor.update(tag))
        return None if masked >> 127 else masked ^ self._nonce

    def keystream(self, tag: bytes, blocks: int) -> list[int]:
        start = int.from_bytes(tag[:4], "little")
        rest = tag[4:15] + bytes((tag[15] | 0x80,))
        counters = (((start + i) % 2**32).to_bytes(4, "little") + rest for i in range(blocks))
        return [number(_aes(self._key, counter)) for counter in counters]

    def hash(self, blocks: list[int]) -> int:
        state = 0
        for block in blocks:
            state = multiply(state ^ block, self.hash_key)
        return state

    def power(self, exponent: int) -> int:
        result = 1
        for _ in range(exponent):
            result = multiply(result, self.hash_key)
        return result


def number(block: bytes) -> int:
    return int.from_bytes(block, "little")


def blocks_of(data: bytes) -> list[int]:
    padded = data + bytes(-len(data) % BLOCK)
    return [number(padded[at : at + BLOCK]) for at in range(0, len(padded), BLOCK)]


def _aes(key: bytes, block: bytes) -> bytes:
    return Cipher(AES(key), ECB()).encryptor().update(block)  # noqa: S305 - one block
