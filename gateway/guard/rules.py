"""The rules for secrets: what is refused, by its shape or by the word beside it.

Rules this module keeps:
- A file with an unknown field or kind, or two rules of one name, does not load.
- A pattern repeats only what it bounds (`gateway.guard.patterns`).
- A tenant's own rules come after the shipped ones, which it cannot take away.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

import regex
from pydantic import AfterValidator, Field, field_validator, model_validator
from typing_extensions import override

from gateway.guard.patterns import bounded, tame
from gateway.guard.policy_file import Strict, Version, parsed, read

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

MIN_KEYWORD, MAX_KEYWORD = 2, 64
"""Characters of a keyword of a tenant's own: a letter alone is in every text."""

Judge = Literal[
    "none",
    "armour",
    "filled",
    "token",
    "random",
    "password_written",
    "password_said",
    "password_beside",
    "password_digits",
]
"""What a match must also pass: see `gateway.guard.secrets`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRule:
    """One way a secret looks.

    Args:
        pattern: a group `value`, when there is one, is what `judge` looks at.
        keywords: lower case; at least one must be in the text before the pattern is tried.
        judge: `filled` asks the value to be no placeholder, `token` to look random, `random` to do
            so although other words stand between, a password's to be no plain talk; `armour` asks
            what follows to be no prose.
        entropy_bits: least Shannon entropy a character, for `token` and `random`.
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

    def with_own(self, own: Iterable[SecretRule], version: str) -> "SecretRules":
        """Return these rules and a tenant's `own`.

        Args:
            version: of both together.
        """
        rules = (*self.rules, *own)
        return SecretRules(
            version=version,
            rules=rules,
            keywords=tuple(sorted({word for rule in rules for word in rule.keywords})),
            plain=self.plain,
            placeholder=self.placeholder,
        )


def load_secret_rules(path: Path) -> SecretRules:
    """Read and check a file of secret rules. Raises PolicyInvalid."""
    return parse_secret_rules(read(path))


def parse_secret_rules(text: str) -> SecretRules:
    """Return the rules that `text` (YAML) describes, compiled. Raises PolicyInvalid."""
    source = parsed(_SecretsFile, text)
    return SecretRules(
        version=source.version,
        rules=tuple(entry.rule() for entry in source.rules),
        keywords=tuple(sorted({word for entry in source.rules for word in entry.keywords})),
        plain=regex.compile("|".join(source.plain), regex.IGNORECASE),
        placeholder=regex.compile("|".join(source.placeholders), regex.IGNORECASE),
    )


_Pattern = Annotated[str, Field(min_length=1, max_length=2048), AfterValidator(bounded)]


class SecretEntry(Strict):
    """One rule as a file spells it; see `SecretRule`."""

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
        if self.entropy_bits and self.judge not in ("token", "random"):
            raise ValueError("entropy_bits belongs to the judges `token` and `random`")
        return self

    def rule(self) -> SecretRule:
        """Return the rule, compiled."""
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


class OwnSecretEntry(SecretEntry):
    """A tenant's own rule: its pattern is tame, and its keywords are words."""

    pattern: Annotated[_Pattern, AfterValidator(tame)]

    @field_validator("keywords")
    @classmethod
    def _words(cls, value: list[str]) -> list[str]:
        if any(not MIN_KEYWORD <= len(word) <= MAX_KEYWORD for word in value):
            raise ValueError(f"a keyword has {MIN_KEYWORD} to {MAX_KEYWORD} characters")
        return value

    @override
    def rule(self) -> SecretRule:
        """Return the rule, compiled, under a name that no shipped one has."""
        return SecretRule(
            id=f"own:{self.id}",
            kind=self.kind,
            pattern=regex.compile(self.pattern, regex.IGNORECASE if self.ignore_case else 0),
            keywords=tuple(self.keywords),
            judge=self.judge,
            entropy_bits=self.entropy_bits,
            squeeze=self.squeeze,
            until=self.until,
        )


class _SecretsFile(Strict):
    version: Version
    plain: Annotated[list[_Pattern], Field(min_length=1)]
    placeholders: Annotated[list[_Pattern], Field(min_length=1)]
    rules: Annotated[list[SecretEntry], Field(min_length=1)]

    @field_validator("rules")
    @classmethod
    def _distinct(cls, value: list[SecretEntry]) -> list[SecretEntry]:
        if len({entry.id for entry in value}) != len(value):
            raise ValueError("two rules share an id")
        return value
