"""Where a text is before it is redacted: in the memory of the process that judges it, and nowhere
else. Not in a log or what hangs on its records, a span, a metric, a key of a cache or a budget, the
queue, a table, the embedder, or a file; however it came, and whatever broke on the way.
"""

import logging
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any
from unittest import mock

import httpx
import pytest
import redis
from typer.testing import CliRunner, Result
from typing_extensions import override

from gateway.cli.main import app
from gateway.guard.lanes import LONG_CHARACTERS
from gateway.guard.pii.detector import Detector
from tests.attacks.asks import Stage
from tests.attacks.test_side_doors import Words, sinks
from tests.house import House
from tests.live.test_canaries import found_on_disk

PAD = " and so on, line after line." * (LONG_CHARACTERS // 20)


class Records(logging.Handler):
    """Keeps every record whole, with what hangs on it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.said: list[str] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(f"{record.msg!r} {record.args!r} {record.__dict__!r}")
        if record.exc_info and record.exc_info[1] is not None:
            self.said += spelled(record.exc_info[1])


def spelled(error: BaseException | None, *, with_locals: bool = True) -> Iterator[str]:
    """Yield what a crash reporter would send: messages, and every local of every frame."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield repr(error)
        frame: TracebackType | None = error.__traceback__
        while frame is not None and with_locals:
            yield repr(frame.tb_frame.f_locals)
            frame = frame.tb_next
        error = error.__cause__ or error.__context__


@pytest.fixture
def records() -> Iterator[Records]:
    handler = Records()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)


@pytest.fixture
def stage(house: House) -> Stage:
    return Stage.of(house)


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that temporary files would go to."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def datum(words: Words, place: str) -> str:
    """Return an address; its name is the word to look for."""
    return f"write to {words.new(place)}@harbour.example"


def secret(words: Words, place: str) -> str:
    return f"my password is {words.new(place)}-T9!"


def sent(words: Words, stage: Stage) -> Iterator[httpx.Response]:
    """Send a datum and a secret by every way that a text comes in: short, and long enough to be
    judged in a thread.
    """
    agent, admin, house = stage.agent, stage.admin, stage.house
    memory = f"/v1/memories/{stage.memory}"
    for kind, make in (("datum", datum), ("secret", secret)):
        for size, pad in (("short", ""), ("long", PAD)):
            place = f"{kind} {size}"
            key = {"Idempotency-Key": secrets.token_hex(8)}
            yield agent.try_write(make(words, f"write {place}") + pad, headers=key)
            items = [agent.about(content=make(words, f"batch {place}") + pad), {"content": 1}]
            yield agent.call("POST", "/v1/memories/batch", json={"items": items}, headers=key)
            body = agent.about(
                content=make(words, f"change {place}") + pad,
                metadata={"note": make(words, f"metadata {place}")},
            )
            yield agent.call("PATCH", memory, json=body)
            body = agent.about(query=make(words, f"recall {place}") + pad[:2000], timeout_ms=5000)
            yield agent.call("POST", "/v1/recall", json=body)
            body = {"content": make(words, f"preview {place}") + pad}
            yield admin.call("POST", "/v1/guard/preview", json=body)
            arguments = agent.about(content=make(words, f"tool {place}") + pad)
            params = {"name": "memory_write", "arguments": arguments}
            yield house.rpc(agent, "tools/call", params)
            arguments = agent.about(query=make(words, f"search {place}"))
            params = {"name": "memory_search", "arguments": arguments}
            yield house.rpc(agent, "tools/call", params)


def broken(words: Words, stage: Stage) -> Iterator[httpx.Response]:
    """The same while what judges, or what is asked next, fails with the text in its hands."""

    def fail(*arguments: Any, **named: Any) -> None:
        held = [getattr(one, "original", "") for one in arguments]
        raise RuntimeError(*held)

    with mock.patch.object(Detector, "detect", fail):
        yield from sent(words, stage)
    directory = type(stage.house.gateway.gate.directory)
    failing = mock.AsyncMock(side_effect=KeyError("nothing of the caller's"))
    for name in ("resolve", "standing", "namespace_names"):
        with mock.patch.object(directory, name, failing):
            yield from sent(words, stage)


def cached(house: House) -> str:
    """Everything that Valkey holds: keys, and values as they lie there."""
    client = redis.Redis.from_url(house.engines.redis_url)
    found: list[str] = []
    for key in client.scan_iter(count=1000):
        kept = client.dump(key)  # None: it expired just now
        found.append(repr(key) + key.hex() + repr(kept) + (kept or b"").hex())
    client.close()
    return "\n".join(found)


@pytest.mark.requirement("D14", "M2")
@pytest.mark.parametrize("how", [sent, broken])
def test_a_text_is_nowhere_before_it_is_redacted(
    house: House, stage: Stage, records: Records, scratch: Path, how: Any
) -> None:
    since, embedded = len(house.log), len(house.embedder.seen)
    words = Words()
    statuses = set()
    for reply in how(words, stage):
        statuses.add(reply.status_code)
        assert words.seen_in(str(reply.headers) + reply.text) == set(), reply.request.url.path
    assert len(words.places) >= 28
    assert {200, 422} & statuses
    for sink, text in sinks(house, stage.agent, since).items():
        assert words.seen_in(text) == set(), sink
    assert words.seen_in("\n".join(records.said)) == set()
    assert words.seen_in(cached(house)) == set()
    assert words.seen_in("\n".join(house.embedder.seen[embedded:])) == set()
    assert found_on_disk(house.folder, list(words.places)) == []
    assert [*scratch.rglob("*")] == []


def ended(done: Result) -> str:
    """What a command ended with. Its frames hold the file, and nobody is sent them."""
    return "".join(spelled(done.exception, with_locals=False))


@pytest.mark.requirement("D14")
def test_a_scan_of_a_file_writes_nothing_and_says_no_value(
    records: Records, scratch: Path, tmp_path: Path
) -> None:
    words = Words()
    file = tmp_path / "notes.txt"
    lines = [datum(words, "line"), secret(words, "secret"), datum(words, "long") + PAD]
    file.write_text("\n".join(lines), encoding="utf-8")
    before = file.read_bytes()
    for options in ([], ["--json"], ["--by", "file"], ["--policy", "strict"]):
        done = CliRunner().invoke(app, ["guard", "scan", *options, str(file)])
        assert done.exit_code == 1, done.output
        assert words.seen_in(done.output + done.stderr) == set()
    with mock.patch.object(Detector, "detect", side_effect=ValueError(lines[0])):
        done = CliRunner().invoke(app, ["guard", "scan", str(file)])
    assert "SCANNER_FAILED" in done.output
    assert words.seen_in(done.output + done.stderr + ended(done)) == set()
    file.write_bytes(before + b"\xff")
    done = CliRunner().invoke(app, ["guard", "scan", str(file)])
    assert done.exit_code == 2
    assert words.seen_in(done.output + done.stderr + ended(done)) == set()
    assert words.seen_in("\n".join(records.said)) == set()
    assert [*scratch.rglob("*")] == []


def test_what_is_looked_for_would_be_found(house: House, records: Records) -> None:
    """So that the tests above look where they say."""
    words = Words()
    word = words.new("a local")
    logged = len(house.log)

    def fail(held: str) -> None:
        raise ValueError(held)

    try:
        fail(word)
    except ValueError:
        logging.getLogger("memwarden.test").exception("it broke")
    assert words.seen_in("\n".join(records.said)) == {"a local"}
    # Other tests read the log of this house, and are to find no trace in it.
    house.log[logged:] = [line for line in house.log[logged:] if "it broke" not in line]
    client = redis.Redis.from_url(house.engines.redis_url)
    client.set(word, word, ex=5)
    assert words.seen_in(cached(house)) == {"a local"}
    client.delete(word)
    client.close()
