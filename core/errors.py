"""Every error that may cross a module border, and the one tree they form.

    GatewayError
    ├── Unauthenticated      no credential, or one that proves nothing
    ├── Denied               the policy said no, about something the caller may know of
    │   ├── ScopeMissing     a token lacks an OAuth scope; names all that are needed
    │   └── StepUpNeeded     the person must prove once more who they are, or confirm
    ├── NotFound             missing, forgotten, expired, withheld or foreign: one answer
    ├── Invalid              the request is malformed; names the field, never the value
    │   └── NamesInvalid     several fields at once
    ├── ContentRejected      a guard refused what the request carries
    ├── TooLarge             over a published bound
    ├── Conflict             the same key with another body, or a state that forbids the step
    ├── PreconditionFailed   `If-Match` named another version
    ├── Throttled            over a budget
    └── Unavailable          a part that must answer did not
        └── Outdated         rights were taken away in the tenant while this was under way

Rules this module keeps:
- A public sentence (`detail`) holds no content, no secret, no path and no id of a person.
- The cause travels as `__cause__` and stays inside; no front prints it.
- Another tenant's object is `NotFound`, never `Denied`.
"""

from dataclasses import dataclass
from typing import ClassVar


class GatewayError(Exception):
    """Root of the tree. `code` is stable on the wire; `detail` is safe to show to anybody.

    Args:
        detail: a public sentence; the class's `sentence` when left out.
    """

    code: ClassVar[str] = "unavailable"
    sentence: ClassVar[str] = "The gateway could not answer."

    def __init__(self, detail: str | None = None) -> None:
        self.detail = detail or self.sentence
        super().__init__(self.detail)


class Unauthenticated(GatewayError):
    """No credential, or one that does not prove who asks. Unknown, wrong and expired look alike."""

    code = "unauthenticated"
    sentence = "A valid credential is required."


class Denied(GatewayError):
    """The policy does not allow this. `rule` is for the audit log, not for the caller."""

    code = "forbidden"
    sentence = "This credential may not do that."

    def __init__(self, detail: str | None = None, *, rule: str = "default-deny") -> None:
        super().__init__(detail)
        self.rule = rule


class ScopeMissing(Denied):
    """A token lacks an OAuth scope.

    Args:
        needed: every scope that the call needs, those the token has included.
    """

    sentence = "The token lacks a scope that this needs."

    def __init__(self, needed: frozenset[str]) -> None:
        super().__init__(rule="scope-missing")
        self.needed = needed


class StepUpNeeded(Denied):
    """What cannot be undone needs a person who proved lately who they are, or who confirms it."""

    sentence = "Sign in again, or confirm, to do what cannot be undone."

    def __init__(self) -> None:
        super().__init__(rule="step-up")


class NotFound(GatewayError):
    """Missing, forgotten, expired, withheld or foreign: the answer is the same."""

    code = "not_found"
    sentence = "There is no such thing here."


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldFault:
    """One thing wrong with a request: the field's path and a sentence without its value."""

    field: str
    message: str


class Invalid(GatewayError):
    """The request is malformed.

    Args:
        detail: what is wrong, without the value.
        field: dotted path of the field, when one field is at fault.
    """

    code = "invalid"
    sentence = "The request is not valid."

    def __init__(self, detail: str | None = None, *, field: str | None = None) -> None:
        super().__init__(detail)
        self.faults: tuple[FieldFault, ...] = (
            () if field is None else (FieldFault(field=field, message=self.detail),)
        )


class NamesInvalid(Invalid):
    """Several fields are at fault at once.

    Args:
        faults: one entry a field, in the order of the request.
    """

    def __init__(self, faults: tuple[FieldFault, ...]) -> None:
        super().__init__("Some fields are not valid.")
        self.faults = faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a guard refused: a kind such as `SECRET.PRIVATE_KEY` and the field's path; no text."""

    kind: str
    field: str


class ContentRejected(GatewayError):
    """A guard refused the content; nothing of it was stored, indexed, logged or embedded.

    Args:
        reasons: at least one; order of the fields in the request.
    """

    code = "content_rejected"
    sentence = "The content was refused; nothing was stored."

    def __init__(self, reasons: tuple[Reason, ...]) -> None:
        super().__init__()
        self.reasons = reasons


class TooLarge(GatewayError):
    """Over a published bound."""

    code = "too_large"
    sentence = "The request is larger than allowed."

    def __init__(self, detail: str | None = None, *, field: str | None = None) -> None:
        super().__init__(detail)
        self.field = field


class Conflict(GatewayError):
    """The state forbids the step, or an idempotency key came back with another body.

    Args:
        resource_id: id of what exists already, when naming it tells the caller nothing new.
    """

    code = "conflict"
    sentence = "This conflicts with what is there."

    def __init__(self, detail: str | None = None, *, resource_id: str | None = None) -> None:
        super().__init__(detail)
        self.resource_id = resource_id


class PreconditionFailed(GatewayError):
    """`If-Match` named a version that is not the current one."""

    code = "precondition_failed"
    sentence = "The version has changed since it was read."


class Throttled(GatewayError):
    """Over a budget.

    Args:
        retry_after_seconds: whole seconds, at least 1.
    """

    code = "throttled"
    sentence = "Too many requests."

    def __init__(self, detail: str | None = None, *, retry_after_seconds: int = 1) -> None:
        super().__init__(detail)
        self.retry_after_seconds = max(1, retry_after_seconds)


class Unavailable(GatewayError):
    """A part that must answer did not: the record, the keys or the audit log. Try again later.

    Args:
        retry_after_seconds: whole seconds, at least 1.
    """

    code = "unavailable"
    sentence = "The gateway cannot answer just now."

    def __init__(self, detail: str | None = None, *, retry_after_seconds: int = 1) -> None:
        super().__init__(detail)
        self.retry_after_seconds = max(1, retry_after_seconds)


class Outdated(Unavailable):
    """Rights were taken away in the tenant while this call was under way; nothing of it stands.

    Asked again, it is judged by what holds now.
    """

    sentence = "Rights have changed meanwhile; ask again."


class Tampered(Exception):
    """Stored bytes are not what was sealed, or stand in another place.

    Not a `GatewayError`: it never reaches a front. The path that opened the envelope withholds the
    memory, audits it and answers as for `NotFound`.
    """
