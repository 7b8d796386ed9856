"""The whole promise on real input: `make demo`.

Two agents of two tenants write a bilingual conversation over HTTP and MCP; a private key and a
password are refused, identifiers are transformed; each agent recalls its own and never the other's;
nothing readable lies on disk; the audit log verifies. Every line with a tick was checked just now:
the exit code is 1 if one of them is false.
"""

import asyncio
import contextlib
import json
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from rich.console import Console
from rich.table import Table

from gateway.resources import data_path

DIGITS = re.compile(r"\d{7,}")
START_SECONDS = 90.0
STOP_SECONDS = 30.0
CREATED, UNPROCESSABLE, NOT_FOUND = 201, 422, 404

Turn = dict[str, Any]


@dataclass
class Account:
    """What the demo prints and counts: claims that held, and claims that did not."""

    console: Console = field(
        default_factory=lambda: Console(highlight=False, emoji=False, width=110)
    )
    failed: int = 0
    held: int = 0

    def title(self, text: str) -> None:
        """Print the heading of a step."""
        self.console.print(f"\n[bold cyan]{text}[/]")

    def claim(self, sentence: str, *, holds: bool) -> None:
        """Print `sentence` with a tick if it holds and a cross if not."""
        mark = "[green]✔[/]" if holds else "[bold red]✘[/]"
        self.console.print(f"  {mark} {sentence}")
        self.held += holds
        self.failed += not holds


@dataclass(frozen=True)
class Agent:
    """One agent: its tenant's name and its API key."""

    name: str
    tenant: str
    key: str = field(repr=False)


@contextlib.contextmanager
def gateway(folder: Path) -> Iterator[dict[str, Any]]:
    """Run `memwarden up` on a new folder, and give what its ready file says."""
    ready = folder / "ready.json"
    log = (folder / "gateway.log").open("wb")
    command = [
        *(sys.executable, "-m", "gateway.cli", "up", "--port", "0"),
        *("--data", str(folder / "data"), "--keys", str(folder / "keys")),
        *("--ready-file", str(ready)),
    ]
    process = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: S603 - our own command
    try:
        deadline = time.monotonic() + START_SECONDS
        while not ready.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                sys.stderr.write((folder / "gateway.log").read_text(errors="replace"))
                raise SystemExit("the gateway did not start")
            time.sleep(0.05)
        yield json.loads(ready.read_text(encoding="utf-8"))
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)
        log.close()


def lines_of(name: str) -> list[Turn]:
    """Return the JSON lines of an example file."""
    text = data_path("examples", name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


async def make_agents(http: httpx.AsyncClient, operator_key: str) -> dict[str, Agent]:
    """Make a tenant and a key for each agent of the conversation."""
    agents = {}
    for name, tenant in (("aster", "Aster Travel"), ("birch", "Birch Club")):
        made = await http.post(
            "/v1/admin/tenants", json={"name": tenant}, headers={"X-API-Key": operator_key}
        )
        made.raise_for_status()
        roles = ["reader", "writer", "curator", "auditor"]
        key = await http.post(
            "/v1/admin/keys",
            json={"name": name, "roles": roles, "namespaces": ["chat"], "users": ["*"]},
            headers={"X-API-Key": made.json()["admin_key"]},
        )
        key.raise_for_status()
        agents[name] = Agent(name, tenant, key.json()["key"])
    return agents


@contextlib.asynccontextmanager
async def mcp_client(url: str, key: str) -> AsyncIterator[Client]:
    """Connect a real MCP client, as an agent's framework would."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60.0, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


@dataclass
class Door:
    """One agent's two ways in."""

    agent: Agent
    http: httpx.AsyncClient
    mcp: Client

    async def write(self, turn: Turn) -> dict[str, Any]:
        """Write one turn, over HTTP or MCP as it says; returns {"receipt"} or {"refused"}."""
        body = {name: turn[name] for name in ("content", "user_id", "kind", "importance", "tags")}
        if turn["via"] == "mcp":
            result = await self.mcp.call_tool("memory_write", body)
            if result.is_error:
                return {"refused": " ".join(getattr(part, "text", "") for part in result.content)}
            return {"receipt": result.structured_content}
        reply = await self.http.post("/v1/memories", json=body, headers=self.headers)
        if reply.status_code == UNPROCESSABLE:
            return {"refused": " ".join(reason["kind"] for reason in reply.json()["reasons"])}
        reply.raise_for_status()
        return {"receipt": reply.json()}

    async def recall(self, question: Turn) -> list[dict[str, Any]]:
        """Ask one question, over HTTP or MCP as it says; returns the memories, best first."""
        if question["via"] == "mcp":
            result = await self.mcp.call_tool(
                "memory_search", {"query": question["query"], "user_id": question["user_id"]}
            )
            structured: dict[str, Any] = result.structured_content or {}
            return list(structured["memories"])
        body = {"query": question["query"], "user_id": question["user_id"]}
        reply = await self.http.post("/v1/recall", json=body, headers=self.headers)
        reply.raise_for_status()
        return list(reply.json()["memories"])

    async def kept(self, turn: Turn, outcome: dict[str, Any]) -> str:
        """Return what the gateway kept of a turn that it transformed."""
        memory = outcome["receipt"]["outcomes"][0]["id"]
        reply = await self.http.get(
            f"/v1/memories/{memory}", params={"user_id": turn["user_id"]}, headers=self.headers
        )
        reply.raise_for_status()
        text: str = reply.json()["content"]
        return text

    @property
    def headers(self) -> dict[str, str]:
        """The agent's credential."""
        return {"X-API-Key": self.agent.key}


def what_happened(outcome: dict[str, Any]) -> str:
    """Return a word for the account: stored, merged, the kinds transformed, or refused."""
    if "refused" in outcome:
        return "refused"
    kinds = [redaction["kind"] for redaction in outcome["receipt"]["redactions"]]
    return ", ".join(kinds) or outcome["receipt"]["outcomes"][0]["status"]


def as_expected(turn: Turn, outcome: dict[str, Any]) -> bool:
    """Tell whether a turn ended as the conversation file says."""
    expected = turn["expect"]
    if expected.startswith("SECRET."):
        words = {"SECRET.PRIVATE_KEY": "private key", "SECRET.PASSWORD": "password"}
        refused = outcome.get("refused", "")
        return expected in refused or words[expected] in refused
    return "receipt" in outcome and expected in what_happened(outcome)


async def write_conversation(account: Account, doors: dict[str, Door]) -> dict[str, set[str]]:
    """Write every turn, print what became of it, and return the ids each agent got."""
    table = Table("turn", "agent", "via", "about", "what is kept", "what happened", box=None)
    ids: dict[str, set[str]] = {name: set() for name in doors}
    tally: Counter[str] = Counter()
    wrong = []
    for turn in lines_of("conversation.jsonl"):
        outcome = await doors[turn["agent"]].write(turn)
        happened = what_happened(outcome)
        if not as_expected(turn, outcome):
            wrong.append(turn["turn"])
        if "receipt" in outcome:
            ids[turn["agent"]] |= {each["id"] for each in outcome["receipt"]["outcomes"]}
        tally["refused" if happened == "refused" else "kept"] += 1
        colour = {"refused": "red", "stored": "green", "merged": "blue"}.get(happened, "yellow")
        said = " ".join(turn["content"].split())
        if colour == "yellow":
            said = await doors[turn["agent"]].kept(turn, outcome)
            if any(run in said for run in DIGITS.findall(turn["content"])):
                wrong.append(turn["turn"])
        shown = said if len(said) <= 44 else said[:43] + "…"  # noqa: PLR2004 - a column's width
        if happened == "refused":
            shown = "(not shown)"
        table.add_row(
            str(turn["turn"]),
            turn["agent"],
            turn["via"],
            turn["user_id"],
            shown,
            f"[{colour}]{happened}[/]",
        )
    account.console.print(table)
    account.claim(f"{tally['kept']} turns kept, {tally['refused']} refused", holds=not wrong)
    account.claim("the private key and the password were refused", holds=tally["refused"] == 2)  # noqa: PLR2004 - as the file has it
    return ids


async def ask(account: Account, doors: dict[str, Door], ids: dict[str, set[str]]) -> None:
    """Ask every question and check that the answer is there, and only the asker's."""
    foreign = 0
    for question in lines_of("questions.jsonl"):
        found = await doors[question["agent"]].recall(question)
        foreign += sum(memory["id"] not in ids[question["agent"]] for memory in found)
        texts = [memory["content"] for memory in found]
        answer = next((text for text in texts if question["finds"] in text), "(not found)")
        account.claim(
            f"{question['agent']} asks over {question['via']} about {question['user_id']}: "
            f"[italic]{question['query']}[/] → {answer}",
            holds=answer != "(not found)",
        )
    account.claim("no answer held a memory of the other tenant", holds=foreign == 0)


async def try_to_peek(account: Account, doors: dict[str, Door], ids: dict[str, set[str]]) -> None:
    """Let one agent try to read the other's memories by id, by question and by a wrong key."""
    aster, birch = doors["aster"], doors["birch"]
    target = next(iter(ids["aster"]))
    reply = await birch.http.get(
        f"/v1/memories/{target}", params={"user_id": "lena"}, headers=birch.headers
    )
    account.claim("birch reads aster's memory by its id: 404", holds=reply.status_code == NOT_FOUND)
    found = await birch.recall({"via": "http", "query": "peanuts cat latte", "user_id": "lena"})
    seen = {memory["id"] for memory in found} & ids["aster"]
    account.claim("birch asks for what only aster knows: nothing of it comes", holds=not seen)
    reply = await aster.http.post(
        "/v1/recall",
        json={"query": "x", "user_id": "lena"},
        headers={"X-API-Key": aster.agent.key[:-1] + ("A" if aster.agent.key[-1] != "A" else "B")},
    )
    account.claim("a key with one wrong letter: 401", holds=reply.status_code == 401)  # noqa: PLR2004 - HTTP's number


async def forget(account: Account, door: Door) -> None:
    """Forget one memory and look for it."""
    question = {"via": "http", "query": "Does she have a cat?", "user_id": "lena"}
    cat = next(memory for memory in await door.recall(question) if "Mimi" in memory["content"])
    reply = await door.http.delete(
        f"/v1/memories/{cat['id']}", params={"user_id": "lena"}, headers=door.headers
    )
    account.claim("the memory of the cat is deleted", holds=reply.json() == {"deleted": 1})
    left = [memory for memory in await door.recall(question) if "Mimi" in memory["content"]]
    account.claim("and is recalled no more", holds=not left)


def search_disk(account: Account, folder: Path, canary: str) -> None:
    """Look for texts of the conversation in every byte under the data folder."""
    needles = [canary, "peanuts", "Tuanjiehu", "对花生过敏", "OPENSSH PRIVATE KEY", "13912345678"]
    encoded = [needle.encode() for needle in needles]
    hits = 0
    size = 0
    for path in sorted((folder / "data").rglob("*")):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            size += len(data)
            hits += sum(needle in data for needle in encoded)
    account.claim(
        f"{len(needles)} texts searched in {size / 1e6:.0f} MB of files: none is readable",
        holds=hits == 0,
    )


async def check_audit(account: Account, doors: dict[str, Door], folder: Path) -> None:
    """Read one agent's audit events and verify the whole log with the command line."""
    door = doors["aster"]
    reply = await door.http.get("/v1/audit/events", params={"limit": 200}, headers=door.headers)
    events = reply.json()["items"]
    actions = Counter(event["action"] for event in events)
    account.console.print("  " + ", ".join(f"{name} x{n}" for name, n in sorted(actions.items())))
    silent = bool(events) and not any("peanut" in json.dumps(event) for event in events)
    account.claim(f"{len(events)} events of aster, none holds a text", holds=silent)
    verify = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway.cli", "audit", "verify"),
        *("--data", str(folder / "data"), "--keys", str(folder / "keys")),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await verify.communicate()
    said = (out + err).decode(errors="replace").strip().splitlines()
    account.claim(
        f"memwarden audit verify: {said[-1] if said else 'no output'}", holds=verify.returncode == 0
    )


async def main() -> int:
    """Run the demo; returns the exit code."""
    account = Account()
    canary = f"canary {secrets.token_hex(8)}"
    with tempfile.TemporaryDirectory(prefix="memwarden-demo-") as name:
        folder = Path(name)
        account.title("1. Start an embedded gateway: PostgreSQL, Valkey, Qdrant Edge")
        started = time.monotonic()
        with gateway(folder) as ready:
            seconds = time.monotonic() - started
            account.claim(f"serving {ready['url']} after {seconds:.1f} s", holds=True)
            async with contextlib.AsyncExitStack() as stack:
                http = await stack.enter_async_context(
                    httpx.AsyncClient(base_url=ready["url"], timeout=60.0, trust_env=False)
                )
                agents = await make_agents(http, ready["operator_key"])
                doors = {}
                for agent in agents.values():
                    client = await stack.enter_async_context(
                        mcp_client(ready["mcp_url"], agent.key)
                    )
                    doors[agent.name] = Door(agent, http, client)
                tools = await doors["aster"].mcp.list_tools()
                account.claim(
                    f"two tenants, two agents; MCP offers {len(tools.tools)} tools", holds=True
                )
                account.title("2. Write a conversation in two languages, over HTTP and MCP")
                ids = await write_conversation(account, doors)
                marked = {"content": canary, "user_id": "lena", "via": "http", "kind": "fact",
                          "importance": 0.1, "tags": []}  # fmt: skip
                outcome = await doors["aster"].write(marked)
                ids["aster"] |= {each["id"] for each in outcome["receipt"]["outcomes"]}
                account.title("3. Ask")
                await ask(account, doors, ids)
                account.title("4. Try to read what is not yours")
                await try_to_peek(account, doors, ids)
                account.title("5. Forget")
                await forget(account, doors["aster"])
                account.title("6. Look at the disk")
                search_disk(account, folder, canary)
                account.title("7. Read and verify the audit log")
                await check_audit(account, doors, folder)
        search_disk(account, folder, canary)
    account.console.print(
        f"\n[bold]{account.held} claims held, {account.failed} did not.[/] The folder is gone."
    )
    return 1 if account.failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
