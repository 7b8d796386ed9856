"""Every place of a request where a caller can write a text, found in the wire models themselves."""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from gateway.front.http import OPERATIONS
from gateway.front.tool_shapes import WriteArguments
from gateway.front.tools import SPECS
from gateway.front.wire_write import WriteBody

ITEMS: dict[str, type[BaseModel]] = {
    "write_memories": WriteBody,
    "memory_write_batch": WriteArguments,
}
"""What the items of a batch are; its own model leaves them open, so that each is judged alone."""


def bodies() -> Mapping[str, type[BaseModel]]:
    """Return the body or the arguments of each route and tool that has some."""
    routes: dict[str, type[BaseModel]] = {
        op.name: op.body for op in OPERATIONS if op.body is not None
    }
    return routes | {name: spec.model for name, spec in SPECS.items()}


def positions(model: type[BaseModel], text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, fields) for each place of `model` that takes a free text."""
    for name, info in model.model_fields.items():
        for place, value in _values(info.annotation, text):
            yield name + place, {name: value}


def _values(annotation: Any, text: str) -> Iterator[tuple[str, Any]]:
    kind = get_origin(annotation) or annotation
    if kind is str:
        yield "", text
    elif kind is list:
        for place, value in _values((*get_args(annotation), Any)[0], text):
            yield f"[]{place}", [value]
    elif kind is dict:
        yield ".value", {"note": text}
        yield ".key", {text: "note"}
        yield ".deep", {"a": [{"b": [text]}]}
        yield ".deep key", {"a": [{text: 1}]}
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        for place, value in positions(kind, text):
            yield f".{place}", value
    elif kind is Literal or (isinstance(kind, type) and issubclass(kind, Enum)):
        return
    else:  # a union, or what is annotated: each of its parts
        for part in get_args(annotation):
            if not isinstance(part, str):
                yield from _values(part, text)


def writing(text: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (route or tool, place, fields) for every text that a writing call takes.

    The fields of a batch are those of its one item.
    """
    for name, model in bodies().items():
        if name in {"recall", "memory_search", "memory_get", "memory_forget", "rotate_key"}:
            continue
        for place, fields in positions(ITEMS.get(name, model), text):
            if "memory_id" not in fields:
                yield name, place, fields
