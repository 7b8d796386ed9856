"""The last step before an engine: become its user, promise to die with the gateway, be the engine.

Run as `python -I -S shim.py PARENT SIGNAL UID GID WATCH COMMAND…` (numbers; -1 for none). It
imports the standard library only, and all of it before it changes user: the interpreter may lie
where that user cannot read.

- A program of its own, because code between fork and exec in a process with threads may deadlock.
- The death signal is set after the user change, which would clear it (prctl(2)); then the parent is
  looked at once more, since it may have died before the signal was set.
- No new privileges, and no core dump: memory holds what disks must not.
- Without a death signal (macOS) the shim stays, and ends the engine when the pipe WATCH, whose
  other end only the gateway holds, is closed.
"""

import contextlib
import ctypes
import os
import resource
import select
import signal
import sys

# Source: linux/prctl.h.
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
# Source: sysexits.h, EX_OSERR.
_FAILED = 71
_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
# A shell's way to say "ended by a signal".
_BY_SIGNAL = 128


def main(arguments: list[str]) -> int:
    """Become the command in `arguments`; returns when that fails, or afterwards when it watches."""
    parent, death_signal, uid, gid, watch = (int(number) for number in arguments[:5])
    command = arguments[5:]
    libc = ctypes.CDLL(None, use_errno=True)
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if uid >= 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if watch >= 0:
        return _watch_over(command, watch, death_signal)
    promised = libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    if not promised or libc.prctl(_PR_SET_PDEATHSIG, death_signal, 0, 0, 0) != 0:
        return _FAILED
    if os.getppid() != parent:
        return _FAILED
    _become(command)
    return _FAILED


def _become(command: list[str]) -> None:
    # What is ignored stays so across exec: Python ignores two signals, and whoever started the
    # gateway in the background may have had it ignore more.
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):  # some belong to the C library
            signal.signal(number, signal.SIG_DFL)
    os.execv(command[0], command)  # noqa: S606 - no shell is the point


def _watch_over(command: list[str], watch: int, death_signal: int) -> int:
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for descriptor in (watch, woken, wake):
            os.close(descriptor)
        try:
            _become(command)
        finally:
            os._exit(_FAILED)
    for forwarded in _FORWARDED:
        signal.signal(forwarded, lambda number, _: os.kill(child, number))
    watched = [watch, woken]
    while True:
        ready, _, _ = select.select(watched, [], [])
        if woken in ready:
            os.read(woken, 1)
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else _BY_SIGNAL - code
        if watch in ready and not os.read(watch, 1):
            watched.remove(watch)
            os.kill(child, death_signal)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
