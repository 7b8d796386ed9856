"""Queries by name, from the files beside.

Rules this module keeps:
- `-- name --` opens a query. The comment lines after it say why it is as it is.
- `{{name}}` stands for another query's text: what several queries share is written once. No value
  ever comes in that way: values are parameters.
- `[[limit]]` alone is a number in the text, since plans depend on it.
"""

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import LiteralString

_FOLDER = Path(__file__).parent / "sql"
_NAME = re.compile(r"^-- (\w+) --$", re.MULTILINE)
_SHARED = re.compile(r"\{\{(\w+)\}\}")
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)


@cache
def queries() -> dict[str, LiteralString]:
    """Return every query of the folder by its name.

    Raises:
        ValueError: a name stands twice.
        KeyError: a fragment is not there.
    """
    texts: dict[str, str] = {}
    for path in sorted(_FOLDER.glob("*.sql")):
        _, *parts = _NAME.split(path.read_text(encoding="utf-8"))
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            if name in texts:
                raise ValueError(f"the query {name} stands twice")
            texts[name] = _COMMENT.sub("", text).strip()

    def whole(text: str) -> str:
        return _SHARED.sub(lambda found: whole(texts[found[1]]), text)

    # Without what is there for the eye: the driver remembers how it reads a text up to 4,096 long.
    return {name: " ".join(whole(text).split()) for name, text in texts.items()}


def query(name: str) -> LiteralString:
    """Return the query called `name`. Raises: KeyError."""
    return queries()[name]


@lru_cache(maxsize=512)
def limited(name: str, limit: int) -> LiteralString:
    """Return the query called `name` with its limit, at least 0. Raises: KeyError."""
    return queries()[name].replace("[[limit]]", f"{max(0, limit):d}")
