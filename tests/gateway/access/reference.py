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
        "admin:guard:preview",
        "admin:quota:read",
        "admin:quota:write",
    },
    "privacy": {"memory:item:reveal"},
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


APART = {"admin", "auditor", "operator"}
"""Roles that no rule of a tenant lets at content."""


@dataclass(frozen=True)
class Asked:
    """One request: who asks, for whom and what, under which policy, and what is there already."""

    has_tenant: bool
    roles: frozenset[str]
    key: str
    owner: str | None
    may_use: tuple[str, ...] | None
    may_act_for: frozenset[str] | None
    user_id: str | None
    namespaces: tuple[str, ...] | None
    spaces: tuple[str, ...] | None
    action: str
    rules: tuple[tuple[str, str, str, str], ...]
    people: dict[str, tuple[frozenset[str], tuple[str, ...] | None]]
    member_of: dict[str, str]
    known_people: frozenset[str]
    known_places: frozenset[str]


@dataclass(frozen=True)
class Granted:
    """A scope: its person, whether anything is kept of them, its namespaces and its spaces."""

    user: str
    known: bool
    places: frozenset[str]
    makes: bool
    readable: frozenset[str] = frozenset()
    writable: frozenset[str] = frozenset()
    into: str | None = None


def allows(asked: Asked, user: str | None, *places: str) -> bool:
    """Say whether the policy lets the caller, acting for `user`, touch `places`."""
    rules = asked.rules if asked.has_tenant else ()
    people = [one for one in {asked.owner, user} if one is not None]
    who = [(asked.roles, {f"key:{asked.key}", *(f"user:{one}" for one in people)})]
    for one in people:
        if asked.has_tenant and one in asked.people:
            roles, namespaces = asked.people[one]
            who.append((roles, {f"user:{one}"}))
            mine = None if namespaces is None else {f"namespace:{name}" for name in namespaces}
            if mine is not None and any(p[:5] == "names" and p not in mine for p in places):
                return False
    for roles, names in who:
        subjects = {f"role:{role}" for role in roles} | names
        said = {
            effect
            for subject, place, action, effect in rules
            if subject in subjects and place in {"tenant", *places} and action == asked.action
        }
        base = any(asked.action in MAY[role] for role in roles)
        if "deny" in said or not (base or ("allow" in said and not roles & APART)):
            return False
    return True


def decide(asked: Asked) -> Granted | str:  # noqa: C901, PLR0911, PLR0912 - one line a rule
    """Return what is granted, or the code of the refusal."""
    user = asked.user_id
    if user is None and asked.may_act_for is not None and len(asked.may_act_for) == 1:
        (user,) = asked.may_act_for
    someone = None if user in BAD else user
    spots = [(), *((place,) for place in {place for _, place, _, _ in asked.rules} - {"tenant"})]
    if not any(allows(asked, someone, *spot) for spot in spots):
        return "forbidden"
    if not asked.action.startswith("memory:"):
        return "forbidden"
    if not asked.has_tenant or "operator" in asked.roles:
        return "forbidden"
    if user is None or user in BAD:
        return "invalid"
    if asked.may_act_for is not None and user not in asked.may_act_for:
        return "forbidden"
    writing = asked.action == "memory:item:write"
    may_use = asked.may_use
    for theirs in (asked.people[one][1] for one in asked.people if one in {asked.owner, user}):
        if theirs is not None:
            may_use = theirs if may_use is None else tuple(n for n in may_use if n in theirs)
    places = asked.namespaces
    if places is not None:
        if any(place in BAD for place in places):
            return "invalid"
        for limit in (asked.may_use, may_use):
            if limit is not None and any(place not in limit for place in places):
                return "forbidden"
        if writing and len(places) != 1:
            return "invalid"
    elif writing and may_use == ():
        return "forbidden"
    elif writing:
        places = ("default",) if may_use is None else (may_use[0],)
    else:
        places = may_use
    spaces = asked.spaces
    if spaces is None and writing:
        spaces = ()
    if spaces and (any(space in BAD for space in spaces) or (writing and len(spaces) > 1)):
        return "invalid"
    if places is not None and not (writing and spaces):
        denied = [p for p in places if not allows(asked, user, f"namespace:{p}")]
        if denied and (writing or asked.namespaces is not None):
            return "forbidden"
    if spaces and not set(spaces) <= asked.member_of.keys():
        return "not_found"
    if writing:
        assert places is not None
        if any(asked.member_of[space] != "writer" for space in spaces or ()):
            return "forbidden"
        touched = [f"namespace:{places[0]}"] + [f"space:{space}" for space in spaces or ()]
        if not allows(asked, user, *touched):
            return "forbidden"
        to = frozenset(spaces or ())
        return Granted(user, True, frozenset(places), True, to, to, *(spaces or ()))
    found = asked.member_of.keys() if spaces is None else set(spaces)
    seen = frozenset(space for space in found if allows(asked, user, f"space:{space}"))
    if spaces is not None and seen != found:
        return "forbidden"
    there = asked.known_places if places is None else asked.known_places & set(places)
    changes = asked.action in {"memory:item:update", "memory:item:forget"}
    return Granted(
        user,
        user in asked.known_people,
        frozenset(place for place in there if allows(asked, user, f"namespace:{place}")),
        False,
        seen,
        frozenset(one for one in seen if changes and asked.member_of[one] == "writer"),
    )
