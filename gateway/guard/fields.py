"""Walks every string of a request, and builds it anew with some of them replaced.

Rules this module keeps:
- Every string is visited: values and keys of objects at any depth, items of lists; and numbers, as
  the text they are written as.
- A path names fields and keys, never values. A key is named only if it is a plain word; otherwise
  by its place (`metadata[#2]`). Keys are judged before any path that names one is reported.
- What is not replaced keeps its type and its order.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from core.errors import Invalid

LEAST_CHARACTERS = 32
"""What the shortest string counts for: to judge one takes its time too."""

MAX_DEPTH = 32
"""JSON nested deeper is refused; nothing that people note is."""

_PLAIN_KEY = re.compile(r"[^\W\d][\w-]{0,63}")


class Role(Enum):
    """What a leaf is to the request."""

    VALUE = "value"
    KEY = "key"
    NUMBER = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One string of a request.

    Args:
        path: such as `metadata.note` or `tags[0]`.
        text: the string, or a number as it is written.
        label: the nearest key above it, which says what it is; "" at the top.
    """

    path: str
    text: str = field(repr=False)
    role: Role = Role.VALUE
    label: str = field(default="", repr=False)


def characters_of(value: object) -> int:
    """Return how much text is in `value`, keys and numbers included: what judging it costs.

    Args:
        value: JSON, as deep as it likes.
    """
    total, rest = 0, [value]
    while rest:
        one = rest.pop()
        if isinstance(one, str):
            total += max(LEAST_CHARACTERS, len(one))
        elif isinstance(one, Mapping):
            rest += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            rest += one
        elif one is not None:
            total += LEAST_CHARACTERS
    return total


def strings_of(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of every value below `value`, depth first; keys are `keys_of`."""
    seen: list[tuple[str, str]] = []

    def note(leaf: Leaf) -> str:
        seen.append((leaf.path, leaf.text))
        return leaf.text

    rebuild(value, path, note)
    yield from seen


def keys_of(value: object, path: str) -> Iterator[Leaf]:
    """Yield every key below `value`, by place: no path here holds a key.

    Raises:
        Invalid: nested deeper than `MAX_DEPTH`.
    """
    yield from _keys(value, path, 0)


def rebuild(value: object, path: str, visit: Callable[[Leaf], str]) -> object:
    """Return `value` with each string replaced by what `visit` returns for it.

    Args:
        value: JSON: None, bool, int, float, str, lists or string-keyed mappings.
        path: of `value` itself.
        visit: called for strings and for numbers; what it returns for a number is ignored, since a
            number cannot hold a placeholder.

    Raises:
        Invalid: nested deeper than `MAX_DEPTH`.
    """
    return _rebuild(value, path, "", visit, 0)


def _rebuild(
    value: object, path: str, label: str, visit: Callable[[Leaf], str], depth: int
) -> object:
    _bound(path, depth)
    if isinstance(value, str):
        return visit(Leaf(path=path, text=value, label=label))
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        visit(Leaf(path=path, text=_written(value), role=Role.NUMBER, label=label))
        return value
    if isinstance(value, Mapping):
        return {
            key: _rebuild(item, _below(path, str(key), number), str(key), visit, depth + 1)
            for number, (key, item) in enumerate(value.items())
        }
    if isinstance(value, list | tuple):
        return [
            _rebuild(item, f"{path}[{number}]", label, visit, depth + 1)
            for number, item in enumerate(value)
        ]
    raise Invalid("Only JSON values can be kept.", field=path)


def _keys(value: object, path: str, depth: int) -> Iterator[Leaf]:
    _bound(path, depth)
    if isinstance(value, Mapping):
        for number, (key, item) in enumerate(value.items()):
            place = f"{path}[#{number}]"
            yield Leaf(path=place, text=str(key), role=Role.KEY)
            yield from _keys(item, place, depth + 1)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _keys(item, f"{path}[{number}]", depth + 1)


def _bound(path: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise Invalid(f"Nested deeper than {MAX_DEPTH} levels.", field=path.partition("[")[0])


def _below(path: str, key: str, number: int) -> str:
    return f"{path}.{key}" if _PLAIN_KEY.fullmatch(key) else f"{path}[#{number}]"


def _written(value: float) -> str:
    """Return a number as people write it: 13800138000.0 is 13800138000."""
    if isinstance(value, int) or not value.is_integer():
        return str(value)
    return str(int(value))
