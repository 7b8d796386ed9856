"""Reads a policy, as a file or as a document, so that one that is not wholly understood is refused.

Rules this module keeps:
- An unknown field, a repeated key, a wrong type or anything beyond its bounds refuses the whole
  policy.
- A fault says where in the policy it is and what is wanted there; never what stood there.
"""

from collections.abc import Hashable
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import override

from core.errors import FieldFault

MAX_FAULTS: Final = 20

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
                FieldFault(
                    field=".".join(str(part) for part in fault["loc"]) or "policy",
                    message=fault["msg"],
                )
                for fault in faults[:MAX_FAULTS]
            )
        ) from err


def _place(err: yaml.YAMLError) -> str:
    mark = getattr(err, "problem_mark", None)
    return f"line {mark.line + 1}" if mark else "at the start"
