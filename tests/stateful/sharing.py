"""What an administrator changes while people act: members of spaces, spaces, rules of the policy.

After each change somebody whom it concerns looks at once: a right that was taken away is gone with
the reply that says so.
"""

import asyncio
from collections import Counter
from typing import Any
from urllib.parse import quote

from tests.stateful.people import MOST_KEPT, VERBS, Steps
from tests.stateful.world import NAMESPACES, SPACES, Person, World

MOST_DENIED = 4


class Sharing(Steps):
    """Everything that may happen next in a tenant."""

    def member(self) -> tuple[str, str]:
        """Choose somebody to let into a space: a key, a person or a namespace."""
        person = self.pick.choice(self.tenant.people)
        kinds = [("user", person.name), ("user", person.name)]
        if not person.by_token:
            kinds.append(("key", person.key_id))
        if self.pick.random() < 0.15:  # lets everybody of the tenant in
            kinds.append(("namespace", self.pick.choice(NAMESPACES)))
        return self.pick.choice(kinds)

    def path(self, space: str, kind: str, name: str) -> str:
        return f"/v1/admin/spaces/{space}/members/{quote(f'{kind}:{name}', safe='')}"

    async def share(self) -> None:
        space, role = (
            self.pick.choice([*self.tenant.spaces]),
            self.pick.choice(("reader", "writer")),
        )
        kind, name = self.member()
        path = self.path(space, kind, name)
        reply = await self.world.administer(self.tenant, "PUT", path, json={"role": role})
        assert reply.status_code == 200, reply.text
        self.tenant.members[space, kind, name] = role
        await self.look_around(space)

    async def unshare(self) -> None:
        if not self.tenant.members:
            return
        space, kind, name = self.pick.choice([*self.tenant.members])
        path = self.path(space, kind, name)
        reply = await self.world.administer(self.tenant, "DELETE", path)
        assert reply.status_code == 204, reply.text
        del self.tenant.members[space, kind, name]
        await self.look_around(space)

    async def look_around(self, space: str) -> None:
        """Somebody looks at something in a space, whether they may or not."""
        kept = [memory for memory in self.tenant.kept.values() if memory.space == space]
        if kept:
            await Sharing(self.world, self.pick.choice(self.tenant.people)).get_of(
                self.pick.choice(kept)
            )

    async def delete_space(self) -> None:
        """A space goes with everything in it; one of the same name is another space."""
        space = self.pick.choice([*self.tenant.spaces])
        kept = [memory for memory in self.tenant.kept.values() if memory.space == space]
        path = f"/v1/admin/spaces/{space}"
        reply = await self.world.administer(self.tenant, "DELETE", path)
        assert reply.status_code == 200, reply.text
        assert reply.json()["deleted"] == len(kept)
        for memory in kept:
            self.dropped(memory)
        for member in [one for one in self.tenant.members if one[0] == space]:
            del self.tenant.members[member]
        body = {"name": space, "audience": SPACES[space]}
        reply = await self.world.administer(self.tenant, "POST", "/v1/admin/spaces", json=body)
        assert reply.status_code == 201, reply.text
        await self.get_forgotten()

    async def change_policy(self) -> None:
        """The tenant's own policy takes a verb from somebody, everywhere or in a space."""
        denied = self.tenant.denied
        if len(denied) >= MOST_DENIED or (denied and self.pick.random() < 0.5):
            denied = set(sorted(denied)[1:]) if self.pick.random() < 0.5 else set()
        else:
            place = self.pick.choice(("tenant", *(f"space:{name}" for name in self.tenant.spaces)))
            name = self.pick.choice(self.tenant.people).name
            denied = denied | {(name, place, self.pick.choice(VERBS))}
        document: dict[str, Any] = {
            "rules": [
                {
                    "subject": f"user:{name}", "in": place, "object": "memory:item", "verb": verb,
                    "effect": "deny",
                }
                for name, place, verb in sorted(denied)
            ],
            "people": [],
            "cases": [
                {
                    "case": f"{number}",
                    "subject": {"roles": ["reader", "writer", "curator"], "user_id": name},
                    "in": place,
                    "expect": {f"memory:item:{verb}": "deny"},
                }
                for number, (name, place, verb) in enumerate(sorted(denied))
            ],
        }  # fmt: skip
        path = "/v1/admin/policies/access"
        reply = await self.world.administer(self.tenant, "PUT", path, json=document)
        assert reply.status_code == 200, reply.text
        self.tenant.denied = denied
        await self.listing()

    async def foreign_key(self) -> None:
        """A tenant's administrator finds no key of another tenant."""
        others = [
            each for each in self.world.people
            if each.tenant is not self.tenant and not each.by_token
        ]  # fmt: skip
        path = f"/v1/admin/keys/{self.pick.choice(others).key_id}"
        if self.pick.random() < 0.5:
            reply = await self.world.administer(self.tenant, "DELETE", path)
        else:
            reply = await self.world.administer(self.tenant, "POST", f"{path}/rotate", json={})
        assert reply.status_code == 404

    async def foreign_member(self) -> None:
        """A key of another tenant is let into nothing; what nobody is a member of stays so."""
        others = [
            each for each in self.world.people
            if each.tenant is not self.tenant and not each.by_token
        ]  # fmt: skip
        path = self.path("team", "key", self.pick.choice(others).key_id)
        method = self.pick.choice(("PUT", "DELETE"))
        options: dict[str, Any] = {"json": {"role": "writer"}} if method == "PUT" else {}
        reply = await self.world.administer(self.tenant, method, path, **options)
        assert reply.status_code == 404, reply.text

    async def administrators_look(self) -> None:
        """An administrator sees who is a member of what, and no content."""
        path = self.pick.choice(
            ("/v1/admin/spaces", "/v1/admin/keys", "/v1/admin/policies/access", "/v1/admin/quotas",
             "/v1/admin/spaces/team/members")
        )  # fmt: skip
        reply = await self.world.administer(self.tenant, "GET", path)
        assert reply.status_code == 200, reply.text
        if path == "/v1/admin/spaces/team/members":
            shown = {item["member"]: item["role"] for item in reply.json()["items"]}
            assert shown == {
                f"{kind}:{name}": role
                for (space, kind, name), role in self.tenant.members.items()
                if space == "team"
            }
        elif path == "/v1/admin/spaces":
            assert {item["name"] for item in reply.json()["items"]} == set(self.tenant.spaces)


WEIGHTS = {
    "write": 10, "write_into_a_space": 12, "write_again": 2, "batch": 1, "tool_write": 3,
    "recall": 8, "recall_in_a_space": 4, "tool_search": 3, "get": 9, "get_forgotten": 3,
    "listing": 4, "change": 5, "tool_change": 3, "versions": 4, "forget": 5, "foreign_memory": 16,
    "foreign_person": 4, "foreign_cursor": 3, "foreign_namespace": 2, "foreign_key": 1,
    "foreign_member": 2, "rotate": 1, "replace": 1, "audit": 3, "share": 6, "unshare": 5,
    "delete_space": 1, "change_policy": 3, "administrators_look": 2,
}  # fmt: skip


async def live(world: World, people: list[Person], steps: int) -> None:
    """One tenant's people act in turn."""
    names, weights = [*WEIGHTS], [*WEIGHTS.values()]
    pick = people[0].tenant.pick
    for step in range(steps):
        world.stay_fresh(people)
        acting = Sharing(world, pick.choice(people))
        name = pick.choices(names, weights)[0]
        if len(acting.own()) > MOST_KEPT:
            name = "forget"
        try:
            await getattr(acting, name)()
        except AssertionError as err:
            who = f"{acting.person.name} of tenant {acting.tenant.number}"
            told = f"step {step}, {who}, {name} of {acting.chosen}, denied {acting.tenant.denied}"
            raise AssertionError(f"{told}: {err}") from err
        world.done[name] += 1


async def everybody(world: World, steps: int) -> None:
    """All tenants act at once; in the end everybody has what they ought to have."""
    async with asyncio.TaskGroup() as group:
        for tenant in world.tenants:
            group.create_task(live(world, tenant.people, steps))
    for person in world.people:
        await Sharing(world, person).listing()


def never_done(done: Counter[str]) -> set[str]:
    """Return the operations that did not come up."""
    return set(WEIGHTS) - {name for name, times in done.items() if times}
