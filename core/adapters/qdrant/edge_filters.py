"""From the JSON of `filters` to Qdrant Edge's own objects, strictly.

Rules this module keeps:
- A condition that is not known here, or has a part that is not, is refused: what is skipped would
  widen a search.
- A filter without one tenant and one owner among the conditions that must hold is refused here too,
  whoever built it.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import qdrant_edge as qe

from core.adapters.qdrant.wire import MAX_IDS, Malformed, finite

_BOUNDS = frozenset({"gt", "gte", "lt", "lte"})
_DEEPEST = 4


def owned_by(rest: object) -> tuple[str, str]:
    """Return the tenant and the owner that a filter in REST JSON names.

    Raises:
        Malformed: it does not name exactly one of each among what must hold.
    """
    found: dict[str, list[str]] = {"tenant": [], "owner": []}
    must = rest.get("must") if isinstance(rest, dict) else None
    for condition in must if isinstance(must, list) else ():
        if isinstance(condition, dict) and condition.get("key") in found:
            match = condition.get("match")
            value = match.get("value") if isinstance(match, dict) else None
            found[condition["key"]].append(value if isinstance(value, str) else "")
    if len(found["tenant"]) != 1 or len(found["owner"]) != 1:
        raise Malformed
    tenant, owner = found["tenant"][0], found["owner"][0]
    if not tenant or not owner:
        raise Malformed
    return tenant, owner


def to_edge(rest: object, depth: int = 0) -> qe.Filter:
    """Return a filter in REST JSON as Edge's object. Raises: Malformed."""
    if not isinstance(rest, dict) or not rest or not set(rest) <= {"must", "should"}:
        raise Malformed
    if depth > _DEEPEST:
        raise Malformed
    parts = {}
    for part, conditions in rest.items():
        if not isinstance(conditions, list) or not conditions:
            raise Malformed
        parts[part] = [_condition(condition, depth) for condition in conditions]
    return qe.Filter(must=parts.get("must"), should=parts.get("should"))


def _condition(rest: object, depth: int) -> Any:  # noqa: ANN401 - the driver's union of conditions
    if not isinstance(rest, dict):
        raise Malformed
    shape = frozenset(rest)
    if shape in (frozenset({"must"}), frozenset({"should"})):
        return to_edge(rest, depth + 1)
    if shape == frozenset({"has_id"}):
        return qe.HasIdCondition(set(point_ids(rest["has_id"])))
    if shape == frozenset({"key", "match"}) and isinstance(rest["key"], str):
        return qe.FieldCondition(rest["key"], match=_match(rest["match"]))
    if shape == frozenset({"key", "range"}) and isinstance(rest["key"], str):
        return qe.FieldCondition(rest["key"], range=_range(rest["range"]))
    raise Malformed


def _match(rest: object) -> qe.MatchValue | qe.MatchAny:
    if isinstance(rest, dict) and set(rest) == {"value"} and isinstance(rest["value"], str):
        return qe.MatchValue(rest["value"])
    if isinstance(rest, dict) and set(rest) == {"any"} and isinstance(rest["any"], list):
        words = rest["any"]
        if len(words) <= MAX_IDS and all(isinstance(word, str) for word in words):
            return qe.MatchAny(words)
    raise Malformed


def _range(rest: object) -> qe.RangeFloat:
    if not isinstance(rest, dict) or not rest or not set(rest) <= _BOUNDS:
        raise Malformed
    build: Callable[..., qe.RangeFloat] = qe.RangeFloat
    return build(**{side: finite(at) for side, at in rest.items()})


def point_ids(rest: object) -> list[UUID]:
    """Return the ids in a list of canonical UUIDs. Raises: Malformed."""
    if not isinstance(rest, list) or len(rest) > MAX_IDS:
        raise Malformed
    try:
        return [UUID(id_) for id_ in rest]
    except (ValueError, AttributeError, TypeError) as err:
        raise Malformed from err
