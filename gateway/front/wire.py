"""What every wire model shares: strictness, times, names, and errors that quote nothing.

Rules this module keeps:
- A field is what it says: no text becomes a number, no number a text, and an unknown field is
  refused.
- A fault names its field and says what is wanted, never what was there. Pydantic's own messages,
  inputs and contexts stay inside.
- A text or a list of items over its published bound is `too_large`; a malformed field of any other
  kind, a tag too long included, is `invalid`.
- Times are RFC 3339; one without an offset is read as UTC; replies are in UTC and end in `Z`.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import ErrorDetails, PydanticCustomError
from typing_extensions import override

from core.errors import FieldFault, Invalid, NamesInvalid, TooLarge
from core.model import Json
from gateway.front.body import spell_path
from gateway.guard.identifiers import MAX_LENGTH
from gateway.guard.normalise import is_blank

OURS = "memwarden_"
"""Prefix of the types of faults that this package raises inside a model."""
TOO_LARGE = "too_large"
MAX_FAULTS = 20
"""A caller mends a handful at a time; a thousand would only be a larger reply."""

_RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d\d:\d\d)?", re.ASCII
)
_DAY = timedelta(days=1)
_EARLIEST = datetime.min.replace(tzinfo=UTC) + _DAY
_LATEST = datetime.max.replace(tzinfo=UTC) - _DAY


class Wire(BaseModel):
    """A JSON object that a caller sends. Strict, closed, and silent in `repr`."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, hide_input_in_errors=True, allow_inf_nan=False
    )

    @override
    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        return []


class Shown(BaseModel):
    """A JSON object that a caller gets; documents the reply and is never run on it."""


class FaultShown(Shown):
    """A field at fault."""

    field: str
    message: str


class ReasonShown(Shown):
    """Why the guard refused."""

    kind: str
    field: str


class Problem(Shown):
    """Problem details (RFC 9457) of whatever was refused; holds nothing of what was sent."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    errors: list[FaultShown] = Field(default=[], description="With `invalid` and `too_large`.")
    reasons: list[ReasonShown] = Field(default=[], description="With `content_rejected`.")
    id: str = Field(default="", description="With `conflict`: what exists already.")


M = TypeVar("M", bound=Wire)


def refuse(kind: str, message: str, **context: str) -> NoReturn:
    """Refuse a value inside a validator, with a sentence that quotes nothing.

    Args:
        kind: type of the fault, without `OURS`.
        context: `key`, a name below the field at fault.
    """
    raise PydanticCustomError(OURS + kind, "{message}", {"message": message, **context})


def read(model: type[M], data: Json) -> M:
    """Return `data` as `model`.

    Raises:
        Invalid: names the fields at fault.
        TooLarge: nothing else is wrong with it.
    """
    try:
        return model.model_validate(data)
    except ValidationError as err:
        found = err.errors(include_url=False, include_input=False)
    # Outside the handler, so that no cause with the caller's values hangs on what is raised.
    faults = tuple(_fault(each) for each in found[:MAX_FAULTS])
    if all(_is_size(each) for each in found):
        raise TooLarge(faults[0].message, field=faults[0].field)
    if len(faults) == 1:
        raise Invalid(faults[0].message, field=faults[0].field)
    raise NamesInvalid(faults)


BIG = frozenset({"content", "query", "items"})
"""Fields whose bound is a size of the request, not a rule of the field."""

_SENTENCES: Mapping[str, str] = {
    "missing": "This field is required.",
    "extra_forbidden": "There is no such field here.",
    "string_type": "This must be a text.",
    "int_type": "This must be a whole number.",
    "float_type": "This must be a number.",
    "bool_type": "This must be true or false.",
    "list_type": "This must be a list.",
    "dict_type": "This must be an object.",
    "model_type": "This must be an object.",
    "model_attributes_type": "This must be an object.",
    "finite_number": "This must be a finite number.",
}
_BOUNDS: Mapping[str, tuple[str, str]] = {
    "string_too_short": ("min_length", "This must have at least {} characters."),
    "string_too_long": ("max_length", "This must have at most {} characters."),
    "too_short": ("min_length", "This must have at least {} items."),
    "too_long": ("max_length", "This must have at most {} items."),
    "greater_than_equal": ("ge", "This must be at least {}."),
    "greater_than": ("gt", "This must be more than {}."),
    "less_than_equal": ("le", "This must be at most {}."),
    "less_than": ("lt", "This must be less than {}."),
    "literal_error": ("expected", "This must be one of {}."),
    "enum": ("expected", "This must be one of {}."),
}
"""Type of a fault -> the part of its context that the model itself wrote, and a sentence."""


def _fault(error: ErrorDetails) -> FieldFault:
    kind, context = error["type"], error.get("ctx", {})
    parts = error["loc"]
    if kind.startswith(OURS):
        if "key" in context:
            parts = (*parts, context["key"])
        return FieldFault(field=spell_path(parts), message=context["message"])
    message = _SENTENCES.get(kind, "This is not valid.")
    if kind in _BOUNDS:
        name, sentence = _BOUNDS[kind]
        message = sentence.format(context[name])
    return FieldFault(field=spell_path(parts), message=message)


def _is_size(error: ErrorDetails) -> bool:
    if error["type"] in {"string_too_long", "too_long"}:
        return (error["loc"][-1:] and error["loc"][-1] in BIG) or False
    return error["type"] == OURS + TOO_LARGE


def moment(value: object) -> datetime:
    """Return the time that `value` spells, in UTC; for use inside a validator."""
    found = _RFC3339.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        refuse("time", "This must be an RFC 3339 time, such as 2026-01-31T09:30:00Z.")
    date, clock, fraction, offset = found.groups()
    try:
        then = datetime.fromisoformat(
            f"{date}T{clock}.{(fraction or '0')[:6]:0<6}{_offset(offset)}"
        )
    except ValueError:
        then = datetime.max.replace(tzinfo=UTC)
    if not _EARLIEST <= then <= _LATEST:
        refuse("time", "There is no such time, or it is out of range.")
    return then.astimezone(UTC)


def _offset(offset: str | None) -> str:
    return "+00:00" if offset is None or offset in "Zz" else offset


def _visible(text: str) -> str:
    if is_blank(text):
        refuse("blank", "This must hold something that can be seen.")
    return text


def shown_time(moment: datetime | None) -> str | None:
    """Return `moment` in RFC 3339, in UTC, with microseconds and `Z`."""
    if moment is None:
        return None
    text = moment.astimezone(UTC).isoformat(timespec="microseconds")
    return text.removesuffix("+00:00") + "Z"


Moment = Annotated[
    datetime,
    BeforeValidator(moment),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A time on its way in."""

Visible = AfterValidator(_visible)
"""Refuses a text of white space and invisible characters only."""

Lax = Field(strict=False)
"""For an enumeration: its values come as texts. Nothing else is loosened."""

Identifier = Annotated[str, StringConstraints(min_length=1, max_length=MAX_LENGTH)]
"""A name that a caller gave to something; which ones may be used is for the paths to say."""

Share = Annotated[float, Field(ge=0, le=1)]
"""A number from 0 to 1."""


def _number(value: object) -> object:
    # Nine digits fit every bound we set, and no more are ever read.
    if isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value):
        return int(value)
    return value


FromQuery = BeforeValidator(_number)
"""Reads a whole number from the text of a query string; stands after the field's bounds."""
