"""Reads a policy, as a file or as a document, so that one that is not wholly understood is refused.

Rules this module keeps:
- An unknown field, a repeated key, a wrong type or anything beyond its bounds refuses the whole
  policy.
- A fault says where in the policy it is and what is wanted there; never what stood there.
"""

import re
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import override

from core.errors import FieldFault
from gateway.guard.kinds import KINDS

MAX_FAULTS: Final = 20
_FIELD: Final = re.compile(r"[a-z_]{1,24}")

Version = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]{0,63}$")]


class PolicyInvalid(ValueError):
    """A policy is refused. The message names places and faults, for whoever wrote it.

    Args:
        faults: at least one, in the order of the policy.
    """

    def __init__(self, *faults: FieldFault) -> None:
        super().__init__("; ".join(f"{fault.field}: {fault.message}" for fault in faults))
        self.faults = faults


class Strict(BaseModel):
    """A part of a policy: no field that is not known, nothing echoed."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class _UniqueKeys(yaml.SafeLoader):
    """Refuses a mapping that names a key twice; YAML would silently keep the last."""

    @override
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        names = [self.construct_object(key, deep=True) for key, _ in node.value]
        if len(set(names)) != len(names):
            mark = node.start_mark
            raise yaml.constructor.ConstructorError(None, None, "a key is repeated", mark)
        return super().construct_mapping(node, deep=deep)


def read(path: Path) -> str:
    """Return the text of a policy file. Raises: PolicyInvalid (names the file, not its folder)."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as err:
        raise PolicyInvalid(FieldFault(field=path.name, message="cannot be read")) from err


_Source = TypeVar("_Source", bound=Strict)


def parsed(model: type[_Source], text: str) -> _Source:
    """Return what `text` (YAML) says, checked. Raises: PolicyInvalid."""
    try:
        data = yaml.load(text, Loader=_UniqueKeys)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as err:
        said = f"not YAML, or a key is repeated: {_place(err)}"
        raise PolicyInvalid(FieldFault(field="policy", message=said)) from err
    return checked(model, data)


def checked(model: type[_Source], data: object) -> _Source:
    """Return what `data` (plain values) says, checked. Raises: PolicyInvalid, at most 20 faults."""
    try:
        return model.model_validate(data)
    except ValidationError as err:
        faults = err.errors(include_url=False, include_input=False, include_context=False)
        raise PolicyInvalid(
            *(
                FieldFault(field=spelled(fault["loc"]), message=_sentence(fault["msg"]))
                for fault in faults[:MAX_FAULTS]
            )
        ) from err


def spelled(path: Iterable[str | int]) -> str:
    """Return a path as faults tell it, such as `rules[0].pattern`.

    A key is repeated only if it is a kind or looks like the name of a field: what else somebody
    wrote there may be what should not be read.
    """
    parts = []
    for part in path:
        if isinstance(part, int):
            parts.append(f"[{part}]")
        elif part != "[key]":
            known = part in KINDS or _FIELD.fullmatch(part)
            parts.append(f".{part}" if known else ".?")
    return "".join(parts).removeprefix(".") or "policy"


def _sentence(message: str) -> str:
    return message.removeprefix("Value error, ")


def _place(err: yaml.YAMLError) -> str:
    mark = getattr(err, "problem_mark", None)
    return f"line {mark.line + 1}" if mark else "at the start"
