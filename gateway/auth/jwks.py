"""The keys of one issuer: fetched, kept for minutes, and looked for again when one is unknown.

Rules this module keeps:
- Keys are believed for ten minutes. When the issuer is away they serve for an hour more, then
  nothing does: a token that cannot be verified is not accepted, and the caller may ask again.
- A set replaces the one before whole: a key that was rotated out verifies nothing from then on.
- An unknown key id makes one fetch in 30 seconds, whoever asks and however often; those who ask
  meanwhile wait for the same fetch.
- A key is used only as what it is published for; two keys of one id are both not used.
- Metadata counts only if the issuer in it is the issuer, byte for byte.

Source: RFC 7517; RFC 8414, 3.3; OpenID Connect Discovery 1.0, 4.3; requirement B6.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from core.errors import Unavailable
from gateway.auth.fetch import FetchFailed
from gateway.auth.issuers import Issuer, url_allowed
from gateway.auth.jws import MAX_KID_CHARS, Refused, VerifyingKey, json_object, public_key

FRESH_SECONDS = 600.0
STALE_SECONDS = 3600.0
UNKNOWN_SECONDS = 30.0
RETRY_SECONDS = 5.0
"""So long an issuer that did not answer is left alone."""
_MOST_KEYS = 100

_log = logging.getLogger("memwarden.auth")

Fetch = Callable[[str], Awaitable[bytes]]


class IssuerKeys:
    """The keys of one issuer. Belongs to one event loop.

    Args:
        issuer: where its keys are, or how they are found.
        fetch: reads a URL; raises FetchFailed.
        monotonic: seconds, for ages.
    """

    def __init__(
        self, issuer: Issuer, fetch: Fetch, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._issuer = issuer
        self._fetch = fetch
        self._monotonic = monotonic
        self._keys: Mapping[str, VerifyingKey] | None = None
        self._fetched_at = 0.0
        self._tried_at: float | None = None
        self._searched_at: float | None = None
        self._found_uri: str | None = None
        self._running: asyncio.Task[None] | None = None

    async def key(self, kid: str) -> VerifyingKey:
        """Return the key of an id.

        Raises:
            Refused: the issuer has published none of this id.
            Unavailable: its keys are not known, or too old, and it does not answer.
        """
        asked = False
        if self._age() >= FRESH_SECONDS and (self._running is not None or self._may_try()):
            await self._renew()
            asked = True
        if self._keys is None or self._age() >= FRESH_SECONDS + STALE_SECONDS:
            raise Unavailable
        found = self._keys.get(kid)
        if found is None and not asked and (self._running is not None or self._may_search()):
            await self._renew()
            found = self._keys.get(kid)
        if found is None:
            raise Refused("kid-unknown")
        return found

    def _age(self) -> float:
        return float("inf") if self._keys is None else self._monotonic() - self._fetched_at

    def _may_try(self) -> bool:
        return self._tried_at is None or self._monotonic() - self._tried_at >= RETRY_SECONDS

    def _may_search(self) -> bool:
        now = self._monotonic()
        if self._searched_at is not None and now - self._searched_at < UNKNOWN_SECONDS:
            return False
        self._searched_at = now
        return True

    async def _renew(self) -> None:
        """Fetch the keys, together with whoever else does; keeps the old ones when that fails."""
        if self._running is None:
            self._running = asyncio.create_task(self._load())
        # Shielded: one caller who hangs up does not end the fetch of the others.
        await asyncio.shield(self._running)

    async def _load(self) -> None:
        try:
            self._tried_at = self._monotonic()
            uri = self._issuer.jwks_uri or self._found_uri or await self._discovered()
            self._keys = _keys_in(await self._fetch(uri), self._issuer)
            self._found_uri, self._fetched_at = uri, self._monotonic()
        except (FetchFailed, Refused) as err:
            self._found_uri = None  # it may have moved; ask its metadata again
            _log.warning("keys of issuer %s: %s", self._issuer.name, type(err).__name__)
        finally:
            self._running = None

    async def _discovered(self) -> str:
        fault: Exception = FetchFailed()
        for url in _metadata_urls(self._issuer.issuer):
            try:
                metadata = json_object(await self._fetch(url))
            except (FetchFailed, Refused) as err:
                fault = err
                continue
            uri = metadata.get("jwks_uri")
            if metadata.get("issuer") != self._issuer.issuer or not isinstance(uri, str):
                raise FetchFailed
            if not url_allowed(uri, allow_http_loopback=self._issuer.allow_http_loopback):
                raise FetchFailed
            return uri
        raise fault


def _metadata_urls(issuer: str) -> Iterator[str]:
    """Yield where an issuer's metadata may be: OpenID's place, then OAuth's (RFC 8414, 3.1)."""
    parts = urlsplit(issuer)
    base, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    yield f"{base}{path}/.well-known/openid-configuration"
    yield f"{base}/.well-known/oauth-authorization-server{path}"


def _keys_in(raw: bytes, issuer: Issuer) -> Mapping[str, VerifyingKey]:
    """Return the usable keys of a set by their ids. Raises: Refused (it is no set)."""
    published = json_object(raw).get("keys")
    if not isinstance(published, list) or len(published) > _MOST_KEYS:
        raise Refused("keys")
    found: dict[str, list[VerifyingKey]] = {}
    for each in published:
        named = _named(each, issuer)
        if named is not None:
            found.setdefault(named[0], []).append(named[1])
    return {kid: keys[0] for kid, keys in found.items() if len(keys) == 1}


def _named(published: Any, issuer: Issuer) -> tuple[str, VerifyingKey] | None:  # noqa: ANN401 - JSON
    if not isinstance(published, dict):
        return None
    kid, key = published.get("kid"), public_key(published)
    if key is None or not isinstance(kid, str) or not 0 < len(kid) <= MAX_KID_CHARS:
        return None
    return (kid, key) if key.algorithms & issuer.algorithms else None
