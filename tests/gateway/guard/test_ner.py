"""The language model proposes names, only what looks like one counts, and none is fetched."""

from typing import Any

import pytest
import spacy

from gateway.guard.normalise import normalise
from gateway.guard.pii import load_detector
from gateway.guard.pii.ner import LanguageModel, ModelMissing
from gateway.guard.scan import ScanFailed

NAMES = frozenset({"PERSON", "LOCATION", "ORGANIZATION", "NRP"})

PROPOSED = {
    "PERSON": [
        "Oriel Vantongeren",
        "Oriel",
        "oriel vantongeren",
        "96c",
        "Docker",
        "get_user",
        "GET /v1/items",
        "Oriel Vantongeren's",
        "Oriel\nVantongeren",
        "oriel",
    ],
    "GPE": ["Porthwen", "5432"],
    "ORG": ["Quillfeather Ropes", "SKU"],
    "DATE": ["Tuesday"],
}
"""What the model of these tests takes for what: right and wrong, as models do."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of a model that proposes exactly `PROPOSED`."""
    pipeline = spacy.blank("en")
    ruler: Any = pipeline.add_pipe("entity_ruler", name="ner")
    ruler.add_patterns(
        [{"label": label, "pattern": text} for label, texts in PROPOSED.items() for text in texts]
    )
    path = tmp_path_factory.mktemp("model")
    pipeline.to_disk(path)
    return str(path)


@pytest.fixture(scope="module")
def model(folder):
    return LanguageModel(folder)


def names(model, text):
    return [(one.kind, text[one.start : one.end]) for one in model.find(text)]


def test_names_places_and_firms_are_told_under_our_kinds(model):
    assert names(model, "Oriel Vantongeren left Porthwen for Quillfeather Ropes on Tuesday") == [
        ("PERSON", "Oriel Vantongeren"),
        ("LOCATION", "Porthwen"),
        ("ORGANIZATION", "Quillfeather Ropes"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "build 96c failed",
        "run it in Docker now",
        "call get_user first",
        "it logs GET /v1/items twice",
        "listens on 5432",
        "the SKU is out",
        "and oriel said so, She says",
    ],
)
def test_numbers_code_logs_and_plain_words_are_no_names(model, text):
    assert names(model, text) == []


def test_a_name_ends_before_its_genitive_and_at_the_line(model):
    assert names(model, "It is Oriel Vantongeren's boat") == [("PERSON", "Oriel Vantongeren")]


@pytest.mark.parametrize("text", ["ORIEL VANTONGEREN CALLED", "we met oriel vantongeren yesterday"])
def test_a_name_is_told_in_capitals_and_in_small_letters(model, text):
    (found,) = names(model, text)
    assert found[0] == "PERSON"
    assert found[1].lower() == "oriel vantongeren"


def test_a_text_in_another_script_is_not_read(model):
    assert (
        names(model, "我昨天在会议室见到了她 Oriel Vantongeren 谢谢你们大家的帮助和支持还有很多")
        == []
    )


def test_a_long_run_without_white_space_costs_no_more_than_its_length(model):
    text = "Oriel Vantongeren " + "a:" * 40_000 + " Porthwen"
    assert names(model, text) == [("PERSON", "Oriel Vantongeren"), ("LOCATION", "Porthwen")]


def test_nothing_of_a_text_stays_in_the_table_of_words(model, folder):
    list(model.find("Oriel met Xanthippolyta the ferrywoman"))
    pipeline = model._pipeline
    assert "Xanthippolyta" not in pipeline.vocab.strings


def test_the_detector_asks_the_model_only_for_kinds_that_a_policy_asks_for(folder):
    detector = load_detector(folder)
    text = normalise("Oriel Vantongeren left Porthwen")
    assert detector.detect(text) == ()
    assert {one.kind for one in detector.detect(text, frozenset({"LOCATION"}))} == {"LOCATION"}
    assert {one.kind for one in detector.detect(text, NAMES)} == {"LOCATION", "PERSON"}


def test_where_a_rule_is_sure_the_model_gives_the_span_and_the_rule_the_kind(folder):
    found = load_detector(folder).detect(normalise("Her maiden name is Porthwen"), NAMES)
    assert {one.kind for one in found} == {"PERSON"}


def test_what_an_identifier_covers_is_no_name(folder):
    detector = load_detector(folder)
    found = detector.detect(normalise("write to Oriel@harbour.example"), NAMES)
    assert {one.kind for one in found} == {"EMAIL_ADDRESS"}


def test_a_model_that_breaks_fails_the_text(folder):
    detector = load_detector(folder)
    assert detector._model is not None
    detector._model._pipeline = None  # type: ignore[assignment] # broken on purpose
    with pytest.raises(ScanFailed) as failed:
        detector.detect(normalise("Oriel Vantongeren"), NAMES)
    assert "Oriel" not in str(failed.value)


def test_a_model_that_is_not_installed_is_refused_and_not_fetched():
    with pytest.raises(ModelMissing, match="not installed"):
        LanguageModel("en_core_web_nowhere")


def test_a_folder_without_a_model_and_a_model_without_names_are_refused(tmp_path):
    with pytest.raises(ModelMissing, match="does not load"):
        LanguageModel(str(tmp_path))
    spacy.blank("en").to_disk(tmp_path)
    with pytest.raises(ModelMissing, match="no named entities"):
        LanguageModel(str(tmp_path))
