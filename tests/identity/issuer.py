"""An issuer of tokens over loopback HTTP: real keys, real metadata, and faults on demand.

It signs whatever it is told to, so that a test can make every token that a thief, a careless
provider or a hostile issuer could make.
"""

import base64
import contextlib
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jwk
from joserfc.jws import JWSRegistry
from typing_extensions import override

AUDIENCE = "https://memory.example/mcp"
MODELS = JWSRegistry.algorithms
NAMES = {"EdDSA": "Ed25519"}  # joserfc warns of the general name


def b64(data: bytes | str | dict[str, Any]) -> str:
    """base64url without padding; an object is written as JSON first."""
    if isinstance(data, dict):
        data = json.dumps(data)
    raw = data.encode() if isinstance(data, str) else data
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def new_key(algorithm: str = "RS256") -> jwk.Key:
    if algorithm.startswith(("RS", "PS")):
        return jwk.generate_key("RSA", 2048)
    if algorithm.startswith("ES"):
        return jwk.generate_key("EC", "P-256" if algorithm == "ES256" else "P-384")
    return jwk.generate_key("OKP", "Ed25519")


def sign(
    header: bytes | str | dict[str, Any],
    claims: bytes | str | dict[str, Any],
    key: jwk.Key,
    algorithm: str,
) -> str:
    """A compact signature over exactly these bytes."""
    signed = f"{b64(header)}.{b64(claims)}"
    signature = MODELS[NAMES.get(algorithm, algorithm)].sign(signed.encode(), key)
    return f"{signed}.{b64(signature)}"


def public(key: jwk.Key, kid: str, **members: Any) -> dict[str, Any]:
    return {**key.as_dict(private=False), "kid": kid, "use": "sig", **members}


@dataclass
class Asked:
    """One request that the issuer got: path, and headers as one text."""

    path: str
    headers: str


@dataclass
class TestIssuer:
    """Keys, what is published of them, and what was asked for.

    Args:
        published: the key set as it is served.
        fault: instead of an answer: (handler) -> None.
    """

    __test__ = False

    url: str = ""
    audience: str = AUDIENCE
    keys: dict[str, tuple[str, jwk.Key]] = field(default_factory=dict)
    published: dict[str, Any] = field(default_factory=lambda: {"keys": []})
    metadata: dict[str, Any] = field(default_factory=dict)
    fault: Callable[[BaseHTTPRequestHandler], None] | None = None
    asked: list[Asked] = field(default_factory=list)

    def add_key(self, kid: str, algorithm: str = "RS256") -> jwk.Key:
        key = new_key(algorithm)
        self.keys[kid] = (algorithm, key)
        self.published["keys"].append(public(key, kid))
        return key

    def retire(self, kid: str) -> None:
        """Publish a key no longer; it can still sign."""
        self.published["keys"] = [key for key in self.published["keys"] if key["kid"] != kid]

    def claims(self, **changes: Any) -> dict[str, Any]:
        """The claims of a good token; a change to None leaves one out."""
        now = int(time.time())  # noqa: TID251 - an issuer elsewhere has a clock of its own
        whole = {
            "iss": self.url,
            "aud": self.audience,
            "sub": "alice",
            "client_id": "agent",
            "iat": now,
            "nbf": now,
            "exp": now + 600,
            "jti": f"t{time.monotonic_ns()}",
            "scope": "memory:read memory:write memory:curate memory:forget audit",
            "groups": ["everything"],
        } | changes
        return {name: value for name, value in whole.items() if value is not None}

    def token(self, kid: str = "", header: dict[str, Any] | None = None, **changes: Any) -> str:
        """A signed token; `header` changes the header, `changes` the claims."""
        kid = kid or next(iter(self.keys))
        algorithm, key = self.keys[kid]
        whole = {"alg": algorithm, "typ": "at+jwt", "kid": kid} | (header or {})
        whole = {name: value for name, value in whole.items() if value is not None}
        return sign(whole, self.claims(**changes), key, algorithm)

    def paths(self, ending: str = "/keys") -> int:
        """How often a path with this ending was asked for."""
        return sum(asked.path.endswith(ending) for asked in self.asked)

    def settings(self, **changes: Any) -> dict[str, Any]:
        """What an operator writes of it."""
        return {
            "name": "test",
            "issuer": self.url,
            "audience": self.audience,
            "algorithms": ["RS256", "ES256", "EdDSA"],
            "tenant_claim": "tenant",
            "roles_claim": "groups",
            "roles": {
                "everything": ["reader", "writer", "curator", "auditor"],
                "readers": ["reader"],
                "writers": ["writer"],
            },
            "allow_http_loopback": True,
        } | changes


@contextlib.contextmanager
def running_issuer(*algorithms: str) -> Iterator[TestIssuer]:
    """Serve an issuer on a free port; its keys are called by their algorithms."""
    issuer = TestIssuer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            issuer.asked.append(Asked(self.path, str(self.headers)))
            if issuer.fault is not None:
                issuer.fault(self)
            elif self.path == "/keys":
                answer(self, json.dumps(issuer.published).encode())
            elif self.path == "/.well-known/openid-configuration" and issuer.metadata:
                answer(self, json.dumps(issuer.metadata).encode())
            else:
                answer(self, b"{}", status=404)

        @override
        def log_message(self, format: str, *arguments: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    issuer.url = f"http://127.0.0.1:{server.server_port}"
    issuer.metadata = {"issuer": issuer.url, "jwks_uri": f"{issuer.url}/keys"}
    for algorithm in algorithms or ("RS256",):
        issuer.add_key(algorithm, algorithm)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def answer(
    handler: BaseHTTPRequestHandler, body: bytes, *, status: int = 200, **headers: str
) -> None:
    """Send one reply and hang up."""
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.send_header("Connection", "close")
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    with contextlib.suppress(OSError):
        handler.wfile.write(body)
    handler.close_connection = True


def proof(key: jwk.Key, algorithm: str, token: str, method: str, url: str, **changes: Any) -> str:
    """A proof of possession for one request; names with `header_` change the header."""
    header: dict[str, Any] = {
        "typ": "dpop+jwt",
        "alg": algorithm,
        "jwk": key.as_dict(private=False),
    }
    claims: dict[str, Any] = {
        "jti": f"p{time.monotonic_ns()}",
        "htm": method,
        "htu": url,
        "iat": int(time.time()),  # noqa: TID251 - a client has a clock of its own
        "ath": b64(hashlib.sha256(token.encode()).digest()),
    }
    for name, value in changes.items():
        if name.startswith("header_"):
            header[name.removeprefix("header_")] = value
        else:
            claims[name] = value
    header = {name: value for name, value in header.items() if value is not None}
    claims = {name: value for name, value in claims.items() if value is not None}
    return sign(header, claims, key, algorithm)
