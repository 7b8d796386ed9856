"""The conditions of every call to the index, in the JSON of Qdrant's REST interface.

Rules this module keeps:
- It is the only place that builds a filter, and every filter starts from one tenant and one owner:
  an `OwnedFilter` cannot be made without them, and both transports take nothing else.
- No namespaces means nothing is found, never that the condition is left out.
- A point without an expiry, a tenant or an owner of its own does not enter the index; so no
  condition passes because a field is missing.
- What a point carries is listed here by name: text of a person cannot ride along in a payload.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from core.adapters.qdrant.fields import KEYWORDS, NUMBERS, UNASKED
from core.errors import Invalid
from core.model import Filter, Json
from core.ports import Point, Reach

_STORED = frozenset({*KEYWORDS, *NUMBERS, *UNASKED})
_MAY_LACK = frozenset({"user", "space", "session", "tags"})
_ABSENT = ""
"""Stands for "no space", "no user", "no session": a value that can be asked for, where a field that
is not there could only be asked for by conditions that pass when it is missing by mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedFilter:
    """The conditions of one call: always one tenant and one owner, and then the rest.

    Args:
        tenant, owner: keyed look-ups, never blank.
        rest: further conditions, each of which must hold.

    Raises:
        Invalid: the tenant or the owner is blank.
    """

    tenant: str
    owner: str
    rest: tuple[Mapping[str, Json], ...] = ()

    def __post_init__(self) -> None:
        if not self.tenant or not self.owner:
            raise Invalid("A call to the index names its tenant and its owner.")

    def among(self, ids: Sequence[UUID]) -> Self:
        """Return this filter over `ids` alone; no ids means nothing."""
        chosen = {"has_id": [str(id_) for id_ in ids]}
        return type(self)(tenant=self.tenant, owner=self.owner, rest=(*self.rest, chosen))

    def to_rest(self) -> dict[str, Json]:
        """Return the filter as Qdrant's REST JSON; tenant and owner come first.

        Source: Qdrant REST API, `Filter`.
        """
        return {"must": [_is("tenant", self.tenant), _is("owner", self.owner), *self.rest]}


def owned(tenant: str, owner: str) -> OwnedFilter:
    """Return the filter of all that one owner has. Raises: Invalid."""
    return OwnedFilter(tenant=tenant, owner=owner)


def within(reach: Reach) -> OwnedFilter:
    """Return the filter of what a search may see, its conditions included.

    States are not asked here, because the index does not hold them: the record decides.

    Raises:
        Invalid: no user outside a space; only a `members` space is searched for everybody.
    """
    conditions: list[Mapping[str, Json]] = []
    if reach.user is not None:
        conditions.append(_is("user", _named(reach.user)))
    elif reach.space is None:
        raise Invalid("A search outside a space names its user.")
    conditions.append(_is("space", _ABSENT if reach.space is None else _named(reach.space)))
    if reach.space is None or reach.namespaces:
        conditions.append(_any("namespace", reach.namespaces))
    conditions.append({"should": [_range("expires", lte=0), _range("expires", gt=reach.now)]})
    conditions.extend(_asked(reach.where))
    return OwnedFilter(tenant=reach.tenant, owner=reach.owner, rest=tuple(conditions))


def payload_of(tenant: str, point: Point) -> dict[str, Json]:
    """Return what the index keeps beside the vectors of `point`.

    Raises:
        Invalid: a field is missing, unknown or of the wrong type, or another tenant is named.
    """
    given = point.payload
    if not _STORED - _MAY_LACK <= set(given) <= _STORED:
        raise Invalid("A point carries exactly the fields that the index knows.")
    kept = dict(given)
    for name in _MAY_LACK - {"tags"}:
        kept[name] = _ABSENT if given.get(name) is None else given[name]
    tags = kept["tags"] = list(given.get("tags") or ())
    words = [*tags, *(kept[name] for name in (*KEYWORDS, "pointer") if name != "tags")]
    numbers = [kept[name] for name in (*NUMBERS, "version")]
    if not all(isinstance(word, str) for word in words) or not all(
        isinstance(number, int | float) for number in numbers
    ):
        raise Invalid("A point carries keyed words and numbers only.")
    if not kept["owner"] or not tenant or kept["tenant"] != tenant:
        raise Invalid("A point belongs to the tenant that writes it, and to one owner.")
    return kept


def _asked(where: Filter) -> list[Mapping[str, Json]]:
    """Return the conditions that the caller of a recall asked for."""
    conditions: list[Mapping[str, Json]] = []
    if where.layers:
        conditions.append(_any("layer", sorted(layer.value for layer in where.layers)))
    if where.kinds:
        conditions.append(_any("kind", sorted(kind.value for kind in where.kinds)))
    tags = [tag.hex() for tag in where.tags]
    if tags and where.tags_all:
        conditions.extend(_is("tags", tag) for tag in tags)
    elif tags:
        conditions.append(_any("tags", tags))
    if where.session is not None:
        conditions.append(_is("session", _named(where.session.hex())))
    if where.created_after is not None or where.created_before is not None:
        conditions.append(
            _range("created", gte=_epoch(where.created_after), lt=_epoch(where.created_before))
        )
    if where.min_confidence > 0:
        conditions.append(_range("confidence", gte=where.min_confidence))
    return conditions


def _named(value: str) -> str:
    """Return `value`. Raises Invalid when it is blank, which would ask for what has none."""
    if not value:
        raise Invalid("A condition of the index is blank.")
    return value


def _is(key: str, value: str) -> dict[str, Json]:
    return {"key": key, "match": {"value": value}}


def _any(key: str, values: Sequence[str]) -> dict[str, Json]:
    return {"key": key, "match": {"any": list(values)}}


def _range(key: str, **bounds: float | None) -> dict[str, Json]:
    return {"key": key, "range": {side: at for side, at in bounds.items() if at is not None}}


def _epoch(time: datetime | None) -> float | None:
    return None if time is None else time.timestamp()
