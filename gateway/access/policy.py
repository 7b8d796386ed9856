"""The policy in force for a tenant: the base policy, the tenant's own rules, and its people.

Rules this module keeps:
- An action in a place is allowed when some rule allows it there or in the whole tenant, and none
  denies it in either. One denying rule beats every allowing one, whoever it is about.
- The tenant's own rules add to the base policy and take away from it. What they add of content
  counts for nobody who also administers, audits or operates: duties stay apart.
- Whoever acts for a listed person, or with a credential of one, may do what both may: the person is
  judged like a caller, and both must be allowed.
- Nothing here waits or looks anything up: people and places come as keyed look-ups.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from core.ports import TenantKeys
from core.scope import Action, Role
from gateway.access.names import user_key
from gateway.access.rules import DEFAULT_DENY, TENANT, Rules, Ruling

APART: Final = frozenset({Role.ADMIN, Role.AUDITOR, Role.OPERATOR})
"""Roles of those who run, watch or host a tenant, and read no content by any rule of its own."""
_OUTSIDE: Final = Ruling(allowed=False, rule="person-outside-namespace")
_LESS: Final = Ruling(allowed=False, rule="person-may-not")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """What a person may do at most, and with that whoever acts for them.

    Args:
        namespaces: by name, the default first; None for every one of the tenant.
        places: the same as places of rules.
    """

    roles: frozenset[Role]
    namespaces: tuple[str, ...] | None = field(default=None, repr=False)
    places: frozenset[str] | None = None

    def outside(self, places: Iterable[str]) -> bool:
        """Tell whether one of `places` is a namespace that is none of theirs."""
        return self.places is not None and any(
            place.startswith("namespace:") and place not in self.places for place in places
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asks, as the rules know them.

    Args:
        key: id of the credential; None for nobody's.
        owner: keyed look-up, in hex, of the person whose credential it is.
        person: the same of the person acted for.
    """

    roles: frozenset[Role]
    key: str | None = None
    owner: str | None = None
    person: str | None = None

    @classmethod
    def of(
        cls,
        keys: TenantKeys,
        roles: frozenset[Role],
        *,
        key: str | None = None,
        owner: str | None = None,
        person: str | None = None,
    ) -> Self:
        """Return who asks, from outside ids of persons."""
        return cls(
            roles=roles,
            key=key,
            owner=None if owner is None else user_key(keys, owner).hex(),
            person=None if person is None else user_key(keys, person).hex(),
        )

    @property
    def people(self) -> tuple[str, ...]:
        """The persons in it, each once."""
        return tuple(dict.fromkeys(one for one in (self.owner, self.person) if one is not None))

    @property
    def subjects(self) -> tuple[str, ...]:
        """What rules may call them."""
        key = () if self.key is None else (f"key:{self.key}",)
        return (
            *sorted(f"role:{role}" for role in self.roles),
            *key,
            *(f"user:{one}" for one in self.people),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One rule that a decision rested on, or could have: for `explain`."""

    subject: str
    place: str
    ruling: Ruling


class Policy:
    """What decides for one tenant; never changes.

    Args:
        base: the rules of the deployment.
        own: the tenant's; None for none.
        people: by keyed look-up in hex.
        version: short hash of all of it; goes into decisions, the audit log and cache keys.
    """

    __slots__ = ("_layers", "_own", "base", "has_places", "is_own", "people", "version")

    def __init__(
        self,
        base: Rules,
        own: Rules | None = None,
        people: Mapping[str, Person] | None = None,
        *,
        version: str | None = None,
    ) -> None:
        self.base = base
        self.people = people or {}
        self.version = base.version if version is None else version
        self._own = own
        self._layers = (base,) if own is None else (base, own)
        self.is_own = own is not None or bool(self.people)
        self.has_places = (own is not None and own.has_places()) or any(
            one.places is not None for one in self.people.values()
        )

    def judge(self, asker: Asker, action: Action, *places: str) -> Ruling:
        """Return whether `asker` may do `action`, and the rule that says so.

        Args:
            places: what it touches at once: nothing but the tenant, a namespace, a space, or for a
                write into a space both.
        """
        ruling = self._side(asker.subjects, asker.roles, action, places)
        for person in self._listed(asker):
            if not ruling.allowed:
                return ruling
            their = self.people[person]
            if their.outside(places):
                return _OUTSIDE
            least = self._side(_as_person(person, their), their.roles, action, places)
            if not least.allowed:
                return _LESS if least is DEFAULT_DENY else least
        return ruling

    def anywhere(self, asker: Asker, action: Action) -> Ruling:
        """Return whether `asker` may do `action` in any place at all; each place is judged later.

        For what must be said before the place is known: a tool in a list, a refusal in the log.
        """
        ruling = self.judge(asker, action)
        if self._own is None or ruling not in {DEFAULT_DENY, _LESS}:
            return ruling
        subjects = (subject for side, _ in self._sides(asker) for subject in side)
        places = {line.place for one in subjects for line in self._own.granted(one, action)}
        for place in sorted(places):
            there = self.judge(asker, action, place)
            if there.allowed:
                return there
        return ruling

    def listed(self, asker: Asker) -> list[Person]:
        """Return what the persons in `asker` may do at most, of those that are listed."""
        return [self.people[one] for one in self._listed(asker)]

    def checks(self, asker: Asker, action: Action, *places: str) -> Iterator[Check]:
        """Yield what each rule about `asker` says of `action` in the tenant and in `places`."""
        seen = set()
        for subjects, roles in self._sides(asker):
            for where, subject, ruling, counts in self._said(subjects, roles, action, places):
                if (where, subject, ruling.rule) not in seen and (counts or not ruling.allowed):
                    seen.add((where, subject, ruling.rule))
                    yield Check(subject=subject, place=where, ruling=ruling)

    def _listed(self, asker: Asker) -> list[str]:
        return [one for one in asker.people if one in self.people] if self.people else []

    def _sides(self, asker: Asker) -> list[tuple[tuple[str, ...], frozenset[Role]]]:
        """Return each of those who must be allowed, as (subjects, roles)."""
        their = ((one, self.people[one]) for one in self._listed(asker))
        return [
            (asker.subjects, asker.roles),
            *((_as_person(one, person), person.roles) for one, person in their),
        ]

    def _side(
        self,
        subjects: tuple[str, ...],
        roles: frozenset[Role],
        action: Action,
        places: tuple[str, ...],
    ) -> Ruling:
        allowed = DEFAULT_DENY
        for _, _, ruling, counts in self._said(subjects, roles, action, places):
            if not ruling.allowed:
                return ruling
            if counts and not allowed.allowed:
                allowed = ruling
        return allowed

    def _said(
        self,
        subjects: tuple[str, ...],
        roles: frozenset[Role],
        action: Action,
        places: tuple[str, ...],
    ) -> Iterator[tuple[str, str, Ruling, bool]]:
        """Yield (place, subject, ruling, whether an allow of it counts) for each rule there is."""
        apart = not roles.isdisjoint(APART)
        for where in (TENANT, *places):
            for subject in subjects:
                for rules in self._layers:
                    ruling = rules.ask(subject, where, action)
                    if ruling is not DEFAULT_DENY:
                        yield where, subject, ruling, rules is self.base or not apart


def _as_person(person: str, their: Person) -> tuple[str, ...]:
    return Asker(roles=their.roles, person=person).subjects
