"""Whose identity the engines run under.

- Started by an ordinary user, everything runs as that user.
- Started by root, PostgreSQL (which refuses root) and Valkey run as an unprivileged account that
  already exists; no account is made and no number without an account is used, because `initdb`
  looks its own name up.
- A folder keeps the account it was made under, so an account that appears later does not lock it
  out.
"""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

# In order: an operator's own account for us; the account packagers make for this very job; the one
# that every system has. The last two may be shared with other daemons: what lies there is sealed,
# and log-in takes SCRAM.
_ACCOUNTS = ("memwarden", "postgres", "nobody")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The numeric user and group an engine runs under."""

    uid: int
    gid: int

    def reaches(self, path: Path) -> bool:
        """Whether this account may pass every folder above `path`, and `path` itself."""
        return self.first_closed(path) is None

    def first_closed(self, path: Path) -> Path | None:
        """Return the outermost folder on the way to `path`, itself included, closed to it."""
        whole = path.resolve()
        for folder in (*reversed(whole.parents), whole):
            if not self._may_enter(folder.stat()):
                return folder
        return None

    def _may_enter(self, found: os.stat_result) -> bool:
        if found.st_uid == self.uid:
            return bool(found.st_mode & stat.S_IXUSR)
        if found.st_gid == self.gid:
            return bool(found.st_mode & stat.S_IXGRP)
        return bool(found.st_mode & stat.S_IXOTH)


def engine_account(existing: Path) -> Account | None:
    """Return the account the engines run under, or None when that is simply the caller's own.

    Args:
        existing: PostgreSQL's folder, which need not be there yet; its owner is kept.

    Raises:
        LookupError: root, and the system has none of the accounts.
    """
    if os.geteuid() != 0:
        return None
    if existing.exists():
        found = existing.stat()
        if found.st_uid != 0:
            return Account(uid=found.st_uid, gid=found.st_gid)
    for name in _ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(uid=entry.pw_uid, gid=entry.pw_gid)
    raise LookupError(
        f"root cannot run PostgreSQL, and there is no account named {', '.join(_ACCOUNTS)}"
    )
