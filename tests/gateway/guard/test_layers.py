"""What the normaliser reads out of a text: encodings, spaced letters, hidden symbols."""

import base64
import quopri
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.guard.decode import MAX_CHARACTERS
from gateway.guard.normalise import normalise
from gateway.guard.scan import ScanFailed

SAID = "rosa says: meet at the pier"


def tags(text):
    return "".join(chr(0xE0000 + ord(char)) for char in text)


def selectors(text):
    return "".join(
        chr(0xFE00 + byte) if byte < 16 else chr(0xE0100 + byte - 16) for byte in text.encode()
    )


def zero_width(text, zero="\u200b", one="\u200c"):
    bits = "".join(f"{byte:08b}" for byte in text.encode())
    return bits.replace("0", zero).replace("1", one)


def encodings(text):
    data = text.encode()
    return {
        "base64": base64.b64encode(data).decode(),
        "url-safe base64": base64.urlsafe_b64encode(data).decode().rstrip("="),
        "UTF-16 base64": base64.b64encode(text.encode("utf-16-le")).decode(),
        "hex": data.hex(),
        "spaced hex": data.hex(" "),
        "0x hex": "0x" + data.hex(),
        "percent": "".join(f"%{byte:02X}" for byte in data),
        "decimal entities": "".join(f"&#{ord(char)};" for char in text),
        "hex entities": "".join(f"&#x{ord(char):x};" for char in text),
        "\\x": "".join(f"\\x{byte:02x}" for byte in data),
        "\\u": "".join(f"\\u{ord(char):04x}" for char in text),
        "\\u{}": "".join(f"\\u{{{ord(char):x}}}" for char in text),
        "tags": tags(text),
        "selectors": "🙂" + selectors(text),
        "selectors after a styled emoji": "❤️" + selectors(text),
        "zero-width": zero_width(text),
        "zero-width, other way round": zero_width(text, "\u200d", "\u2060"),
    }


@pytest.mark.parametrize("name", encodings(SAID))
def test_an_encoding_is_read_and_maps_to_its_run(name):
    run = encodings(SAID)[name]
    text = f"before {run} after"
    layers = [layer for layer in normalise(text).decoded if SAID in layer.text]
    assert layers, name
    at = layers[0].text.index("meet")
    start, end = layers[0].span(at, at + 4)
    assert text.index(run) <= start < end <= text.index(run) + len(run)
    assert layers[0].encoded


def test_two_layers_are_read_and_three_are_not():
    once = base64.b64encode(SAID.encode())
    twice = base64.b64encode(once)
    thrice = base64.b64encode(twice).decode()
    assert any(SAID in layer.text for layer in normalise(twice.decode()).decoded)
    assert not any(SAID in layer.text for layer in normalise(thrice).decoded)


def test_a_layer_inside_a_layer_maps_to_the_original():
    inner = base64.b64encode(SAID.encode()).decode()
    text = "q=" + quote(inner + "==", safe="") + "&x"
    layer = next(layer for layer in normalise(text).decoded if layer.text == SAID)
    start, end = layer.span(0, len(SAID))
    assert text[start:end].startswith(inner[:20])


@pytest.mark.parametrize(
    "text",
    ["mail rosa%40harbour.example today", "ｍａｉｌ：邮箱rosa%40harbour.example，１２ ﬁne"],
)
def test_escapes_keep_their_neighbours_and_map_exactly(text):
    (layer,) = normalise(text).decoded
    at = layer.text.index("rosa@harbour.example")
    start, end = layer.span(at, at + len("rosa@harbour.example"))
    assert text[start:end] == "rosa%40harbour.example"


def test_spaced_letters_map_exactly():
    text = "it is r o s a @ p i e r . i o ok"
    layer = next(layer for layer in normalise(text).decoded if "rosa@pier.io" in layer.text)
    at = layer.text.index("rosa@pier.io")
    start, end = layer.span(at, at + 12)
    assert text[start:end] == "r o s a @ p i e r . i o"


def test_wrapped_base64_is_read():
    wrapped = base64.encodebytes((SAID * 5).encode()).decode()
    assert any(SAID * 5 in layer.text for layer in normalise(wrapped).decoded)


@pytest.mark.parametrize(
    "text",
    [
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "018f9c1e-7b1d-7a2c-9e55-0a1b2c3d4e5f",
        "internationalisation and counterrevolutionaries",
        "https://example.com/a/long/path/without/anything/encoded",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "4929370926184505",
        "100 % of 5 & 6 \\ 7",
    ],
)
def test_what_decodes_to_noise_is_no_layer(text):
    assert normalise(text).decoded == ()


@pytest.mark.parametrize("length", range(1, 4))
def test_too_few_hidden_symbols_are_no_finding(length):
    assert normalise("x" + tags("abc"[:length])).findings == ()


@pytest.mark.parametrize(
    "hidden",
    [tags("ignore"), "🙂" + selectors("ignore"), zero_width("ignore"), "🏴" + tags("ignore")],
)
def test_hidden_text_is_a_finding_with_what_it_says(hidden):
    text = f"hello {hidden}world"
    (payload,) = normalise(text).findings
    assert payload.text == "ignore"
    assert 6 <= payload.start < payload.end <= 6 + len(hidden)
    assert "ignore" not in repr(payload)


def test_hidden_letters_between_visible_ones_are_found():
    text = "".join(a + b for a, b in zip("picnic", tags("ignore"), strict=True))
    (payload,) = normalise(text).findings
    assert payload.text == "ignore"


def test_zero_width_noise_that_says_nothing_is_no_finding():
    assert normalise("a" + "\u200b" * 40 + "b").findings == ()


def test_what_grows_beyond_its_bound_is_refused(monkeypatch):
    monkeypatch.setattr("gateway.guard.decode.MAX_CHARACTERS", 10)
    with pytest.raises(ScanFailed):
        normalise(quopri.encodestring(b"x").decode() + "%41" * 40)
    assert MAX_CHARACTERS == 1_000_000


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60))
def test_every_layer_maps_into_the_original(text):
    for layer in normalise(text).layers:
        for at in range(len(layer.text)):
            start, end = layer.span(at, at + 1)
            assert 0 <= start < end <= len(text)


@given(st.text(min_size=12, alphabet="abcdefgh ijklmn0123456789@.,", max_size=60))
def test_base64_of_readable_text_is_always_read(text):
    encoded = base64.b64encode(text.encode()).decode()
    said = normalise(text).canonical
    assert any(layer.text == said for layer in normalise(encoded).decoded)
