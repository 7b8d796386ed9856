"""What a refused caller is told to bring: the `WWW-Authenticate` of a 401 or a 403.

Rules this module keeps:
- Whoever sent nothing is told where to learn how to come in; whoever sent what proved nothing is
  told that as well, and not why.
- A missing scope is told with every scope that the call needs, so that one consent is enough.
- Nothing of the request is in it.

Source: RFC 6750, 3; RFC 9728, 5.1; RFC 9470, 3; MCP 2026-07-28, authorization.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import GatewayError, ScopeMissing, StepUpNeeded, Unauthenticated

FRESH_SECONDS = 300
"""A person who proved who they are within so long is fresh (REQUIREMENTS B11)."""
PLAIN = "Bearer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """Where a request came in, as far as a challenge names it.

    Args:
        metadata: URL of the protected resource's metadata; None where there is nothing to learn.
        scopes: what the request needs; empty when tokens have no scopes, or it is not known yet.
    """

    metadata: str | None = None
    scopes: frozenset[str] = frozenset()


NOWHERE = Entrance()
"""Where no route was found."""


def challenge(error: GatewayError, entrance: Entrance, *, presented: bool) -> str | None:
    """Return the `WWW-Authenticate` that comes with `error`; None when it has none.

    Args:
        presented: the request carried a credential.
    """
    match error:
        case ScopeMissing():
            return _written("insufficient_scope", entrance.metadata, error.needed)
        case StepUpNeeded():
            more = {"max_age": str(FRESH_SECONDS)}
            return _written(
                "insufficient_user_authentication", entrance.metadata, entrance.scopes, more
            )
        case Unauthenticated():
            word = "invalid_token" if presented else None
            return _written(word, entrance.metadata, entrance.scopes)
        case _:
            return None


def _written(
    error: str | None,
    metadata: str | None,
    scopes: frozenset[str],
    more: Mapping[str, str] | None = None,
) -> str:
    parameters = {
        "error": error,
        **(more or {}),
        "resource_metadata": metadata,
        "scope": " ".join(sorted(scopes)) or None,
    }
    said = [f'{name}="{value}"' for name, value in parameters.items() if value is not None]
    return f"{PLAIN} {', '.join(said)}" if said else PLAIN
