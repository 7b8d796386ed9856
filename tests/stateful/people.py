"""People who do random things to their own memories, and try everybody else's.

Each acts against a dict of what ought to be there. Everything anybody is answered is searched for
ids, words and secrets of somebody else.
"""

import asyncio
import random
import re
import secrets
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.house import House, key_body, rpc_headers, text_of

TENANTS = 4
PEOPLE = ("ana", "bo", "小陈")  # the same names in every tenant: a name is nobody's proof
STEPS = 420
OPERATIONS = TENANTS * len(PEOPLE) * STEPS
MOST_KEPT = 12

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
WORD = re.compile(r"zq[0-9a-f]{12}")
SECRET = re.compile(r"mw_[a-z2-7]{16}_[0-9A-Za-z]{43}")


@dataclass
class Kept:
    content: str
    version: int
    namespace: str
    tags: list[str]


@dataclass
class Person:
    """One person, what is kept of them, and what nobody else may see."""

    name: str
    tenant: "Tenant"
    key: str
    key_id: str
    words: list[str]
    pick: random.Random
    names_itself: bool  # its credential is for several people, so each call says for whom
    kept: dict[str, Kept] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    cursors: list[str] = field(default_factory=list)
    number: int = 0

    def about(self, **fields: Any) -> dict[str, Any]:
        return ({"user_id": self.name} if self.names_itself else {}) | fields

    def text(self) -> str:
        self.number += 1
        return f"{self.pick.choice(self.words)} note {self.number} of tea 和茶"


@dataclass
class Tenant:
    number: int
    id: str
    admin_key: str
    people: list[Person] = field(default_factory=list)


class World:
    """Everybody, and who owns which id, word and secret."""

    def __init__(self, house: House, seed: int, missing: tuple[str, ...] = ()) -> None:
        self.house = house
        self.missing = list(missing)
        self.degraded = 0
        self.pick = random.Random(seed)
        self.tenants: list[Tenant] = []
        self.owners: dict[str, tuple[Tenant, Person | None]] = {}
        self.done: Counter[str] = Counter()
        for number in range(TENANTS):
            admin = house.tenant(f"isolation {seed} {number}")
            tenant = Tenant(number, admin.tenant, admin.key)
            self.tenants.append(tenant)
            self.owners[tenant.id] = (tenant, None)
            self.owners[admin.key] = (tenant, None)
            for place, name in enumerate(PEOPLE):
                several = place == 2
                users = [name, "nobody else"] if several else [name]
                made = admin.call("POST", "/v1/admin/keys", json=key_body(users=users)).json()
                words = [f"zq{secrets.token_hex(6)}" for _ in range(3)]
                person = Person(
                    name, tenant, made["key"], made["id"], words,
                    random.Random(self.pick.random()), several,
                )  # fmt: skip
                tenant.people.append(person)
                self.own(person, *words, made["key"])

    @property
    def people(self) -> list[Person]:
        return [person for tenant in self.tenants for person in tenant.people]

    def own(self, person: Person, *things: str) -> None:
        for thing in things:
            self.owners[thing] = (person.tenant, person)

    def check(self, text: str, tenant: Tenant, person: Person | None) -> None:
        """Nothing in `text` belongs to another tenant, nor, for a person, to another person."""
        for pattern in (ID, WORD, SECRET):
            for thing in pattern.findall(text):
                owner = self.owners.get(thing)
                if owner is None:
                    continue
                assert owner[0] is tenant, f"a {pattern.pattern} of another tenant"
                if person is not None and owner[1] is not None:
                    assert owner[1] is person, f"a {pattern.pattern} of another person"

    async def ask(
        self, person: Person, method: str, path: str, *, wide: bool = False, **options: Any
    ) -> httpx.Response:
        """Send a request as `person`, and look for what is not theirs in the reply.

        Args:
            wide: the reply shows the whole tenant (its audit log, its keys).
        """
        headers = {"X-API-Key": person.key} | options.pop("headers", {})
        reply = await self.house.client.request(method, path, headers=headers, **options)
        assert reply.status_code < 500, (path, reply.text)
        self.check(text_of(reply), person.tenant, None if wide else person)
        return reply

    async def administer(self, tenant: Tenant, method: str, path: str, **options: Any) -> Any:
        headers = {"X-API-Key": tenant.admin_key}
        reply = await self.house.client.request(method, path, headers=headers, **options)
        assert reply.status_code < 500, (path, reply.text)
        self.check(SECRET.sub("", text_of(reply)), tenant, None)
        return reply

    async def tool(self, person: Person, name: str, **arguments: Any) -> dict[str, Any]:
        body = {
            "jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }  # fmt: skip
        reply = await self.ask(person, "POST", "/mcp", json=body, headers=rpc_headers())
        assert reply.status_code == 200, reply.text
        result: dict[str, Any] = reply.json()["result"]
        return result

    def other(self, person: Person) -> Person:
        return person.pick.choice([each for each in self.people if each is not person])

    def foreign_id(self, person: Person) -> str | None:
        other = self.other(person)
        known = [*other.kept, *other.gone[-3:]]
        return person.pick.choice(known) if known else None


class Steps:
    """What one person may do next. Each method is one operation."""

    def __init__(self, world: World, person: Person) -> None:
        self.world = world
        self.person = person
        self.pick = person.pick

    async def run(self, steps: int) -> None:
        names = [name for name, weight in WEIGHTS.items() for _ in range(weight)]
        for _ in range(steps):
            name = self.pick.choice(names)
            if len(self.person.kept) > MOST_KEPT:
                name = "forget"
            try:
                await getattr(self, name)()
            except AssertionError as err:
                who = f"{self.person.name} of tenant {self.person.tenant.number}"
                raise AssertionError(f"{who}, text {self.person.number}, {name}: {err}") from err
            self.world.done[name] += 1

    def keep(self, outcome: dict[str, Any], text: str, namespace: str, tags: list[str]) -> None:
        assert outcome["status"] == "stored", outcome
        self.person.kept[outcome["id"]] = Kept(text, 1, namespace, tags)
        self.world.own(self.person, outcome["id"])

    async def write(self) -> None:
        person, text = self.person, self.person.text()
        namespace, tags = self.pick.choice(("main", "side")), [self.pick.choice(person.words)]
        body = person.about(
            content=text,
            namespace=namespace,
            tags=tags,
            session_id="s-1",
            metadata={"from": self.pick.choice(person.words)},
        )
        # Everybody uses the same idempotency keys: they are each principal's own.
        headers = {"Idempotency-Key": f"n-{person.number}"} if self.pick.random() < 0.2 else {}
        for _ in range(2 if headers else 1):
            reply = await self.world.ask(person, "POST", "/v1/memories", json=body, headers=headers)
            assert reply.status_code == 201, reply.text
            self.world.own(person, reply.json()["audit"]["event_id"])
            self.keep(reply.json()["outcomes"][0], text, namespace, tags)

    async def write_again(self) -> None:
        if not self.person.kept:
            return
        memory, kept = self.pick.choice(list(self.person.kept.items()))
        body = self.person.about(content=kept.content, namespace=kept.namespace)
        reply = await self.world.ask(self.person, "POST", "/v1/memories", json=body)
        (outcome,) = reply.json()["outcomes"]
        assert (outcome["id"], outcome["status"]) == (memory, "merged")
        kept.version = outcome["version"]

    async def batch(self) -> None:
        texts = [self.person.text() for _ in range(3)]
        items: list[Any] = [self.person.about(content=text) for text in texts]
        items.insert(1, {"content": texts[0], "user_id": self.world.other(self.person).name + "x"})
        reply = await self.world.ask(
            self.person, "POST", "/v1/memories/batch", json={"items": items}
        )
        first, refused, *rest = reply.json()["results"]
        assert refused["code"] == "forbidden"
        for result, text in zip([first, *rest], texts, strict=True):
            self.keep(result["outcomes"][0], text, "main", [])

    async def tool_write(self) -> None:
        text = self.person.text()
        done = await self.world.tool(self.person, "memory_write", **self.person.about(content=text))
        self.keep(done["structuredContent"]["outcomes"][0], text, "main", [])

    async def recall(self) -> None:
        person = self.person
        # Now and then somebody else's word, which finds nothing of theirs.
        whose = self.world.other(person) if self.pick.random() < 0.4 else person
        body = person.about(query=f"{self.pick.choice(whose.words)} tea", timeout_ms=10_000)
        if self.pick.random() < 0.3:
            body["session_id"] = "s-1"
        if self.pick.random() < 0.3:
            body["tags"] = [self.pick.choice(whose.words)]
        if self.pick.random() < 0.3:
            body["format"] = "text"
        reply = await self.world.ask(person, "POST", "/v1/recall", json=body)
        self.world.own(person, reply.json()["recall_id"])
        self.recalled(reply.json()["memories"])
        # Less may be missing: of a person never seen nothing is asked, and a query may be cached.
        missing = reply.json()["degraded"]
        assert missing in ([], self.world.missing)
        self.world.degraded += bool(missing)

    def recalled(self, memories: list[dict[str, Any]]) -> None:
        for memory in memories:
            assert self.person.kept[memory["id"]].content == memory["content"]

    async def tool_search(self) -> None:
        whose = self.world.other(self.person) if self.pick.random() < 0.5 else self.person
        query = self.pick.choice(whose.words)
        done = await self.world.tool(self.person, "memory_search", **self.person.about(query=query))
        self.recalled(done["structuredContent"]["memories"])

    async def get(self) -> None:
        if self.person.kept:
            memory, kept = self.pick.choice(list(self.person.kept.items()))
            reply = await self.look(memory)
            shown = reply.json()
            assert (shown["content"], shown["version"]) == (kept.content, kept.version)

    async def look(self, memory: str, **about: Any) -> httpx.Response:
        path = f"/v1/memories/{memory}"
        return await self.world.ask(self.person, "GET", path, params=self.person.about() | about)

    async def get_forgotten(self) -> None:
        if self.person.gone:
            assert (await self.look(self.pick.choice(self.person.gone))).status_code == 404

    async def listing(self) -> None:
        seen: list[str] = []
        cursor: str | None = None
        while True:
            params = self.person.about(limit=self.pick.choice((3, 7, 50)))
            if cursor is not None:
                params["cursor"] = cursor
            reply = await self.world.ask(self.person, "GET", "/v1/memories", params=params)
            seen += [item["id"] for item in reply.json()["items"]]
            cursor = reply.json()["next_cursor"]
            if cursor is None:
                break
            self.person.cursors = [*self.person.cursors[-4:], cursor]
        assert len(seen) == len(set(seen))
        assert set(seen) == set(self.person.kept)

    async def change(self) -> None:
        if not self.person.kept:
            return
        memory, kept = self.pick.choice(list(self.person.kept.items()))
        text = self.person.text()
        wrong = self.pick.random() < 0.3
        tag = f'"{kept.version + wrong}"'
        reply = await self.world.ask(
            self.person, "PATCH", f"/v1/memories/{memory}",
            json=self.person.about(content=text), headers={"If-Match": tag},
        )  # fmt: skip
        if wrong:
            assert reply.status_code == 412
            return
        assert reply.status_code == 200, reply.text
        kept.content, kept.version = text, kept.version + 1

    async def tool_change(self) -> None:
        if self.person.kept:
            memory, kept = self.pick.choice(list(self.person.kept.items()))
            text = self.person.text()
            done = await self.world.tool(
                self.person, "memory_update", **self.person.about(memory_id=memory, content=text)
            )
            kept.content, kept.version = text, kept.version + 1
            assert done["structuredContent"]["version"] == kept.version

    async def versions(self) -> None:
        if self.person.kept:
            memory, kept = self.pick.choice(list(self.person.kept.items()))
            reply = await self.world.ask(
                self.person, "GET", f"/v1/memories/{memory}/versions", params=self.person.about()
            )
            items = reply.json()["items"]
            assert [item["version"] for item in items] == list(range(kept.version, 0, -1))
            assert items[0]["content"] == kept.content

    async def forget(self) -> None:
        if not self.person.kept:
            return
        memory = self.pick.choice(list(self.person.kept))
        if self.pick.random() < 0.3:
            done = await self.world.tool(
                self.person, "memory_forget", **self.person.about(memory_id=memory)
            )
            assert done["structuredContent"] == {"deleted": 1}
        else:
            reply = await self.world.ask(
                self.person, "DELETE", f"/v1/memories/{memory}", params=self.person.about()
            )
            assert reply.json() == {"deleted": 1}
        del self.person.kept[memory]
        self.person.gone.append(memory)

    async def foreign_memory(self) -> None:
        """Somebody else's memory is not there, whatever is tried with it."""
        memory = self.world.foreign_id(self.person)
        if memory is None:
            return
        about, path = self.person.about(), f"/v1/memories/{memory}"
        match self.pick.randrange(7):
            case 0:
                reply = await self.look(memory)
            case 1:
                reply = await self.world.ask(self.person, "GET", f"{path}/versions", params=about)
            case 2:
                reply = await self.world.ask(
                    self.person, "PATCH", path, json={"content": "mine now"} | about
                )
            case 3:
                reply = await self.world.ask(self.person, "DELETE", path, params=about)
            case 4:
                await self.refused_tool("memory_get", memory_id=memory)
                return
            case 5:
                await self.refused_tool("memory_update", memory_id=memory, content="mine now")
                return
            case _:
                await self.refused_tool("memory_forget", memory_id=memory)
                return
        assert reply.status_code == 404, reply.text

    async def refused_tool(self, name: str, **arguments: Any) -> None:
        done = await self.world.tool(self.person, name, **self.person.about(**arguments))
        assert done["isError"]
        assert "structuredContent" not in done or done["structuredContent"] is None

    async def foreign_person(self) -> None:
        """Another person's name opens nothing that the credential does not."""
        other = self.pick.choice([name for name in PEOPLE if name != self.person.name])
        match self.pick.randrange(4):
            case 0:
                reply = await self.world.ask(
                    self.person, "POST", "/v1/recall", json={"query": "tea", "user_id": other}
                )
            case 1:
                reply = await self.world.ask(
                    self.person, "GET", "/v1/memories", params={"user_id": other}
                )
            case 2:
                reply = await self.world.ask(
                    self.person, "POST", "/v1/memories", json={"content": "x", "user_id": other}
                )
            case _:
                done = await self.world.tool(
                    self.person, "memory_search", query="tea", user_id=other
                )
                assert done["isError"]
                return
        assert reply.status_code == 403, reply.text

    async def foreign_cursor(self) -> None:
        other = self.world.other(self.person)
        if other.cursors:
            cursor = self.pick.choice(other.cursors)
            params = self.person.about(cursor=cursor)
            path = self.pick.choice(("/v1/memories", "/v1/audit/events"))
            params = params if path == "/v1/memories" else {"cursor": cursor}
            reply = await self.world.ask(self.person, "GET", path, params=params)
            assert reply.status_code == 422, reply.text

    async def foreign_namespace(self) -> None:
        body = self.person.about(query="tea", namespaces=["main", "hidden"])
        reply = await self.world.ask(self.person, "POST", "/v1/recall", json=body)
        assert reply.status_code == 403

    async def foreign_key(self) -> None:
        """A tenant's administrator finds no key of another tenant."""
        tenant = self.person.tenant
        others = [each for each in self.world.people if each.tenant is not tenant]
        path = f"/v1/admin/keys/{self.pick.choice(others).key_id}"
        if self.pick.random() < 0.5:
            reply = await self.world.administer(tenant, "DELETE", path)
        else:
            reply = await self.world.administer(tenant, "POST", f"{path}/rotate", json={})
        assert reply.status_code == 404

    async def new_key(self) -> None:
        """A second key of the same person works, until it is revoked."""
        tenant = self.person.tenant
        made = (
            await self.world.administer(
                tenant, "POST", "/v1/admin/keys",
                json=key_body(users=[self.person.name], roles=["reader"]),
            )
        ).json()  # fmt: skip
        headers = {"X-API-Key": made["key"]}
        self.world.own(self.person, made["key"])
        for status in (200, 401):
            reply = await self.world.ask(self.person, "GET", "/v1/memories", headers=headers)
            assert reply.status_code == status
            path = f"/v1/admin/keys/{made['id']}"
            gone = await self.world.administer(tenant, "DELETE", path)
            assert gone.status_code == 204

    async def rotate(self) -> None:
        """The old secret ends with the rotation; the new one is the same principal."""
        path = f"/v1/admin/keys/{self.person.key_id}/rotate"
        reply = await self.world.administer(self.person.tenant, "POST", path, json={})
        assert reply.status_code == 200, reply.text
        old, self.person.key = self.person.key, reply.json()["key"]
        self.world.own(self.person, self.person.key)
        reply = await self.world.ask(self.person, "GET", "/v1/memories", headers={"X-API-Key": old})
        assert reply.status_code == 401
        await self.listing()

    async def audit(self) -> None:
        params: dict[str, Any] = {"limit": 20}
        if self.pick.random() < 0.5:
            params["user_id"] = self.person.name
        reply = await self.world.ask(
            self.person, "GET", "/v1/audit/events", params=params, wide=True
        )
        assert {item["tenant"] for item in reply.json()["items"]} <= {self.person.tenant.id}
        if reply.json()["next_cursor"] is not None:
            self.person.cursors = [*self.person.cursors[-4:], reply.json()["next_cursor"]]


WEIGHTS = {
    "write": 12, "write_again": 2, "batch": 1, "tool_write": 4, "recall": 7, "tool_search": 3,
    "get": 8, "get_forgotten": 3, "listing": 3, "change": 4, "tool_change": 2, "versions": 3,
    "forget": 6, "foreign_memory": 24, "foreign_person": 6, "foreign_cursor": 5,
    "foreign_namespace": 2, "foreign_key": 2, "new_key": 1, "rotate": 1, "audit": 3,
}  # fmt: skip


async def everybody(world: World, steps: int = STEPS) -> None:
    async with asyncio.TaskGroup() as group:
        for person in world.people:
            group.create_task(Steps(world, person).run(steps))
    for person in world.people:  # what is there is what ought to be there, to the end
        await Steps(world, person).listing()
