"""The database roles and who may connect where.

- Nobody logs in as the superuser: its random password is made by `initdb` for an instant, then
  removed, and no line of `pg_hba.conf` names it. Repairs run `postgres --single` with the gateway
  stopped.
- No role here is a superuser, none bypasses row-level security, and the ones that serve requests
  own nothing.
- The key store is a database of its own; its role reaches nothing else, and no other role reaches
  it.
- PostgreSQL is given SCRAM verifiers, never a password.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping

RECORD = "memwarden"
KEY_STORE = "memwarden_keys"
OWNER = "memwarden_owner"
# Owns one SECURITY DEFINER function, and so only needs to be: nobody logs in as it.
LOOK_UP = "memwarden_auth"
# Each serves one kind of work; what it may touch, the migrations say.
WORKERS = ("memwarden_app", "memwarden_index", "memwarden_seal", "memwarden_purge")
KEY_KEEPER = "memwarden_keys"
LOGINS = (OWNER, *WORKERS, KEY_KEEPER)

# PostgreSQL's default. The passwords have 256 random bits: more rounds would buy nothing.
_SCRAM_ROUNDS = 4096
_RESTRICTED = "NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"


def database_of(role: str) -> str:
    """Return the one database that `role` may connect to."""
    return KEY_STORE if role == KEY_KEEPER else RECORD


def host_rules() -> str:
    """Return `pg_hba.conf`: who may connect where. What no line names is refused."""
    others = ",".join((OWNER, *WORKERS))
    return f"local {RECORD} {others} scram-sha-256\nlocal {KEY_STORE} {KEY_KEEPER} scram-sha-256\n"


def make_databases() -> list[str]:
    """Return the statements that a new cluster runs once, after `make_roles`."""
    workers = ", ".join(WORKERS)
    return [
        f"CREATE DATABASE {RECORD} OWNER {OWNER} STRATEGY file_copy",
        f"CREATE DATABASE {KEY_STORE} OWNER {KEY_KEEPER} STRATEGY file_copy",
        f"REVOKE ALL ON DATABASE {RECORD}, {KEY_STORE}, template1, postgres FROM PUBLIC",
        f"GRANT CONNECT ON DATABASE {RECORD} TO {workers}",
        "ALTER ROLE postgres PASSWORD NULL",
    ]


def make_roles(passwords: Mapping[str, str]) -> list[str]:
    """Return the statements that make the roles that are not there and set these `passwords`."""
    statements = [_make_role(LOOK_UP, "NOLOGIN"), *(_make_role(role, "LOGIN") for role in LOGINS)]
    # A migration hands the look-up function over to the role that owns it.
    statements.append(f"GRANT {LOOK_UP} TO {OWNER} WITH INHERIT FALSE, SET TRUE")
    statements += [
        f"ALTER ROLE {role} PASSWORD '{_verifier(password)}'"
        for role, password in passwords.items()
    ]
    return statements


def _make_role(role: str, login: str) -> str:
    return (
        f"DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') "
        f"THEN CREATE ROLE {role} {login} {_RESTRICTED}; END IF; END $$"
    )


def _verifier(password: str) -> str:
    """Return the SCRAM-SHA-256 verifier of an ASCII password. Source: RFC 5802, 3; RFC 7677."""
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode("ascii"), salt, _SCRAM_ROUNDS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    served = hmac.digest(salted, b"Server Key", "sha256")
    salt64, stored64, served64 = (base64.b64encode(it).decode() for it in (salt, stored, served))
    return f"SCRAM-SHA-256${_SCRAM_ROUNDS}:{salt64}${stored64}:{served64}"
