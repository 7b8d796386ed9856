"""What the project's texts must not say."""

import re

from tests.architecture.source import ROOT

TEXTS = frozenset({".cfg", ".lock", ".md", ".py", ".sql", ".toml", ".yaml", ".yml", ""})
MADE = frozenset({".git", ".venv", "dist", "build", "node_modules"})
# A registry is reached through a client's own settings, never by a name in the project.
REGISTRY = re.compile(
    r"\b(?:[\w-]+\.)*(?:pypi|pythonhosted|npmjs|yarnpkg|crates|golang|maven|debian)\.(?:org|com|io)\b"
)


def test_no_text_names_a_registry():
    found = []
    for path in sorted(ROOT.rglob("*")):
        inside = path.relative_to(ROOT)
        made = MADE & set(inside.parts) or any(part.endswith("_cache") for part in inside.parts)
        if made or path.suffix not in TEXTS or not path.is_file():
            continue
        if REGISTRY.search(path.read_text("utf-8", errors="replace")):
            found.append(inside.as_posix())
    assert found == []


def test_a_registry_is_recognised():
    assert REGISTRY.search("see https://files." + "pythonhosted" + ".org/packages")
    assert not REGISTRY.search("https://memwarden.dev/problems/invalid")


def test_the_lock_pins_every_line_and_names_no_index():
    lines = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    stray = [
        line for line in lines if not re.match(r"[a-zA-Z0-9._-]+==\S+|    --hash=sha256:", line)
    ]
    pins = [line for line in lines if not line.startswith(" ")]
    assert stray == []
    assert pins
    assert all(line.endswith("\\") for line in pins)
