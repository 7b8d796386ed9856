"""Queries by name, from the files beside.

Rules this module keeps:
- `-- name --` opens a query. The comment lines after it say why it is as it is.
- `{{name}}` stands for another query's text: what several queries share is written once. No value
  ever comes in that way: values are parameters.
- `[[limit]]` alone is a number in the text, since plans depend on it.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import LiteralString

_FOLDER = Path(__file__).parent / "sql"
_NAME = re.compile(r"^-- (\w+) --$", re.MULTILINE)
_SHARED = re.compile(r"\{\{(\w+)\}\}")
_IN_SPACE = {"own": "in_space", "own_by_id": "in_space_by_id"}
"""What a query over one person says of a row, and what it says instead over one space."""
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)


@cache
def queries() -> dict[str, LiteralString]:
    """Return every query of the folder by its name.

    Raises:
        ValueError: a name stands twice.
        KeyError: a fragment is not there.
    """
    return {name: _flat(_whole(text, {})) for name, text in _texts().items()}


@cache
def _texts() -> dict[str, str]:
    texts: dict[str, str] = {}
    for path in sorted(_FOLDER.glob("*.sql")):
        _, *parts = _NAME.split(path.read_text(encoding="utf-8"))
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            if name in texts:
                raise ValueError(f"the query {name} stands twice")
            texts[name] = _COMMENT.sub("", text).strip()
    return texts


def _whole(text: str, instead: Mapping[str, str]) -> str:
    """Return `text` with its fragments; `instead` names those that others take the place of."""
    return _SHARED.sub(
        lambda found: _whole(_texts()[instead.get(found[1], found[1])], instead), text
    )


def _flat(text: str) -> LiteralString:
    """Return `text` without what is for the eye: the driver remembers texts up to 4,096 long."""
    return " ".join(text.split())


def query(name: str) -> LiteralString:
    """Return the query called `name`. Raises: KeyError."""
    return queries()[name]


@lru_cache(maxsize=512)
def limited(name: str, limit: int) -> LiteralString:
    """Return the query called `name` with its limit, at least 0. Raises: KeyError."""
    return _cut(query(name), limit)


@lru_cache(maxsize=512)
def limited_in_space(name: str, limit: int) -> LiteralString:
    """Return the query called `name` over one `members` space instead of the scope's person."""
    return _cut(_flat(_whole(_texts()[name], _IN_SPACE)), limit)


def _cut(text: LiteralString, limit: int) -> LiteralString:
    return text.replace("[[limit]]", f"{max(0, limit):d}")
