"""Loads the guard's policies: which kinds are transformed how, and which secrets are refused.

Rules this module keeps:
- A policy with an unknown field, kind, action or a repeated key does not load; the old one stays.
- An action that is not implemented is refused by name rather than ignored.
- A pattern repeats only what it bounds: no `*`, no `+`, no `{n,}` outside a character class. Its
  worst case is then a constant a character, and a timeout stands behind it.
- What a policy error says is about the file, never about a text that was scanned.
"""

import re
from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self, TypeVar

import regex
import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from typing_extensions import override

from core.model import Sensitivity
from gateway.guard.kinds import HIDDEN_TEXT, KINDS

SECRET_KINDS = frozenset(
    {
        "SECRET.PRIVATE_KEY",
        "SECRET.CLOUD_KEY",
        "SECRET.TOKEN",
        "SECRET.JWT",
        "SECRET.CONNECTION_STRING",
        "SECRET.PASSWORD",
        "SECRET.RECOVERY_PHRASE",
    }
)

Judge = Literal[
    "none",
    "armour",
    "filled",
    "token",
    "password_written",
    "password_said",
    "password_beside",
    "password_digits",
]
"""What a match must also pass: see `gateway.guard.secrets`."""

_NOT_YET = frozenset({"pseudonymize", "expire"})
_ESCAPED_OR_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_UNBOUNDED = re.compile(r"(?<!\()[*+]|\{\d*,\}")


class PolicyInvalid(ValueError):
    """A policy does not load. The message names the place and the fault, for who wrote the file."""


class Action(StrEnum):
    """What is done with a finding, mildest first."""

    ALLOW = "allow"
    MASK = "mask"
    REDACT = "redact"
    REJECT = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRule:
    """What a policy asks for one kind.

    Args:
        keep_last: characters that a mask leaves readable, 0 to 4.
        sensitivity: class of a memory in which a finding was let through.
    """

    action: Action
    keep_last: int = 0
    sensitivity: Sensitivity = Sensitivity.PERSONAL


@dataclass(frozen=True, slots=True, kw_only=True)
class PiiPolicy:
    """Action and class per kind; `of` answers for every kind there is."""

    version: str
    default: KindRule
    kinds: MappingProxyType[str, KindRule]

    def of(self, kind: str) -> KindRule:
        """Return the rule for `kind`, the default when the policy does not name it."""
        return self.kinds.get(kind, self.default)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRule:
    """One way a secret looks.

    Args:
        pattern: a group `value`, when there is one, is what `judge` looks at.
        keywords: lower case; at least one must be in the text before the pattern is tried.
        judge: `filled` asks the value to be no placeholder, `token` to look random, a password's to
            be no plain talk; `armour` asks what follows to be no prose.
        entropy_bits: least Shannon entropy a character, for `token`.
        squeeze: also try the text with its white space taken out.
        until: the secret reaches to the line of this sign, as an armoured key does.
    """

    id: str
    kind: str
    pattern: regex.Pattern[str]
    keywords: tuple[str, ...]
    judge: Judge = "none"
    entropy_bits: float = 0.0
    squeeze: bool = False
    until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRules:
    """Rules for secrets, all their keywords, and the plain words and placeholders that are none."""

    version: str
    rules: tuple[SecretRule, ...]
    keywords: tuple[str, ...]
    plain: regex.Pattern[str]
    placeholder: regex.Pattern[str]


def load_pii_policy(path: Path) -> PiiPolicy:
    """Read and check a PII policy file. Raises PolicyInvalid."""
    return parse_pii_policy(_read(path))


def load_secret_rules(path: Path) -> SecretRules:
    """Read and check a file of secret rules. Raises PolicyInvalid."""
    return parse_secret_rules(_read(path))


def parse_pii_policy(text: str) -> PiiPolicy:
    """Return the policy that `text` (YAML) describes. Raises PolicyInvalid."""
    source = _checked(_PiiFile, text)
    return PiiPolicy(
        version=source.version,
        default=source.defaults.rule(),
        kinds=MappingProxyType({kind: entry.rule() for kind, entry in source.kinds.items()}),
    )


def parse_secret_rules(text: str) -> SecretRules:
    """Return the rules that `text` (YAML) describes, compiled. Raises PolicyInvalid."""
    source = _checked(_SecretsFile, text)
    return SecretRules(
        version=source.version,
        rules=tuple(entry.rule() for entry in source.rules),
        keywords=tuple(sorted({word for entry in source.rules for word in entry.keywords})),
        plain=regex.compile("|".join(source.plain), regex.IGNORECASE),
        placeholder=regex.compile("|".join(source.placeholders), regex.IGNORECASE),
    )


def _bounded(pattern: str) -> str:
    bare = _ESCAPED_OR_CLASS.sub("x", pattern)
    if _UNBOUNDED.search(bare):
        raise ValueError("repeats without a bound; write {0,n}")
    try:
        regex.compile(pattern)
    except regex.error as err:
        raise ValueError(f"is no pattern: {err.msg}") from err
    return pattern


_Pattern = Annotated[str, Field(min_length=1, max_length=2048), AfterValidator(_bounded)]
_Version = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]{0,63}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class _KindEntry(_Strict):
    action: Action
    keep_last: Annotated[int, Field(ge=1, le=4)] | None = None
    sensitivity: Sensitivity = Sensitivity.PERSONAL

    @field_validator("action", mode="before")
    @classmethod
    def _implemented(cls, value: object) -> object:
        if value in _NOT_YET:
            raise ValueError(f"{value} is not available in this release")
        return value

    @model_validator(mode="after")
    def _masks_keep(self) -> Self:
        if (self.action is Action.MASK) != (self.keep_last is not None):
            raise ValueError("keep_last belongs to mask, and mask needs it")
        return self

    def rule(self) -> KindRule:
        return KindRule(
            action=self.action, keep_last=self.keep_last or 0, sensitivity=self.sensitivity
        )


class _PiiFile(_Strict):
    version: _Version
    defaults: _KindEntry
    kinds: dict[str, _KindEntry]

    @field_validator("kinds")
    @classmethod
    def _known(cls, value: dict[str, _KindEntry]) -> dict[str, _KindEntry]:
        if unknown := sorted(set(value) - KINDS):
            raise ValueError(f"unknown kinds: {', '.join(unknown)}")
        hidden = value.get(HIDDEN_TEXT)
        if hidden is not None and hidden.action is Action.MASK:
            raise ValueError("HIDDEN_TEXT cannot be masked")
        return value


class _SecretEntry(_Strict):
    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
    kind: str
    pattern: _Pattern
    keywords: Annotated[list[str], Field(min_length=1, max_length=32)]
    ignore_case: bool = False
    judge: Judge = "none"
    entropy_bits: Annotated[float, Field(ge=0, le=8)] = 0.0
    squeeze: bool = False
    until: Annotated[str, Field(min_length=3)] | None = None

    @field_validator("kind")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in SECRET_KINDS:
            raise ValueError("unknown kind of secret")
        return value

    @field_validator("keywords")
    @classmethod
    def _lower(cls, value: list[str]) -> list[str]:
        if any(not word or word != word.lower() for word in value):
            raise ValueError("a keyword is lower case and not empty")
        return value

    @model_validator(mode="after")
    def _judged_value(self) -> Self:
        if self.judge not in ("none", "armour") and "(?P<value>" not in self.pattern:
            raise ValueError("a judged pattern names its group `value`")
        if self.entropy_bits and self.judge != "token":
            raise ValueError("entropy_bits belongs to the judge `token`")
        return self

    def rule(self) -> SecretRule:
        return SecretRule(
            id=self.id,
            kind=self.kind,
            pattern=regex.compile(self.pattern, regex.IGNORECASE if self.ignore_case else 0),
            keywords=tuple(self.keywords),
            judge=self.judge,
            entropy_bits=self.entropy_bits,
            squeeze=self.squeeze,
            until=self.until,
        )


class _SecretsFile(_Strict):
    version: _Version
    plain: Annotated[list[_Pattern], Field(min_length=1)]
    placeholders: Annotated[list[_Pattern], Field(min_length=1)]
    rules: Annotated[list[_SecretEntry], Field(min_length=1)]

    @field_validator("rules")
    @classmethod
    def _distinct(cls, value: list[_SecretEntry]) -> list[_SecretEntry]:
        if len({entry.id for entry in value}) != len(value):
            raise ValueError("two rules share an id")
        return value


class _UniqueKeys(yaml.SafeLoader):
    """Refuses a mapping that names a key twice; YAML would silently keep the last."""

    @override
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        names = [self.construct_object(key, deep=True) for key, _ in node.value]
        if len(set(names)) != len(names):
            mark = node.start_mark
            raise yaml.constructor.ConstructorError(None, None, "a key is repeated", mark)
        return super().construct_mapping(node, deep=deep)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as err:
        raise PolicyInvalid(f"{path.name} cannot be read") from err


_Source = TypeVar("_Source", bound=_Strict)


def _checked(model: type[_Source], text: str) -> _Source:
    try:
        data = yaml.load(text, Loader=_UniqueKeys)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as err:
        raise PolicyInvalid(f"not YAML, or a key is repeated: {_place(err)}") from err
    try:
        return model.model_validate(data)
    except ValidationError as err:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc']) or 'policy'}: {fault['msg']}"
            for fault in err.errors(include_url=False, include_input=False, include_context=False)
        )
        raise PolicyInvalid(faults) from err


def _place(err: yaml.YAMLError) -> str:
    mark = getattr(err, "problem_mark", None)
    return f"line {mark.line + 1}" if mark else "at the start"
