import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gateway.embedded import children
from gateway.embedded.children import Child, ChildProcess, EngineFailed, Keeper, bound_log
from tests.gateway.embedded.conftest import CHECKOUT, wait_until_gone

FOREVER = "import signal; signal.pause()"


@pytest.fixture
def alive(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path / "alive", os.O_RDWR | os.O_CREAT)
    yield descriptor
    os.close(descriptor)


def make(folder: Path, alive: int, program: str, **settings: object) -> Child:
    return Child(
        name="engine",
        argv=(sys.executable, "-I", "-S", "-c", program),
        cwd=folder,
        log=folder / "engine.log",
        alive=alive,
        **settings,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("watched", [False, True])
async def test_a_child_gets_little_and_may_do_little(
    tmp_path: Path, alive: int, watched: bool
) -> None:
    program = textwrap.dedent(
        """
        import json, os, resource, signal, sys
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        print(json.dumps({
            "fed": sys.stdin.read(), "environment": dict(os.environ), "cwd": os.getcwd(),
            "core": resource.getrlimit(resource.RLIMIT_CORE), "umask": os.umask(0),
            "fds": sorted(int(fd) for fd in os.listdir("/proc/self/fd")),
            "ignored": int(status["SigIgn"], 16), "privileges": status["NoNewPrivs"].strip(),
        }))
        """
    )
    child = make(tmp_path, alive, program, feed=b"a secret", watched=watched)
    assert "secret" not in repr(child)
    await ChildProcess(child).run()
    told = json.loads(child.log.read_text(encoding="utf-8"))
    assert told["fed"] == "a secret"
    assert set(told["environment"]) <= {"LC_CTYPE"}
    assert told["cwd"] == str(tmp_path)
    assert (told["core"], told["umask"]) == ([0, 0], 0o077)
    # 3 is the listing itself.
    assert set(told["fds"]) | {3} == {0, 1, 2, 3, alive}
    # Python itself ignores SIGPIPE and SIGXFSZ; 32 and 33 are the C library's, which lets nobody
    # change them and passes on what it was given. Nothing else is ignored on the way.
    assert told["ignored"] & ~(1 << 12 | 1 << 24 | 1 << 31 | 1 << 32) == 0
    assert watched or told["privileges"] == "1"


@pytest.mark.parametrize("watched", [False, True])
async def test_an_exit_code_comes_through(tmp_path: Path, alive: int, watched: bool) -> None:
    child = make(tmp_path, alive, "import sys; sys.exit(3)", watched=watched)
    with pytest.raises(EngineFailed, match="exit code 3"):
        await ChildProcess(child).run()


@pytest.mark.parametrize("watched", [False, True])
async def test_a_child_is_asked_to_end_first(tmp_path: Path, alive: int, watched: bool) -> None:
    program = (
        "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit('in order'));"
        "print('up', flush=True); signal.pause()"
    )

    async def up() -> bool:
        return "up" in (tmp_path / "engine.log").read_text(encoding="utf-8")

    process = ChildProcess(make(tmp_path, alive, program, ready=up, watched=watched))
    await process.start()
    await process.stop()
    assert "in order" in (tmp_path / "engine.log").read_text(encoding="utf-8")


async def test_a_child_that_does_not_end_is_killed(tmp_path: Path, alive: int) -> None:
    program = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('up', flush=True)\nwhile True: signal.pause()"
    )

    async def up() -> bool:
        return "up" in (tmp_path / "engine.log").read_text(encoding="utf-8")

    process = ChildProcess(make(tmp_path, alive, program, ready=up, grace_seconds=0.1))
    await process.start()
    await process.stop()
    assert await process.wait() == -signal.SIGKILL


async def test_a_child_that_is_not_ready_in_time_is_ended(tmp_path: Path, alive: int) -> None:
    async def never() -> bool:
        return False

    process = ChildProcess(make(tmp_path, alive, FOREVER, ready=never, start_seconds=0.3))
    with pytest.raises(EngineFailed, match=r"not ready in time.*engine\.log"):
        await process.start()
    assert process.pid is not None
    assert not psutil.pid_exists(process.pid)


async def test_a_child_that_ends_while_starting_is_reported(tmp_path: Path, alive: int) -> None:
    async def never() -> bool:
        return False

    with pytest.raises(EngineFailed, match="ended while starting"):
        await ChildProcess(make(tmp_path, alive, "", ready=never)).start()


async def test_a_program_that_is_not_there_is_reported(tmp_path: Path, alive: int) -> None:
    child = Child(
        name="engine",
        argv=(str(tmp_path / "none"),),
        cwd=tmp_path,
        log=tmp_path / "engine.log",
        alive=alive,
    )
    with pytest.raises(EngineFailed, match="failed"):
        await ChildProcess(child).run()


async def test_a_folder_that_is_not_there_is_reported(tmp_path: Path, alive: int) -> None:
    child = Child(
        name="engine",
        argv=(sys.executable,),
        cwd=tmp_path / "none",
        log=tmp_path / "engine.log",
        alive=alive,
        watched=True,
    )
    open_before = psutil.Process().num_fds()
    with pytest.raises(EngineFailed, match="could not be started"):
        await ChildProcess(child).start()
    assert psutil.Process().num_fds() == open_before


async def test_giving_up_a_start_ends_the_child(tmp_path: Path, alive: int) -> None:
    async def never() -> bool:
        return False

    process = ChildProcess(make(tmp_path, alive, FOREVER, ready=never))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await process.start()
    assert process.pid is None or not psutil.pid_exists(process.pid)


async def test_a_child_is_started_again_until_it_stays(
    tmp_path: Path, alive: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "_FIRST_BACKOFF_SECONDS", 0.001)
    program = "open('ran', 'a').write('x')\nif len(open('ran').read()) in (1, 4): " + FOREVER

    def runs() -> int:
        with contextlib.suppress(FileNotFoundError):
            return len((tmp_path / "ran").read_text(encoding="utf-8"))
        return 0

    stayed = asyncio.Event()

    async def stays() -> bool:
        if runs() == 4:
            stayed.set()
        return runs() in {1, 4}

    keeper = Keeper(make(tmp_path, alive, program, ready=stays))
    await keeper.start()
    assert keeper.pid is not None
    os.kill(keeper.pid, signal.SIGKILL)
    async with asyncio.timeout(20):
        await stayed.wait()
    await keeper.stop()
    assert keeper.pid is not None
    assert not psutil.pid_exists(keeper.pid)


@pytest.mark.parametrize("watched", [False, True])
def test_a_child_dies_with_a_killed_parent(tmp_path: Path, watched: bool) -> None:
    program = textwrap.dedent(
        f"""
        import asyncio, os, signal, sys
        from pathlib import Path
        from gateway.embedded.children import Child, ChildProcess
        async def main():
            here = Path({str(tmp_path)!r})
            process = ChildProcess(Child(
                name="engine", argv=(sys.executable, "-I", "-S", "-c", {FOREVER!r}), cwd=here,
                log=here / "engine.log", alive=os.open(here / "alive", os.O_RDWR | os.O_CREAT),
                watched={watched}, death_signal=signal.SIGTERM))
            await process.start()
            print("up", flush=True)
            await process.wait()
        asyncio.run(main())
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=CHECKOUT
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "up\n"
        family = psutil.Process(parent.pid).children(recursive=True)
        assert family
        parent.kill()
        wait_until_gone(family)


def test_a_large_log_is_moved_aside_and_written_on(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    writing = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(writing, b"x" * 100)
    bound_log(log)
    assert log.stat().st_size == 100
    os.truncate(log, 5_000_000)
    bound_log(log)
    os.write(writing, b"after")
    os.close(writing)
    assert log.read_bytes() == b"after"
    assert (tmp_path / "engine.log.1").stat().st_size == 5_000_000
    assert (tmp_path / "engine.log.1").stat().st_mode & 0o777 == 0o600
    bound_log(tmp_path / "none.log")
