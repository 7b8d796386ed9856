import re
from pathlib import Path

import pytest

from gateway.vault.labels import PEPPER, Label, ServiceKey, lookup

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = (ROOT / "docs" / "keys.md").read_text(encoding="utf-8")


def rows_under(heading: str) -> list[list[str]]:
    section = DOCUMENT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_no_label_is_used_twice():
    infos = [label.value.info for label in Label]
    assert len(set(infos)) == len(infos)
    assert len(Label.__members__) == len(infos)  # an alias would hide a second use


def test_no_label_begins_another():
    # `Seal` puts the label before what it binds; a label that began another could meet it there.
    infos = sorted(label.value.info for label in Label)
    assert not [a for a in infos for b in infos if a != b and b.startswith(a + "/")]


def test_the_document_lists_exactly_the_labels():
    want = [
        [f"`{label.value.info}`", label.value.parent, label.value.use, label.value.shredder]
        for label in Label
    ]
    assert rows_under("Labels") == want


def test_the_document_lists_exactly_the_service_secrets():
    named = [row[0].strip("`") for row in rows_under("Secrets of the deployment")]
    assert sorted(named) == sorted([PEPPER, *ServiceKey])


def test_labels_are_spelled_in_their_table_alone():
    sources = [*(ROOT / "gateway").rglob("*.py"), *(ROOT / "core").rglob("*.py")]
    spelled = re.compile(r"memwarden/1/(root|epoch|tenant|owner)")
    found = [path.name for path in sources if spelled.search(path.read_text(encoding="utf-8"))]
    assert found == ["labels.py"]


@pytest.mark.parametrize("name", ["spare", "", "tag/", "../owner/terms"])
def test_a_look_up_that_is_not_in_the_table_has_no_key(name):
    with pytest.raises(LookupError):
        lookup("owner", "blind", name)
