"""What people do to their memories and try with everybody else's, one operation a method.

Each knows what ought to come of it (tests/stateful/world.py), and says so when something else does.
"""

import random
from typing import Any

import httpx

from tests.house import key_body
from tests.stateful.world import NAMESPACES, PEOPLE, Kept, Person, Tenant, World

MOST_KEPT = 14
VERBS = ("read", "list", "recall", "write", "update", "forget")


class Steps:
    """What one person of a tenant may do next."""

    def __init__(self, world: World, person: Person) -> None:
        self.world = world
        self.person = person
        self.tenant = person.tenant
        self.pick: random.Random = person.tenant.pick
        self.chosen: str = "nothing"

    # --- writing ----------------------------------------------------------------------------------

    def kept(self, memory: Kept, outcome: dict[str, Any]) -> None:
        """Note what was stored."""
        assert outcome["status"] == "stored", outcome
        memory.id = outcome["id"]
        self.tenant.kept[memory.id] = memory
        self.world.owners[memory.id] = self.world.owners[memory.words[0]]

    async def write(self) -> None:
        person, namespace = self.person, self.pick.choice(NAMESPACES)
        memory = Kept("", "", namespace, person)
        memory.content = self.world.text(memory)
        memory.tags = (self.world.word(memory),)
        body = person.about(
            content=memory.content,
            namespace=namespace,
            tags=list(memory.tags),
            session_id="s-1",
            metadata={"from": self.world.word(memory)},
        )
        # Everybody uses the same idempotency keys: they are each principal's own.
        headers = {"Idempotency-Key": f"n-{person.number}"} if self.pick.random() < 0.2 else {}
        for _ in range(2 if headers else 1):
            reply = await self.world.ask(person, "POST", "/v1/memories", json=body, headers=headers)
            if self.refused(reply, "write"):
                return
            assert reply.status_code == 201, reply.text
            self.world.own(person, reply.json()["audit"]["event_id"])
            self.kept(memory, reply.json()["outcomes"][0])

    async def write_into_a_space(self) -> None:
        """Who is a writer of a space may write into it; to a stranger it is not there."""
        person, space = self.person, self.pick.choice([*self.tenant.spaces])
        namespace = self.pick.choice(NAMESPACES)
        memory = Kept("", "", namespace, person, space)
        memory.content = self.world.text(memory)
        fields = {"content": memory.content, "space": space}
        role = self.tenant.role(space, person, (namespace,))
        if self.pick.random() < 0.3:  # over MCP no namespace is named: the credential's all count
            role = self.tenant.role(space, person)
            done = await self.world.tool(person, "memory_write", **fields)
            made = None if done.get("isError") else done["structuredContent"]["outcomes"][0]
            memory.namespace = NAMESPACES[0]
            status = 201 if made else 0
        else:
            body = person.about(namespace=namespace, **fields)
            reply = await self.world.ask(person, "POST", "/v1/memories", json=body)
            status = reply.status_code
            made = reply.json()["outcomes"][0] if status == 201 else None
        denied = self.tenant.denies(person, "write")
        denied |= self.tenant.denies(person, "write", f"space:{space}")
        if role == "writer" and not denied:
            assert made is not None, status
            self.kept(memory, made)
            return
        assert made is None
        wanted = {None: (404,), "reader": (403,), "writer": (403,)}[role]
        # A denial may come before it is known whether there is such a space.
        assert status in (0, *wanted, *((403,) if denied else ())), status

    async def write_again(self) -> None:
        """The same text once more is the same memory."""
        memory = self.one(self.own())
        if memory is None:
            return
        body = self.person.about(content=memory.content, namespace=memory.namespace)
        reply = await self.world.ask(self.person, "POST", "/v1/memories", json=body)
        if not self.refused(reply, "write"):
            (outcome,) = reply.json()["outcomes"]
            assert (outcome["id"], outcome["status"]) == (memory.id, "merged")
            memory.version = outcome["version"]

    async def batch(self) -> None:
        memories = [Kept("", "", NAMESPACES[0], self.person) for _ in range(3)]
        for memory in memories:
            memory.content = self.world.text(memory)
        items: list[Any] = [self.person.about(content=memory.content) for memory in memories]
        items.insert(1, {"content": "x", "user_id": self.other().name + "x"})
        reply = await self.world.ask(
            self.person, "POST", "/v1/memories/batch", json={"items": items}
        )
        if reply.status_code == 403:
            self.refused(reply, "write")
            return
        first, refused, *rest = reply.json()["results"]
        assert refused["code"] == "forbidden"
        for result, memory in zip([first, *rest], memories, strict=True):
            if self.tenant.denies(self.person, "write"):
                assert result["code"] == "forbidden"
            else:
                self.kept(memory, result["outcomes"][0])

    async def tool_write(self) -> None:
        memory = Kept("", "", NAMESPACES[0], self.person)
        memory.content = self.world.text(memory)
        done = await self.world.tool(self.person, "memory_write", content=memory.content)
        if self.tenant.denies(self.person, "write"):
            assert done["isError"]
        else:
            self.kept(memory, done["structuredContent"]["outcomes"][0])

    # --- reading ----------------------------------------------------------------------------------

    async def recall(self) -> None:
        person = self.person
        wanted = self.one(self.tenant.seen_by(person, "recall"))
        # Now and then somebody else's word, which finds nothing that is not for this person.
        foreign = self.foreign()
        asked = foreign if foreign and (wanted is None or self.pick.random() < 0.4) else wanted
        word = self.pick.choice(asked.words) if asked else "nothing"
        body = person.about(query=f"{word} tea", timeout_ms=self.patience)
        expected = wanted if asked is wanted else None
        if self.pick.random() < 0.2:
            body["session_id"] = "s-1"
            expected = None
        if self.pick.random() < 0.2:
            body["tags"] = [self.pick.choice(asked.words) if asked else "t"]
            expected = None
        if self.pick.random() < 0.3:
            body["format"] = "text"
        if self.pick.random() < 0.2:
            body["spaces"] = []
            expected = expected if expected and expected.space is None else None
        reply = await self.world.ask(person, "POST", "/v1/recall", verb="recall", json=body)
        if self.refused(reply, "recall"):
            return
        self.world.own(person, reply.json()["recall_id"])
        self.recalled(reply.json()["memories"])
        missing = reply.json()["degraded"]
        # Less may be missing: of a person never seen nothing is asked, and a query may be cached.
        assert (
            set(missing) <= {*self.world.missing, "deadline"} if self.world.missing else not missing
        )
        self.world.degraded += bool(missing)
        if expected is not None and not missing and word in expected.content:
            self.world.asked_for += 1
            self.world.found += any(m["id"] == expected.id for m in reply.json()["memories"])

    @property
    def patience(self) -> int:
        return 60 if self.world.missing else 10_000

    def recalled(self, memories: list[dict[str, Any]]) -> None:
        for shown in memories:
            memory = self.tenant.kept[shown["id"]]
            assert self.tenant.sees(self.person, memory, "recall"), memory.space
            wanted = (memory.content, memory.space)
            assert (shown["content"], shown["space"]) == wanted, (shown, wanted)

    async def recall_in_a_space(self) -> None:
        """A space that is named is searched alone, and is not there for who is no member."""
        person, space = self.person, self.pick.choice([*self.tenant.spaces])
        body = person.about(query="note of tea", spaces=[space], timeout_ms=self.patience)
        reply = await self.world.ask(person, "POST", "/v1/recall", verb="recall", json=body)
        denied = self.tenant.denies(person, "recall")
        denied |= self.tenant.denies(person, "recall", f"space:{space}")
        if self.tenant.role(space, person) is None:
            assert reply.status_code in ((403, 404) if denied else (404,)), reply.text
        elif denied:
            assert reply.status_code == 403, reply.text
        else:
            assert reply.status_code == 200, reply.text
            self.world.own(person, reply.json()["recall_id"])
            self.recalled(reply.json()["memories"])
            assert {m["space"] for m in reply.json()["memories"]} <= {space, None}

    async def tool_search(self) -> None:
        foreign = self.foreign()
        word = self.pick.choice(foreign.words) if foreign else "tea"
        done = await self.world.tool(self.person, "memory_search", verb="recall", query=word)
        if self.tenant.denies(self.person, "recall"):
            assert done["isError"]
        else:
            self.recalled(done["structuredContent"]["memories"])

    async def look(self, memory: str, **about: Any) -> httpx.Response:
        path = f"/v1/memories/{memory}"
        return await self.world.ask(self.person, "GET", path, params=self.person.about() | about)

    async def get(self) -> None:
        memory = self.one([*self.tenant.kept.values()])
        if memory is not None:
            await self.get_of(memory)

    async def get_of(self, memory: Kept) -> None:
        """A memory is shown to whom it is for, and to nobody else of the tenant."""
        reply = await self.look(memory.id)
        if self.refused(reply, "read"):
            return
        if not self.tenant.sees(self.person, memory):
            assert reply.status_code == 404, reply.text
            return
        shown = reply.json()
        assert (shown["content"], shown["version"]) == (memory.content, memory.version)
        assert (shown["space"], shown["user_id"]) == (memory.space, memory.about.name)

    async def get_forgotten(self) -> None:
        if self.tenant.gone:
            reply = await self.look(self.pick.choice(self.tenant.gone[-30:]))
            assert self.refused(reply, "read") or reply.status_code == 404

    async def listing(self) -> None:
        seen: list[str] = []
        cursor: str | None = None
        while True:
            params = self.person.about(limit=self.pick.choice((3, 7, 50)))
            if cursor is not None:
                params["cursor"] = cursor
            reply = await self.world.ask(
                self.person, "GET", "/v1/memories", verb="list", params=params
            )
            if self.refused(reply, "list"):
                return
            seen += [item["id"] for item in reply.json()["items"]]
            cursor = reply.json()["next_cursor"]
            if cursor is None:
                break
            self.person.cursors = [*self.person.cursors[-4:], cursor]
        assert len(seen) == len(set(seen))
        assert set(seen) == {memory.id for memory in self.tenant.seen_by(self.person, "list")}

    async def versions(self) -> None:
        memory = self.one([*self.tenant.kept.values()])
        if memory is None:
            return
        reply = await self.world.ask(
            self.person, "GET", f"/v1/memories/{memory.id}/versions", params=self.person.about()
        )
        if self.refused(reply, "read"):
            return
        if not self.tenant.sees(self.person, memory):
            assert reply.status_code == 404, reply.text
            return
        items = reply.json()["items"]
        assert [item["version"] for item in items] == list(range(memory.version, 0, -1))
        assert items[0]["content"] == memory.content

    # --- changing ---------------------------------------------------------------------------------

    async def change(self) -> None:
        memory = self.one([*self.tenant.kept.values()])
        if memory is None:
            return
        text, wrong = self.world.text(memory), self.pick.random() < 0.2
        reply = await self.world.ask(
            self.person, "PATCH", f"/v1/memories/{memory.id}",
            json=self.person.about(content=text),
            headers={"If-Match": f'"{memory.version + wrong}"'},
        )  # fmt: skip
        if self.may_not(reply, memory, "update"):
            return
        if wrong:
            assert reply.status_code == 412, reply.text
            return
        assert reply.status_code == 200, reply.text
        memory.content, memory.version = text, memory.version + 1

    async def tool_change(self) -> None:
        memory = self.one([*self.tenant.kept.values()])
        if memory is None:
            return
        text = self.world.text(memory)
        done = await self.world.tool(
            self.person, "memory_update", memory_id=memory.id, content=text
        )
        if done.get("isError"):
            denied = self.tenant.denies(self.person, "update")
            assert denied or not self.tenant.changes(self.person, memory, "update"), done
            return
        assert self.tenant.changes(self.person, memory, "update")
        memory.content, memory.version = text, memory.version + 1
        assert done["structuredContent"]["version"] == memory.version

    async def forget(self) -> None:
        memory = self.one([*self.tenant.kept.values()])
        if memory is not None:
            await self.forget_of(memory)

    async def forget_of(self, memory: Kept) -> None:
        if self.pick.random() < 0.3:
            done = await self.world.tool(self.person, "memory_forget", memory_id=memory.id)
            if done.get("isError"):
                denied = self.tenant.denies(self.person, "forget")
                assert denied or not self.tenant.changes(self.person, memory, "forget"), done
                return
            assert self.tenant.changes(self.person, memory, "forget")
            assert done["structuredContent"] == {"deleted": 1}
        else:
            reply = await self.world.ask(
                self.person, "DELETE", f"/v1/memories/{memory.id}", params=self.person.about()
            )
            if self.may_not(reply, memory, "forget"):
                return
            assert reply.json() == {"deleted": 1}, reply.text
        self.dropped(memory)

    def dropped(self, memory: Kept) -> None:
        del self.tenant.kept[memory.id]
        self.tenant.gone.append(memory.id)

    # --- what is not theirs -----------------------------------------------------------------------

    async def foreign_memory(self) -> None:
        """Another tenant's memory is not there, whatever is tried with it."""
        foreign = self.foreign()
        if foreign is None:
            return
        memory, about = foreign.id, self.person.about()
        path = f"/v1/memories/{memory}"
        match self.pick.randrange(7):
            case 0:
                reply, verb = await self.look(memory), "read"
            case 1:
                reply, verb = (
                    await self.world.ask(self.person, "GET", f"{path}/versions", params=about),
                    "read",
                )
            case 2:
                reply, verb = (
                    await self.world.ask(
                        self.person, "PATCH", path, json={"content": "mine now"} | about
                    ),
                    "update",
                )
            case 3:
                reply, verb = (
                    await self.world.ask(self.person, "DELETE", path, params=about),
                    "forget",
                )
            case number:
                name = ("memory_get", "memory_update", "memory_forget")[number - 4]
                more = {"content": "mine now"} if name == "memory_update" else {}
                done = await self.world.tool(self.person, name, memory_id=memory, **more)
                assert done["isError"]
                assert done.get("structuredContent") is None
                return
        assert self.refused(reply, verb) or reply.status_code == 404, reply.text

    async def foreign_person(self) -> None:
        """Another person's name opens nothing that the credential does not."""
        other = self.pick.choice([name for name in PEOPLE if name != self.person.name])
        ask, person = self.world.ask, self.person
        match self.pick.randrange(4):
            case 0:
                body = {"query": "tea", "user_id": other}
                reply = await ask(person, "POST", "/v1/recall", json=body)
            case 1:
                reply = await ask(person, "GET", "/v1/memories", params={"user_id": other})
            case 2:
                body = {"content": "x", "user_id": other}
                reply = await ask(person, "POST", "/v1/memories", json=body)
            case _:
                body = {"content": "x", "user_id": other, "space": "team"}
                reply = await ask(person, "POST", "/v1/memories", json=body)
        assert reply.status_code == 403, reply.text

    async def foreign_cursor(self) -> None:
        other = self.pick.choice([each for each in self.world.people if each is not self.person])
        if not other.cursors:
            return
        cursor = self.pick.choice(other.cursors)
        path = self.pick.choice(("/v1/memories", "/v1/audit/events"))
        params = {"cursor": cursor} | (self.person.about() if path == "/v1/memories" else {})
        reply = await self.world.ask(self.person, "GET", path, params=params)
        # The tenant's policy here is about memories; it takes nobody's look at the audit log.
        of_memories = path == "/v1/memories"
        refused = of_memories and self.refused(reply, "list")
        assert refused or reply.status_code == 422, reply.text

    async def foreign_namespace(self) -> None:
        body = self.person.about(query="tea", namespaces=["main", "hidden"])
        reply = await self.world.ask(self.person, "POST", "/v1/recall", json=body)
        assert reply.status_code == 403

    async def audit(self) -> None:
        params: dict[str, Any] = {"limit": 20}
        if self.pick.random() < 0.5:
            params["user_id"] = self.person.name
        reply = await self.world.ask(
            self.person, "GET", "/v1/audit/events", params=params, wide=True
        )
        assert {item["tenant"] for item in reply.json()["items"]} <= {self.tenant.id}
        if reply.json()["next_cursor"] is not None:
            self.person.cursors = [*self.person.cursors[-4:], reply.json()["next_cursor"]]

    async def rotate(self) -> None:
        """The old secret ends with the rotation; the new one is the same principal."""
        person = self.person
        if person.by_token:
            self.world.renew(person)
        else:
            path = f"/v1/admin/keys/{person.key_id}/rotate"
            reply = await self.world.administer(self.tenant, "POST", path, json={})
            assert reply.status_code == 200, reply.text
            old, person.key = person.key, reply.json()["key"]
            self.world.own(person, person.key)
            headers = {"Authorization": f"Bearer {old}"}
            reply = await self.world.ask(person, "GET", "/v1/memories", headers=headers)
            assert reply.status_code == 401
        await self.listing()

    async def replace(self) -> None:
        """A revoked key opens nothing from then on; another one is another member of spaces."""
        person = self.person
        if person.by_token:
            return
        path = f"/v1/admin/keys/{person.key_id}"
        assert (await self.world.administer(self.tenant, "DELETE", path)).status_code == 204
        for reply in (await self.look("0"), await self.world.ask(person, "GET", "/v1/memories")):
            assert reply.status_code == 401
        users = [person.name, "nobody else"] if person.names_itself else [person.name]
        body = key_body(users=users)
        made = (
            await self.world.administer(self.tenant, "POST", "/v1/admin/keys", json=body)
        ).json()
        person.key, person.key_id = made["key"], made["id"]
        self.world.own(person, person.key)
        await self.listing()

    # --- the odds ---------------------------------------------------------------------------------

    def own(self) -> list[Kept]:
        return [
            memory
            for memory in self.tenant.kept.values()
            if memory.about is self.person and memory.space is None
        ]

    def one(self, memories: list[Kept]) -> Kept | None:
        """Choose a memory; what it is stands in the report of a failure."""
        if not memories:
            return None
        chosen = self.pick.choice(memories)
        role = None if chosen.space is None else self.tenant.role(chosen.space, self.person)
        self.chosen = f"a memory of {chosen.about.name} in {chosen.space} ({role})"
        return chosen

    def other(self) -> Person:
        return self.pick.choice([each for each in self.tenant.people if each is not self.person])

    def foreign(self) -> Kept | None:
        """A memory of another tenant, or of this one and out of this person's reach."""
        tenant: Tenant = self.pick.choice(self.world.tenants)
        return self.one(
            [
                memory
                for memory in tenant.kept.values()
                if tenant is not self.tenant
                or not any(tenant.sees(self.person, memory, verb) for verb in VERBS)
            ]
        )

    def refused(self, reply: httpx.Response, verb: str) -> bool:
        """Tell whether the tenant's policy refused it; a refusal without a rule is a fault."""
        denied = self.tenant.denies(self.person, verb)
        assert (reply.status_code == 403) == denied, (verb, reply.text)
        return denied

    def may_not(self, reply: httpx.Response, memory: Kept, verb: str) -> bool:
        """Tell whether this person may not change this memory; then nothing was changed."""
        if self.tenant.denies(self.person, verb):
            assert reply.status_code == 403, reply.text
            return True
        if self.tenant.changes(self.person, memory, verb):
            assert reply.status_code not in (403, 404), reply.text
            return False
        # A memory that can be read is there, and may be refused; another is not there.
        assert reply.status_code in (
            (403, 404) if self.tenant.sees(self.person, memory) else (404,)
        )
        return True
