"""An endpoint that misbehaves, over a real loopback connection."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from core.adapters.embed.facts import ModelFacts
from core.adapters.embed.openai import OpenAIEmbedder
from core.errors import Unavailable

FACTS = ModelFacts(name="small", dimension=3, question_mark="q: ", passage_mark="p: ")
Answer = tuple[int, dict[str, str], bytes]


def rows(*vectors: Any, **more: Any) -> Answer:
    data = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
    return 200, {}, json.dumps({"data": data, **more}).encode()


class Endpoint:
    """Gives the prepared answers in turn, the last one for ever; keeps what it was asked."""

    def __init__(self) -> None:
        self.answers: list[Answer | None] = []
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.release = threading.Event()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                endpoint.headers.append(dict(self.headers))
                body = self.rfile.read(int(self.headers["Content-Length"]))
                endpoint.asked.append({"path": self.path, **json.loads(body)})
                answer = endpoint.answers[min(len(endpoint.asked), len(endpoint.answers)) - 1]
                if answer is None:
                    endpoint.release.wait(30)
                    return
                status, headers, content = answer
                self.send_response_only(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/"

    def close(self) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    yield made
    made.close()


@pytest.fixture
async def remote(endpoint):
    made = OpenAIEmbedder(endpoint.url, FACTS, api_key="sesame", timeout_seconds=30)
    yield made
    await made.aclose()


async def test_it_asks_as_the_interface_says_and_keeps_to_unit_length(endpoint, remote):
    endpoint.answers = [rows([3, 0, 4], [0, 2, 0], usage={"total_tokens": 4}, object="list")]
    vectors = await remote.passages(["one", "two"])
    np.testing.assert_allclose(vectors, np.array([[0.6, 0, 0.8], [0, 1, 0]]), atol=1e-6)
    assert endpoint.asked == [
        {
            "path": "/v1/embeddings",
            "model": "small",
            "input": ["p: one", "p: two"],
            "encoding_format": "float",
        }
    ]
    assert endpoint.headers[0]["Authorization"] == "Bearer sesame"
    endpoint.answers = [rows([1, 0, 0])]
    await remote.query("three")
    assert endpoint.asked[1]["input"] == ["q: three"]


async def test_rows_are_put_in_the_order_of_the_texts(endpoint, remote):
    data: list[Any] = [{"index": 1, "embedding": [0, 1, 0]}, {"index": 0, "embedding": [1, 0, 0]}]
    endpoint.answers = [(200, {}, json.dumps({"data": data}).encode())]
    assert (await remote.passages(["a", "b"])).tolist() == [[1, 0, 0], [0, 1, 0]]


async def test_many_texts_go_in_several_requests(endpoint, remote):
    endpoint.answers = [rows(*[[1, 0, 0]] * 64), rows(*[[0, 1, 0]] * 6)]
    vectors = await remote.passages(["text"] * 70)
    assert [len(ask["input"]) for ask in endpoint.asked] == [64, 6]
    assert vectors[63].tolist() == [1, 0, 0]
    assert vectors[64].tolist() == [0, 1, 0]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
async def test_what_may_pass_is_tried_again(endpoint, remote, status):
    endpoint.answers = [(status, {}, b"{}"), rows([1, 0, 0])]
    assert (await remote.query("again")).tolist() == [1, 0, 0]
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize("status", [301, 307, 400, 401, 403, 404, 413, 422])
async def test_what_will_not_pass_is_not_tried_again(endpoint, remote, status):
    endpoint.answers = [(status, {"Location": endpoint.url + "elsewhere"}, b"a secret")]
    with pytest.raises(Unavailable) as refused:
        await remote.query("once")
    assert len(endpoint.asked) == 1
    assert "secret" not in str(refused.value)


async def test_there_is_no_waiting_past_the_deadline(endpoint):
    remote = OpenAIEmbedder(endpoint.url, FACTS, timeout_seconds=5)
    endpoint.answers = [(429, {"Retry-After": "60"}, b"")]
    with pytest.raises(Unavailable):
        await remote.query("slow down")
    assert len(endpoint.asked) == 1
    await remote.aclose()


async def test_an_endpoint_that_never_answers_is_given_up(endpoint):
    remote = OpenAIEmbedder(endpoint.url, FACTS, timeout_seconds=0.2)
    endpoint.answers = [None]
    async with asyncio.timeout(20):
        with pytest.raises(Unavailable):
            await remote.query("hello?")
    await remote.aclose()


async def test_an_endpoint_that_is_not_there_is_given_up(endpoint):
    remote = OpenAIEmbedder("http://127.0.0.1:9/v1", FACTS, timeout_seconds=0.3)
    with pytest.raises(Unavailable):
        await remote.query("anybody?")
    await remote.aclose()


UNSOUND: dict[str, Callable[[], Answer]] = {
    "no JSON": lambda: (200, {}, b"<html>"),
    "nothing": lambda: (200, {}, b""),
    "a list": lambda: (200, {}, b"[]"),
    "an error": lambda: (200, {}, b'{"error": {"message": "no"}}'),
    "no rows": rows,
    "a row too many": lambda: rows([1, 0, 0], [1, 0, 0]),
    "another dimension": lambda: rows([1, 0]),
    "not finite": lambda: rows([1, float("nan"), 0]),
    "infinite": lambda: rows([1, float("inf"), 0]),
    "no direction": lambda: rows([0, 0, 0]),
    "words": lambda: rows(["a", "b", "c"]),
    "base64": lambda: rows("AAAA"),
    "null": lambda: rows(None),
    "another index": lambda: (200, {}, b'{"data": [{"index": 7, "embedding": [1, 0, 0]}]}'),
    "an index that is none": lambda: (200, {}, b'{"data": [{"index": "0", "embedding": [1,0,0]}]}'),
    "deep": lambda: (200, {}, b"[" * 100_000),
}


@pytest.mark.parametrize("answer", UNSOUND.values(), ids=UNSOUND)
async def test_an_unsound_answer_is_no_answer(endpoint, remote, answer):
    endpoint.answers = [answer()]
    with pytest.raises(Unavailable):
        await remote.query("well?")
    assert len(endpoint.asked) == 1


def test_the_token_is_in_no_repr(endpoint):
    assert "sesame" not in repr(vars(OpenAIEmbedder(endpoint.url, FACTS, api_key="sesame")))
