"""What settings must be before server mode starts; every fault names its setting, never a value.

Rules this module keeps:
- What is missing is a fault everywhere. What is merely unsafe (no TLS, a weak or shared secret) is
  one in `production`.
- A secret is judged by what is left of it without the words that placeholders are made of.
- An address is read as the driver reads it, or refused: what is not understood is not safe.

Source: requirement B16; CWE-1188 (insecure default initialization), CWE-521 (weak password).
"""

import base64
import binascii
from collections.abc import Iterator
from typing import Literal
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from pydantic import SecretStr

from core.errors import Unavailable
from gateway.auth.keys import parse_credential
from gateway.settings import PREFIX, Settings, SettingsInvalid
from gateway.vault.epochs import EpochKeys
from gateway.vault.kek import read_key_file
from gateway.vault.secret import SECRET_BYTES

Command = Literal["serve", "worker", "migrate"]
Fault = tuple[str, str]
"""The name of a setting, and what is wrong with it."""

_DATABASES = {
    "database_url": "memwarden_app",
    "database_index_url": "memwarden_index",
    "database_seal_url": "memwarden_seal",
}
_NEEDED: dict[Command, tuple[str, ...]] = {
    "serve": (*_DATABASES, "keystore_url", "redis_url", "qdrant_url", "epoch_keys"),
    "worker": (*_DATABASES, "keystore_url", "qdrant_url", "epoch_keys", "audit_anchor"),
    "migrate": ("database_owner_url", "keystore_url"),
}
_LEAST_CHARACTERS = 16
_LEAST_DISTINCT = 8
_LEAST_DISTINCT_BYTES = 16
"""Of 32 random bytes some 30 differ; fewer than 16 do in less than one of 10^20 draws."""
_PLACEHOLDERS = (
    *("changeme", "change-me", "change_me", "placeholder", "password", "passwd", "example"),
    *("default", "memwarden", "postgres", "qdrant", "valkey", "redis", "letmein", "qwerty"),
    *("secret", "insert", "replace", "admin", "dummy", "test", "demo", "todo", "your", "here"),
    *("production", "development", "key", "0123456789", "123456789", "12345678", "abcdefgh"),
)
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


def refuse_unsafe(settings: Settings, command: Command) -> None:
    """Refuse settings that `command` cannot run on, or should not.

    Raises:
        SettingsInvalid: names each setting at fault.
    """
    faults = list(_missing(settings, command))
    if command != "migrate":
        faults += _keys(settings)
        faults += _operator(settings)
    if settings.environment == "production":
        faults += _production(settings, command)
    if faults:
        told = dict.fromkeys(f"{PREFIX}{name.upper()}: {fault}" for name, fault in faults)
        raise SettingsInvalid(tuple(told))


def weak(secret: str) -> bool:
    """Return whether `secret` looks like a placeholder, or like something a person made up."""
    left = secret.lower()
    for word in _PLACEHOLDERS:
        left = left.replace(word, "")
    return len(left) < _LEAST_CHARACTERS or len(set(left)) < _LEAST_DISTINCT


def _missing(settings: Settings, command: Command) -> Iterator[Fault]:
    for name in _NEEDED[command]:
        if not getattr(settings, name):
            yield name, f"needed by `memwarden {command}`"
    if command != "migrate" and settings.kek is None and settings.kek_file is None:
        yield "kek_file", f"needed by `memwarden {command}`, or {PREFIX}KEK"


def _keys(settings: Settings) -> Iterator[Fault]:
    if settings.kek is not None and settings.kek_file is not None:
        yield "kek", f"give this or {PREFIX}KEK_FILE, not both"
    if settings.kek is not None:
        try:
            key = base64.b64decode(settings.kek.get_secret_value(), validate=True)
        except (binascii.Error, ValueError):
            key = b""
        yield from _root_key("kek", key)
    if settings.kek_file is not None:
        try:
            yield from _root_key("kek_file", read_key_file(settings.kek_file))
        except Unavailable as err:
            yield "kek_file", err.detail
    if settings.epoch_keys is not None:
        try:
            EpochKeys.in_folder(settings.epoch_keys)
        except Unavailable as err:
            yield "epoch_keys", err.detail
    if settings.audit_anchor is not None and not settings.audit_anchor.parent.is_dir():
        yield "audit_anchor", "its folder is not there"


def _root_key(name: str, key: bytes) -> Iterator[Fault]:
    if len(key) != SECRET_BYTES:
        yield name, "must be 32 bytes, in base64 where it is a value"
    elif len(set(key)) < _LEAST_DISTINCT_BYTES or all(0x20 <= byte < 0x7F for byte in key):  # noqa: PLR2004 - ASCII's printable signs
        yield name, "is not random; make a new one with `memwarden keygen`"


def _operator(settings: Settings) -> Iterator[Fault]:
    if settings.operator_key is not None and settings.operator_key_file is not None:
        yield "operator_key", f"give this or {PREFIX}OPERATOR_KEY_FILE, not both"
    name = "operator_key" if settings.operator_key_file is None else "operator_key_file"
    try:
        given = settings.given_operator_key()
    except SettingsInvalid:
        yield name, "cannot be read"
        return
    if given is not None:
        parsed = parse_credential(given)
        if parsed is None:
            yield name, "is not spelled as `memwarden keygen` makes it"
        elif len(set(parsed.secret)) < _LEAST_DISTINCT or len(set(parsed.key_id)) < 4:  # noqa: PLR2004 - of 16 random signs of 32 some 12 differ
            yield name, "is not random; make a new one with `memwarden keygen`"


def _production(settings: Settings, command: Command) -> Iterator[Fault]:
    users: dict[str, str] = {}
    passwords: dict[str, str] = {}
    for name in (*_DATABASES, "database_owner_url", "keystore_url"):
        address = _secret(getattr(settings, name))
        if address is None:
            continue
        yield from _database(name, address)
        parts = _split(address)
        if parts is None:
            continue
        if parts.username and parts.username in users:
            yield name, f"connects as the same role as {PREFIX}{users[parts.username].upper()}"
        users.setdefault(parts.username or "", name)
        if parts.password and parts.password in passwords:
            yield name, f"has the password of {PREFIX}{passwords[parts.password].upper()}"
        passwords.setdefault(parts.password or "", name)
    yield from _apart(settings)
    if settings.database_owner_url is not None and command != "migrate":
        yield "database_owner_url", "belongs to `memwarden migrate` alone"
    if settings.redis_url is not None:
        yield from _redis(_secret(settings.redis_url) or "")
    if settings.qdrant_url is not None:
        yield from _qdrant(settings)
    if settings.audit_anchor is None and command != "migrate":
        yield "audit_anchor", "needed, on storage that no database server writes"
    yield from _web(settings)


def _database(name: str, address: str) -> Iterator[Fault]:
    parts = _split(address)
    if parts is None or parts.scheme not in {"postgresql", "postgres"}:
        yield name, "must be a postgresql:// URL"
        return
    options = parse_qs(parts.query)
    hosts = (options.get("host") or [unquote(parts.hostname or "")])[-1]
    if not hosts:
        yield name, "names no host"
    elif not all(host.startswith("/") for host in hosts.split(",")) and options.get("sslmode", [])[
        -1:
    ] != ["verify-full"]:
        yield name, "must have sslmode=verify-full"
    if not parts.username:
        yield name, "names no role"
    if "password" in options or "user" in options:
        yield name, "role and password belong before the host"
    elif parts.password is None:
        if not {"sslcert", "passfile"} & options.keys():
            yield name, "has neither a password nor a certificate"
    elif weak(unquote(parts.password)):
        yield name, "has a weak or placeholder password"


def _apart(settings: Settings) -> Iterator[Fault]:
    """The keys may not lie in the database that they open."""
    places = []
    for value in (settings.database_url, settings.keystore_url):
        parts = _split(_secret(value) or "")
        if parts is None or not parts.path.strip("/"):
            return
        host = parse_qs(parts.query).get("host", [parts.hostname])[-1]
        places.append((host, parts.port, parts.path))
    if places[0] == places[1]:
        yield "keystore_url", "is the database of the record; the keys need one of their own"


def _redis(address: str) -> Iterator[Fault]:
    parts = _split(address)
    if parts is None or parts.scheme not in {"rediss", "unix"}:
        yield "redis_url", "must be a rediss:// URL, or a unix socket"
        return
    options = parse_qs(parts.query)
    if options.get("ssl_cert_reqs", ["required"])[-1].lower() != "required":
        yield "redis_url", "must verify the server's certificate"
    if options.get("ssl_check_hostname", ["true"])[-1].lower() not in {"true", "1", "yes"}:
        yield "redis_url", "must verify the server's name"
    password = (options.get("password") or [unquote(parts.password or "")])[-1]
    if not password:
        yield "redis_url", "has no password"
    elif weak(password):
        yield "redis_url", "has a weak or placeholder password"


def _qdrant(settings: Settings) -> Iterator[Fault]:
    parts = _split(settings.qdrant_url or "")
    if parts is None or parts.scheme != "https" or not parts.hostname:
        yield "qdrant_url", "must be an https URL"
    elif parts.username or parts.password:
        yield "qdrant_url", f"must hold no credential; give {PREFIX}QDRANT_API_KEY"
    if settings.qdrant_api_key is None:
        yield "qdrant_api_key", "needed: the index must refuse strangers"
    elif weak(settings.qdrant_api_key.get_secret_value()):
        yield "qdrant_api_key", "is weak or a placeholder"


def _web(settings: Settings) -> Iterator[Fault]:
    public = _split(settings.public_url or "")
    if public is None or public.scheme != "https" or not public.hostname or public.username:
        yield "public_url", "must be an https URL in production"
    for origin in settings.allowed_origins:
        parts = _split(origin)
        if parts is None or parts.scheme != "https" or not parts.hostname or "*" in origin:
            yield "allowed_origins", "each must be https://host[:port]"
    traces = _split(settings.otlp_endpoint or "https://none")
    if traces is None or (traces.scheme != "https" and traces.hostname not in _LOCAL):
        yield "otlp_endpoint", "must be an https URL, or on this machine"


def _split(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - raises where it is no number
    except ValueError:
        return None
    return parts


def _secret(value: SecretStr | None) -> str | None:
    return None if value is None else value.get_secret_value()
