"""Who is there, what is kept of them, and who may see it: the model that every reply is held to.

Rules this module keeps:
- It knows the sentence of core.scope.Scope, the members of spaces and the rules of policies by
  itself; nothing of the product is asked.
- Every memory has words of its own that nobody else's has. A word, an id or a secret in a reply to
  somebody who may not see it at that moment is a leak, wherever it stands.
- What is asked of a tenant is asked in turn, so that the model is exact; tenants act at once.
"""

import random
import re
import secrets
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.house import House, key_body, rpc_headers, text_of
from tests.identity.issuer import TestIssuer

TENANTS = 5
SIGNED_IN_SECONDS = 60.0
PEOPLE = ("ana", "bo", "小陈", "dee")  # the same names in every tenant: a name is nobody's proof
NAMESPACES = ("main", "side")
SPACES = {"basics": "same_user", "files": "same_user", "team": "members", "club": "members"}

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
WORD = re.compile(r"zq[0-9a-f]{12}")
SECRET = re.compile(r"mw_[a-z2-7]{16}_[0-9A-Za-z]{43}|eyJ[\w-]+\.[\w-]+\.[\w-]+")


@dataclass
class Kept:
    """One memory as it ought to be."""

    id: str
    content: str
    namespace: str
    about: "Person"
    space: str | None = None
    version: int = 1
    tags: tuple[str, ...] = ()
    words: list[str] = field(default_factory=list)


@dataclass
class Person:
    """One person of a tenant, and the credential that acts for them."""

    name: str
    tenant: "Tenant"
    by_token: bool
    names_itself: bool
    """The credential is for several people, so each call says for whom."""
    key: str = ""
    key_id: str = ""
    cursors: list[str] = field(default_factory=list)
    number: int = 0
    signed_in: float = 0.0
    """When they signed in last, in monotonic seconds; of who comes with a token."""

    def about(self, **fields: Any) -> dict[str, Any]:
        return ({"user_id": self.name} if self.names_itself else {}) | fields


@dataclass
class Tenant:
    """A tenant: its people, its spaces with their members, and what it denies."""

    number: int
    id: str
    admin_key: str
    pick: random.Random
    people: list[Person] = field(default_factory=list)
    spaces: dict[str, str] = field(default_factory=dict)
    members: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """(space, kind, name of the member) -> role."""
    denied: set[tuple[str, str, str]] = field(default_factory=set)
    """(person, place, verb), as the tenant's own policy says."""
    kept: dict[str, Kept] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)

    def role(
        self, space: str, person: Person, namespaces: tuple[str, ...] = NAMESPACES
    ) -> str | None:
        """Return what a person may do in a space: `reader`, `writer`, or nothing."""
        means = [("user", person.name), *(("namespace", name) for name in namespaces)]
        if not person.by_token:
            means.append(("key", person.key_id))
        roles = {self.members.get((space, *one)) for one in means}
        return "writer" if "writer" in roles else "reader" if "reader" in roles else None

    def denies(self, person: Person, verb: str, place: str = "tenant") -> bool:
        return (person.name, place, verb) in self.denied

    def sees(self, person: Person, memory: Kept, verb: str = "read") -> bool:
        """The sentence of core.scope.Scope, for a call that names no namespace and no space."""
        if memory.space is None:
            return memory.about is person
        if self.role(memory.space, person) is None:
            return False
        if self.denies(person, verb, f"space:{memory.space}"):
            return False
        return self.spaces[memory.space] == "members" or memory.about is person

    def changes(self, person: Person, memory: Kept, verb: str) -> bool:
        """Tell whether a person who may do `verb` may do it to this memory."""
        if memory.space is not None and self.role(memory.space, person) != "writer":
            return False
        return self.sees(person, memory, verb)

    def seen_by(self, person: Person, verb: str = "read") -> list[Kept]:
        return [memory for memory in self.kept.values() if self.sees(person, memory, verb)]


@dataclass(frozen=True)
class Owned:
    """Whose an id, a word or a secret is: a tenant's, a person's, or whoever may see a memory's."""

    tenant: Tenant
    person: Person | None = None
    memory: Kept | None = None


class World:
    """Everybody, whose each id, word and secret is, and what may be asked.

    Args:
        missing: parts of the gateway that are away, as `degraded` names them.
    """

    def __init__(
        self, house: House, issuer: TestIssuer, seed: int, missing: tuple[str, ...] = ()
    ) -> None:
        self.house = house
        self.issuer = issuer
        self.missing = missing
        self.degraded = 0
        self.asked_for = 0
        self.found = 0
        self.owners: dict[str, Owned] = {}
        self.done: Counter[str] = Counter()
        pick = random.Random(seed)
        self.tenants = [self._tenant(seed, number, pick) for number in range(TENANTS)]

    def _tenant(self, seed: int, number: int, pick: random.Random) -> Tenant:
        admin = self.house.tenant(f"isolation {seed} {number} {secrets.token_hex(4)}")
        tenant = Tenant(number, admin.tenant, admin.key, random.Random(pick.random()))
        self.owners[tenant.id] = self.owners[admin.key] = Owned(tenant)
        for place, name in enumerate(PEOPLE):
            # Half of the people come with a token of the issuer, half with a key.
            person = Person(name, tenant, by_token=place % 2 == 1, names_itself=place == 2)
            users = [name, "nobody else"] if person.names_itself else [name]
            if person.by_token:
                self.renew(person)
            else:
                made = admin.call("POST", "/v1/admin/keys", json=key_body(users=users)).json()
                person.key, person.key_id = made["key"], made["id"]
                self.owners[person.key] = Owned(tenant, person)
            tenant.people.append(person)
        for name, audience in SPACES.items():
            body = {"name": name, "audience": audience}
            assert admin.call("POST", "/v1/admin/spaces", json=body).status_code == 201
            tenant.spaces[name] = audience
        return tenant

    @property
    def people(self) -> list[Person]:
        return [person for tenant in self.tenants for person in tenant.people]

    def renew(self, person: Person) -> None:
        """Have the issuer give a person another token."""
        now = self.issuer.claims()["iat"]
        person.key = self.issuer.token(
            sub=person.name, tenant=person.tenant.id, auth_time=now, exp=now + 3600
        )
        self.owners[person.key] = Owned(person.tenant, person)
        person.signed_in = time.monotonic()

    def stay_fresh(self, people: list[Person]) -> None:
        """Have whoever signed in a while ago do so again: who forgets must have done so lately."""
        for person in people:
            if person.by_token and time.monotonic() - person.signed_in > SIGNED_IN_SECONDS:
                self.renew(person)

    def word(self, memory: Kept) -> str:
        """Return a new word that is this memory's alone."""
        # Of letters: twelve digits can be the number of an account, and the guard refuses those.
        made = "zq" + "".join(secrets.choice("abcdef") for _ in range(12))
        memory.words.append(made)
        self.owners[made] = Owned(memory.about.tenant, memory=memory)
        return made

    def text(self, memory: Kept) -> str:
        memory.about.number += 1
        return f"{self.word(memory)} note {memory.about.number} of tea 和茶"

    def mentioned(self, text: str) -> set[str]:
        """Return what of anybody stands in `text`."""
        found = {thing for pattern in (ID, WORD, SECRET) for thing in pattern.findall(text)}
        return found & self.owners.keys()

    def own(self, person: Person, *things: str) -> None:
        for thing in things:
            self.owners[thing] = Owned(person.tenant, person)

    def check(self, text: str, tenant: Tenant, person: Person | None, verb: str = "read") -> None:
        """Nothing in `text` is another's.

        Args:
            person: who is shown it; None for what shows a whole tenant: its ids, and no content.
        """
        for pattern in (ID, WORD, SECRET):
            for thing in pattern.findall(text):
                owned = self.owners.get(thing)
                if owned is None:
                    continue
                assert owned.tenant is tenant, f"a {pattern.pattern} of another tenant"
                if person is None:
                    assert pattern is not WORD, "content where no content is"
                    continue
                assert owned.person in (None, person), f"a {pattern.pattern} of another person"
                if owned.memory is not None:
                    # One that was just removed by this very call is no longer kept, and not shown.
                    kept = tenant.kept.get(owned.memory.id)
                    assert kept is owned.memory, "something of a memory that is gone"
                    assert tenant.sees(person, kept, verb), "something out of reach"

    async def ask(
        self,
        person: Person,
        method: str,
        path: str,
        *,
        wide: bool = False,
        verb: str = "read",
        **options: Any,
    ) -> httpx.Response:
        """Send a request as `person`, and look for what is not theirs in the reply.

        Args:
            wide: the reply shows the whole tenant (its audit log).
            verb: what of theirs the reply may show.
        """
        headers = {"Authorization": f"Bearer {person.key}"} | options.pop("headers", {})
        reply = await self.house.client.request(method, path, headers=headers, **options)
        assert reply.status_code < 500, (path, reply.text)
        self.check(text_of(reply), person.tenant, None if wide else person, verb)
        return reply

    async def administer(
        self, tenant: Tenant, method: str, path: str, **options: Any
    ) -> httpx.Response:
        headers = {"X-API-Key": tenant.admin_key}
        reply = await self.house.client.request(method, path, headers=headers, **options)
        assert reply.status_code < 500, (path, reply.text)
        self.check(SECRET.sub("", text_of(reply)), tenant, None)
        return reply

    async def tool(
        self, person: Person, name: str, *, verb: str = "read", **arguments: Any
    ) -> dict[str, Any]:
        body = {
            "jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": {"name": name, "arguments": person.about(**arguments)},
        }  # fmt: skip
        reply = await self.ask(person, "POST", "/mcp", verb=verb, json=body, headers=rpc_headers())
        assert reply.status_code in (200, 403), reply.text
        if reply.status_code != 200:
            return {"isError": True}
        result: dict[str, Any] = reply.json()["result"]
        return result
