"""What a policy says of itself: a text, where it stands, and what must become of it.

Rules this module keeps:
- A policy whose cases do not come out as they say is refused, shipped or a tenant's own.
- A fault names the case by its place and says nothing of its text, or of what became of it.
- Cases are bounded in number, in all their texts together, and in the time that they take: others
  wait meanwhile.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, field_validator, model_validator

from core.errors import FieldFault, Invalid
from core.model import Layer, Sensitivity
from core.placeholders import replaced
from core.scope import SourceKind
from gateway.guard.guard import Guard
from gateway.guard.policy import Namespace, TextContext
from gateway.guard.policy_file import MAX_FAULTS, Strict, parsed, read

MAX_CASES: Final = 256
MAX_TEXT: Final = 2_048
MAX_CHARACTERS: Final = 65_536
"""Of all texts of a policy's cases together: a second or two of work."""
MAX_TITLE: Final = 160
MAX_SECONDS: Final = 5.0
"""Processor time of all cases together; 65,536 characters take about one."""


class CaseEntry(Strict):
    """One case.

    Args:
        case: what it shows.
        text: a content to guard.
        namespace, source, layer: where it stands; left out, it is in none.
        kept: the content as it must be kept; a pseudonym is written `[KIND]`.
        rejected: a kind that the content must be rejected for.
        sensitivity, expire_seconds: what must come out beside `kept`; left out, anything may.
    """

    case: Annotated[str, Field(min_length=1, max_length=MAX_TITLE)]
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
    namespace: Namespace | None = None
    source: SourceKind | None = None
    layer: Layer | None = None
    kept: Annotated[str, Field(min_length=1, max_length=2 * MAX_TEXT)] | None = None
    rejected: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    sensitivity: Sensitivity | None = None
    expire_seconds: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _has_one_outcome(self) -> Self:
        if (self.kept is None) == (self.rejected is None):
            raise ValueError("a case says what is kept, or for what it is rejected")
        return self

    def holds(self, guard: Guard) -> bool:
        """Tell whether `guard` does with the text what the case says; nothing of it is counted."""
        context = TextContext(
            namespaces=frozenset() if self.namespace is None else frozenset({self.namespace}),
            source=self.source,
            layer=self.layer,
        )
        try:
            judged = guard.judge({"content": self.text}, context)
        except Invalid:
            return False
        if judged.checked is None:
            return self.rejected in {reason.kind for reason in judged.reasons}
        kept = replaced(judged.checked.fields["content"], lambda kind, _word: f"[{kind}]")
        return (
            kept == self.kept
            and self.sensitivity in (None, judged.checked.sensitivity)
            and self.expire_seconds in (None, judged.checked.expire_seconds)
        )


def _bounded(cases: list[CaseEntry]) -> list[CaseEntry]:
    if sum(len(case.text) for case in cases) > MAX_CHARACTERS:
        raise ValueError(f"the texts of all cases have at most {MAX_CHARACTERS} characters")
    return cases


Cases = Annotated[list[CaseEntry], Field(max_length=MAX_CASES)]


class HasCases(Strict):
    """What brings its cases along."""

    cases: Cases = Field(default_factory=list)

    @field_validator("cases")
    @classmethod
    def _few(cls, value: list[CaseEntry]) -> list[CaseEntry]:
        return _bounded(value)


def load_cases(path: Path) -> Sequence[CaseEntry]:
    """Return the cases in a file. Raises: PolicyInvalid."""
    return parsed(HasCases, read(path)).cases


def failing(
    guard: Guard, cases: Iterable[CaseEntry], timer: Callable[[], float] = time.thread_time
) -> tuple[FieldFault, ...]:
    """Return a fault for each case that comes out otherwise, at most 20; or one, if they take too
    long.

    Args:
        timer: seconds of this thread's processor time.
    """
    faults: list[FieldFault] = []
    deadline = timer() + MAX_SECONDS
    for number, case in enumerate(cases):
        holds = case.holds(guard)
        if timer() > deadline:
            return (FieldFault(field="cases", message="They take too long to try."),)
        if not holds:
            faults.append(FieldFault(field=f"cases[{number}]", message="It comes out otherwise."))
            if len(faults) == MAX_FAULTS:
                break
    return tuple(faults)
