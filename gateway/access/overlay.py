"""A tenant's own access policy, from the document an administrator puts to a policy in force.

Rules this module keeps:
- A document is accepted whole or not at all. A fault names its place in the document and says what
  is wanted, never what was there.
- What it may say is a closed list: known subjects, objects, verbs and effects, exact names, no
  wildcard, nothing twice, no field that is not known.
- It may take from everybody, and give to nobody what keeps duties apart: it allows nothing but
  content, and that to no role that administers, audits or operates; the operator's actions and the
  auditor's are none of its business; it cannot shut administrators out of their policy.
- It brings its own cases, and each of its rules is decided by one: a document whose cases do not
  come out as they say is refused.
- People, namespaces and spaces stand in rules as keyed look-ups of their names: a rule about a
  space holds for whatever space has that name.

Source: REQUIREMENTS C2, C3, C12, C20.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from core.errors import FieldFault, Invalid, NamesInvalid
from core.model import Json
from core.ports import TenantKeys
from core.scope import Action, Role
from gateway.access.names import namespace_key, space_key, user_key
from gateway.access.policy import APART, Asker, Person, Policy
from gateway.access.rules import TENANT, RuleLine, Rules
from gateway.guard.identifiers import check_identifier

MAX_BYTES: Final = 1 << 20
MAX_RULES: Final = 5_000
MAX_PEOPLE: Final = 5_000
MAX_CASES: Final = 5_000
MAX_FAULTS: Final = 20
EMPTY: Final[Mapping[str, Json]] = {"rules": [], "people": [], "cases": []}
"""What a tenant without a policy of its own has put, as far as a reader can tell."""

_EVERY = ["*"]
_TENANT_ROLES: Final = frozenset(Role) - {Role.OPERATOR}
_KEY: Final = re.compile(r"[a-z2-7]{16}|token-[0-9a-f]{32}", re.ASCII)
_PAIRS: Final = {(action.object, action.verb): (action.object, action.verb) for action in Action}
_ACTIONS: Final = {action.value: action for action in Action}
_NOT_THEIRS: Final = frozenset({"admin:tenant", "audit:event"})
_RULE: Final = frozenset({"subject", "in", "object", "verb", "effect"})
_PLACED: Final = frozenset({"in"})
_EFFECTS: Final = {"allow": "allow", "deny": "deny"}


@dataclass(slots=True)
class Faults:
    """What is wrong with a document, so far."""

    found: list[FieldFault] = field(default_factory=list)
    names: set[str] = field(default_factory=set, repr=False)
    """Names that were found well-formed: a document says each of them many times."""

    def add(self, where: str, message: str) -> None:
        """Note one fault."""
        self.found.append(FieldFault(field=where, message=message))

    def stop(self) -> None:
        """Refuse the document if anything is wrong with it. Raises: NamesInvalid."""
        if self.found:
            raise NamesInvalid(tuple(self.found[:MAX_FAULTS]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a document says of itself: who, where, and what comes out."""

    roles: frozenset[Role]
    key: str | None
    user_id: str | None = field(repr=False)
    place: str = field(repr=False)
    expect: Mapping[Action, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """A document that reads well; subjects and places are still as it spells them."""

    lines: tuple[RuleLine, ...] = field(repr=False)
    people: Mapping[str, Person] = field(repr=False)
    cases: tuple[Case, ...] = field(repr=False)

    @property
    def empty(self) -> bool:
        """Whether it says nothing: the base policy alone is in force."""
        return not self.lines and not self.people


def version_of(base: str, document: Mapping[str, Json]) -> str:
    """Return the version of `document` over the base policy of version `base`: 12 hex digits."""
    contents = json.dumps([base, document], ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(contents.encode()).hexdigest()[:12]


def parse(document: Mapping[str, Json], *, with_cases: bool = True) -> Overlay:
    """Return what `document` says.

    Args:
        with_cases: False for one whose cases came out well over this very base policy before.

    Raises:
        NamesInvalid: it is refused; at most 20 faults, in its order.
    """
    faults = Faults()
    for name in document.keys() - EMPTY.keys():
        faults.add(name if name.isascii() and name.isalpha() else "?", "There is no such field.")
    if "rules" not in document:
        faults.add("rules", "This field is required.")
    lines = tuple(_lines(document.get("rules", []), faults))
    people = dict(_people(document.get("people", []), faults))
    cases = tuple(_cases(document.get("cases", []), faults)) if with_cases else ()
    faults.stop()
    overlay = Overlay(lines=lines, people=people, cases=cases)
    if with_cases:
        _check_cases(overlay, faults)
    return overlay


def compiled(overlay: Overlay, base: Rules, model: str, keys: TenantKeys, version: str) -> Policy:
    """Return the policy of `overlay` over `base`, under the names of one tenant."""
    if overlay.empty:
        return Policy(base)
    spelled: dict[str, str] = {}

    def once(name: str) -> str:
        if name not in spelled:
            spelled[name] = keyed(keys, name)
        return spelled[name]

    lines = [
        line._replace(subject=once(line.subject), place=once(line.place)) for line in overlay.lines
    ]
    people = {
        user_key(keys, user_id).hex(): Person(
            roles=person.roles,
            namespaces=person.namespaces,
            places=None
            if person.namespaces is None
            else frozenset(once(f"namespace:{name}") for name in person.namespaces),
        )
        for user_id, person in overlay.people.items()
    }
    own = Rules(model, lines, version=version) if lines else None
    return Policy(base, own, people, version=version)


def try_cases(policy: Policy, overlay: Overlay, keys: TenantKeys) -> None:
    """Refuse a policy that decides otherwise than the cases of its document say.

    Raises:
        NamesInvalid: names the cases and their actions.
    """
    faults = Faults()
    for number, case in enumerate(overlay.cases):
        asker = Asker.of(keys, case.roles, key=case.key, person=case.user_id)
        places = () if case.place == TENANT else (keyed(keys, case.place),)
        for action, expected in case.expect.items():
            allowed = policy.judge(asker, action, *places).allowed
            if expected != ("allow" if allowed else "deny"):
                where = f"cases[{number}].expect.{action.value}"
                faults.add(where, "The policy decides otherwise.")
    faults.stop()


def keyed(keys: TenantKeys, name: str) -> str:
    """Return a subject or a place, as a document spells it, as rules hold it."""
    kind, _, rest = name.partition(":")
    match kind:
        case "user":
            return f"user:{user_key(keys, rest).hex()}"
        case "namespace":
            return namespace_place(namespace_key(keys, rest))
        case "space":
            return space_place(space_key(keys, rest))
        case _:  # a role, a key, or the tenant: nobody's name
            return name


def namespace_place(key: bytes) -> str:
    """Return the place of the namespace with this keyed look-up."""
    return f"namespace:{key.hex()}"


def space_place(key: bytes) -> str:
    """Return the place of the space with this keyed look-up."""
    return f"space:{key.hex()}"


def _check_cases(overlay: Overlay, faults: Faults) -> None:
    if not overlay.empty and not overlay.cases:
        faults.add("cases", "At least one case is needed.")
    for number in _undecided(overlay):
        faults.add(f"rules[{number}]", "No case is decided by this rule.")
    faults.stop()


def _undecided(overlay: Overlay) -> list[int]:
    """Return the rules that no case is decided by: none it applies to and comes out as it says."""
    waiting = {line[:5]: line.number for line in overlay.lines}
    for case in overlay.cases:
        subjects = Asker(roles=case.roles, key=case.key, person=case.user_id).subjects
        for action, expected in case.expect.items():
            for subject in subjects:
                for place in (TENANT, case.place):
                    waiting.pop((subject, place, action.object, action.verb, expected), None)
    return sorted(waiting.values())


def _lines(rules: Json, faults: Faults) -> Iterator[RuleLine]:
    seen: set[tuple[str, str, str, str]] = set()
    for number, where, rule in _objects("rules", rules, MAX_RULES, _RULE, faults, _PLACED):
        subject, place = rule["subject"], rule.get("in", TENANT)
        obj, verb, effect = rule["object"], rule["verb"], rule["effect"]
        if not all(isinstance(part, str) for part in (subject, place, obj, verb, effect)):
            faults.add(where, "Each field of a rule is a text.")
            continue
        before = len(faults.found)
        _check_subject(f"{where}.subject", subject, faults)
        _check_place(f"{where}.in", place, faults)
        if (obj, verb) not in _PAIRS:
            faults.add(f"{where}.verb", "There is no action of this object and verb.")
        if effect not in _EFFECTS:
            faults.add(f"{where}.effect", "The effect is allow or deny.")
        if len(faults.found) > before:
            continue
        _check_duties(where, subject, place, obj, effect, faults)
        if (subject, place, obj, verb) in seen:
            faults.add(where, "This subject, place, object and verb were ruled on before.")
        seen.add((subject, place, obj, verb))
        # The words are the gateway's own, so that thousands of rules share them.
        yield RuleLine(subject, place, *_PAIRS[obj, verb], _EFFECTS[effect], number)


def _check_duties(
    where: str, subject: str, place: str, obj: str, effect: str, faults: Faults
) -> None:
    content = obj.startswith("memory:")
    if obj in _NOT_THEIRS:
        faults.add(f"{where}.object", "A tenant's policy does not rule on this object.")
    elif effect == "allow" and not content:
        faults.add(f"{where}.object", "A tenant's policy allows nothing but content.")
    elif effect == "allow" and subject.removeprefix("role:") in {*APART, Role.PRIVACY}:
        faults.add(f"{where}.subject", "This role reads and writes no content.")
    elif subject == f"role:{Role.ADMIN}" and obj == "admin:policy":
        faults.add(where, "Administrators cannot be shut out of the policy.")
    elif place != TENANT and not content:
        faults.add(f"{where}.in", "This object is in no namespace and in no space.")


def _check_subject(where: str, subject: str, faults: Faults) -> None:
    kind, _, name = subject.partition(":")
    match kind:
        case "role" if name in _TENANT_ROLES:
            return
        case "key" if _KEY.fullmatch(name):
            return
        case "user":
            _check_name(where, name, faults)
        case _:
            faults.add(where, "A subject is role:<role>, key:<key id> or user:<user_id>.")


def _check_place(where: str, place: str, faults: Faults) -> None:
    kind, _, name = place.partition(":")
    if kind in {"namespace", "space"}:
        _check_name(where, name, faults)
    elif place != TENANT:
        faults.add(where, "A place is tenant, namespace:<name> or space:<name>.")


def _check_name(where: str, name: str, faults: Faults) -> None:
    if name in faults.names:
        return
    try:
        faults.names.add(check_identifier(where, name))
    except Invalid as err:
        faults.add(where, err.detail)


def _people(people: Json, faults: Faults) -> Iterator[tuple[str, Person]]:
    known = frozenset({"user_id", "roles", "namespaces"})
    seen: set[str] = set()
    for _, where, person in _objects("people", people, MAX_PEOPLE, known, faults):
        roles = _roles(f"{where}.roles", person["roles"], faults)
        names = _texts(f"{where}.namespaces", person["namespaces"], faults)
        user_id = person["user_id"]
        if not isinstance(user_id, str):
            faults.add(f"{where}.user_id", "This must be a text.")
            continue
        _check_name(f"{where}.user_id", user_id, faults)
        if names != _EVERY:
            for number, name in enumerate(names):
                _check_name(f"{where}.namespaces[{number}]", name, faults)
        if user_id in seen:
            faults.add(where, "This person was listed before.")
        seen.add(user_id)
        yield user_id, Person(roles=roles, namespaces=None if names == _EVERY else tuple(names))


def _cases(cases: Json, faults: Faults) -> Iterator[Case]:
    known = frozenset({"case", "subject", "in", "expect"})
    for _, where, case in _objects("cases", cases, MAX_CASES, known, faults, _PLACED):
        title, place = case["case"], case.get("in", TENANT)
        if not isinstance(title, str) or not isinstance(place, str):
            faults.add(where, "The name of a case and its place are texts.")
            continue
        _check_name(f"{where}.case", title, faults)
        _check_place(f"{where}.in", place, faults)
        asked = _objects(
            f"{where}.subject",
            [case["subject"]],
            1,
            frozenset({"roles", "key", "user_id"}),
            faults,
            frozenset({"key", "user_id"}),
        )
        for _, _, subject in asked:
            key, user_id = subject.get("key"), subject.get("user_id")
            if key is not None:
                _check_subject(f"{where}.subject.key", f"key:{key}", faults)
            if user_id is not None:
                _check_subject(f"{where}.subject.user_id", f"user:{user_id}", faults)
            yield Case(
                roles=_roles(f"{where}.subject.roles", subject["roles"], faults),
                key=None if key is None else str(key),
                user_id=None if user_id is None else str(user_id),
                place=place,
                expect=_expected(f"{where}.expect", case["expect"], faults),
            )


def _expected(where: str, expect: Json, faults: Faults) -> Mapping[Action, str]:
    if not isinstance(expect, dict) or not expect:
        faults.add(where, "This must be an object: an action, and allow or deny.")
        return {}
    if not expect.keys() <= _ACTIONS.keys():
        faults.add(where, "There is no such action.")
    elif not all(isinstance(said, str) and said in _EFFECTS for said in expect.values()):
        faults.add(where, "What a case expects is allow or deny.")
    else:
        return {_ACTIONS[action]: _EFFECTS[said] for action, said in expect.items()}
    return {}


def _roles(where: str, roles: Json, faults: Faults) -> frozenset[Role]:
    names = _texts(where, roles, faults)
    if not all(name in _TENANT_ROLES for name in names):
        faults.add(where, "There is no such role in a tenant.")
        return frozenset()
    return frozenset(Role(name) for name in names)


def _texts(where: str, values: Json, faults: Faults) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        faults.add(where, "This must be a list of texts.")
        return []
    if len(set(values)) != len(values):
        faults.add(where, "Something stands twice in this list.")
    return values


def _objects(
    where: str,
    values: Json,
    most: int,
    known: frozenset[str],
    faults: Faults,
    optional: frozenset[str] = frozenset(),
) -> Iterator[tuple[int, str, Mapping[str, Json]]]:
    """Yield (number, place, object) for each of `values` that has the fields it must."""
    if not isinstance(values, list):
        faults.add(where, "This must be a list.")
        return
    if len(values) > most:
        faults.add(where, f"This must have at most {most} items.")
        return
    for number, value in enumerate(values):
        place = f"{where}[{number}]" if most > 1 else where
        if not isinstance(value, dict):
            faults.add(place, "This must be an object.")
        elif not known >= value.keys():
            faults.add(place, "There is no such field here.")
        elif not known - optional <= value.keys():
            faults.add(place, "A field is missing.")
        else:
            yield number, place, value
