"""What access should decide, written a second time and from the documents alone.

It imports nothing of `gateway`. Names are judged by a table, since what is a good identifier is
itself one of the things under test.
"""

from dataclasses import dataclass

MAY = {
    "reader": {"memory:item:read", "memory:item:list", "memory:item:recall", "memory:recall:read"},
    "writer": {"memory:item:write"},
    "curator": {"memory:item:update", "memory:item:forget"},
    "admin": {
        "admin:key:create",
        "admin:key:list",
        "admin:key:rotate",
        "admin:key:revoke",
        "admin:space:create",
        "admin:space:list",
        "admin:space:delete",
        "admin:space:share",
        "admin:space:unshare",
        "admin:policy:read",
        "admin:policy:write",
        "admin:policy:explain",
        "admin:quota:read",
        "admin:quota:write",
    },
    "privacy": set(),
    "auditor": {"audit:event:read"},
    "operator": {"admin:tenant:create", "admin:tenant:list", "admin:tenant:erase"},
}

GOOD = [
    "alice",
    "Alice",
    "alice-evil",
    "ａｌｉｃｅ",  # alice to NFKC, somebody else to us
    "аlice",  # begins with a Cyrillic letter
    "ns/alice",
    "ns/alice-evil",
    "ns/../alice",
    "..",
    "role:reader",
    "p, role:reader, memory:item, write, allow",
    "' || true || '",
    ".*",
    "%",
    "李雷",
    "default",
    "x" * 128,
]
BAD = [
    "",
    "*",
    " ",
    " alice",
    "alice ",
    "alice\n",
    "alice\r",
    "\nalice",
    "ali\x00ce",
    "ali\tce",
    "ali\u200bce",
    "ali\u202ece",
    "ali\ufeffce",
    "ali\u00a0ce",
    "ali\ud800ce",
    "cafe\u0301",  # not composed
    "x" * 129,
]


@dataclass(frozen=True)
class Asked:
    """One request: who asks, for whom and what, and what is there already."""

    has_tenant: bool
    roles: frozenset[str]
    may_use: tuple[str, ...] | None
    may_act_for: frozenset[str] | None
    user_id: str | None
    namespaces: tuple[str, ...] | None
    spaces: tuple[str, ...] | None
    action: str
    known_people: frozenset[str]
    known_places: frozenset[str]


@dataclass(frozen=True)
class Granted:
    """A scope: its person, whether anything is kept of them, and its namespaces."""

    user: str
    known: bool
    places: frozenset[str]
    makes: bool


def decide(asked: Asked) -> Granted | str:  # noqa: C901, PLR0911, PLR0912 - one line a rule
    """Return what is granted, or the code of the refusal."""
    allowed = any(asked.action in MAY[role] for role in asked.roles)
    about_memories = asked.action.startswith("memory:")
    if not allowed or not about_memories or not asked.has_tenant or "operator" in asked.roles:
        return "forbidden"
    user = asked.user_id
    if user is None and asked.may_act_for is not None and len(asked.may_act_for) == 1:
        (user,) = asked.may_act_for
    if user is None or user in BAD:
        return "invalid"
    if asked.may_act_for is not None and user not in asked.may_act_for:
        return "forbidden"
    writing = asked.action == "memory:item:write"
    places = asked.namespaces
    if places is not None:
        if any(place in BAD for place in places):
            return "invalid"
        if asked.may_use is not None and any(place not in asked.may_use for place in places):
            return "forbidden"
        if writing and len(places) != 1:
            return "invalid"
    elif writing and asked.may_use == ():
        return "forbidden"
    elif writing:
        places = ("default",) if asked.may_use is None else (asked.may_use[0],)
    else:
        places = tuple(asked.known_places) if asked.may_use is None else asked.may_use
    if asked.spaces:
        return "not_found"
    if writing:
        return Granted(user, known=True, places=frozenset(places), makes=True)
    there = frozenset(places) & asked.known_places
    return Granted(user, known=user in asked.known_people, places=there, makes=False)
