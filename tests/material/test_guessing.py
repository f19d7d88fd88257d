"""Guesses of mappings on tables as people make them; no Django."""

from itertools import chain, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.material.reading.columns import ColumnMapping
from annotate.material.reading.guessing import COLUMN_WORDS, guess_mapping
from annotate.material.reading.rows import Record

LONG = "The council of the town met on Monday and agreed, after a long debate, on a new budget for schools. "
SYSTEMS = ("GPT-4", "Llama 2", "Mistral")
MEANINGS = ("document_key", "document_title", "system", "text", "rater", "dimension", "value", "round")


def table(names: str, *cells: Any, documents: int = 4, systems: tuple[str, ...] = SYSTEMS) -> list[Record]:
    """Return a row for each document and system; a callable cell is given both and the number of the row."""
    rows = product(range(1, documents + 1), systems)
    return [
        Record(
            number + 2,
            {
                name: cell(document, system, number) if callable(cell) else cell
                for name, cell in zip(names.split(";"), cells, strict=True)
            },
        )
        for number, (document, system) in enumerate(rows)
    ]


def number(document: int, _system: str, _row: int) -> int:
    return document


def key(document: int, _system: str, _row: int) -> str:
    return f"doc-{document}"


def row(_document: int, _system: str, row: int) -> int:
    return row


def source(document: int, _system: str, _row: int) -> str:
    return f"Article {document}. {LONG * 5}"


def other(document: int, _system: str, _row: int) -> str:
    return f"Text {document}. {LONG * 2}"


def system(_document: int, system: str, _row: int) -> str:
    return system


def output(document: int, system: str, _row: int) -> str:
    return f"{system} says of {document}: {LONG}"


def guess(records: list[Record], dimensions: tuple[str, ...] = ()) -> str:
    """Return the guessed columns as text, in the order of the meanings, then the parts."""
    mapping = guess_mapping(records, dimensions)
    assert isinstance(mapping, ColumnMapping)
    single = [f"{meaning}={name}" for meaning in MEANINGS if (name := getattr(mapping, meaning))]
    parts = [f"part={part.column}" for part in mapping.parts]
    return " ".join([*single, *parts, *(f"{each.dimension}={each.column}" for each in mapping.value_columns)])


FULL = (number, source, system, output)
BY_NAME = [
    ("Textnr.;Artikel (voll);KI;Kurzfassung",
     "document_key=Textnr. system=KI text=Kurzfassung part=Artikel (voll)"),
    ("prompt_id;prompt;model;response", "document_key=prompt_id system=model text=response part=prompt"),
    ("ID;Frage;Modell;Antwort", "document_key=ID system=Modell text=Antwort part=Frage"),
    ("id;texte;modèle;résumé", "document_key=id system=modèle text=résumé part=texte"),
    ("id;texto;modelo;resumen", "document_key=id system=modelo text=resumen part=texto"),
    ("nr;testo;modello;riassunto", "document_key=nr system=modello text=riassunto part=testo"),
    ("docId;sourceText;modelName;generatedText",
     "document_key=docId system=modelName text=generatedText part=sourceText"),
    ("doc_id;article;system;summary", "document_key=doc_id system=system text=summary part=article"),
    ("id;text;model;summary", "document_key=id system=model text=summary part=text"),
    ("doc_id;document;model_id;decoded", "document_key=doc_id system=model_id text=decoded part=document"),
    ("Dokument-ID;Volltext;Sprachmodell;Übersetzung",
     "document_key=Dokument-ID system=Sprachmodell text=Übersetzung part=Volltext"),
]  # fmt: skip


@pytest.mark.parametrize(("names", "guessed"), BY_NAME, ids=[names for names, _ in BY_NAME])
def test_names_in_several_languages_are_known(names: str, guessed: str) -> None:
    assert guess(table(names, *FULL)) == guessed


BY_CONTENTS = [
    ("a;b;c;d", "document_key=a system=c text=d part=b"),
    ("Satz;Inhalt;Quelle der KI;Ergebnis",
     "document_key=Satz system=Quelle der KI text=Ergebnis part=Inhalt"),
    ("id;story;made by;ending", "document_key=id system=made by text=ending part=story"),
    ("id;news;model;summary", "document_key=id system=model text=summary part=news"),
    ("id;article;model;what it wrote", "document_key=id system=model text=what it wrote part=article"),
]  # fmt: skip


@pytest.mark.parametrize(("names", "guessed"), BY_CONTENTS, ids=[names for names, _ in BY_CONTENTS])
def test_repeated_contents_reveal_document_system_and_output(names: str, guessed: str) -> None:
    assert guess(table(names, *FULL)) == guessed


def test_value_is_the_document_only_with_a_shorter_output() -> None:
    assert guess(table("id;text;model", number, output, system)) == "document_key=id system=model text=text"
    assert guess(table("id;article;text;model", number, source, output, system)) == (
        "document_key=id system=model text=text part=article"
    )
    turned = table("id;text;summary;model", number, output, source, system)
    assert guess(turned) == "document_key=id system=model text=text"


def test_value_without_system_is_a_document() -> None:
    assert guess(table("id;text", number, source, systems=("",))) == "document_key=id part=text"


def test_a_question_with_its_context_are_two_parts() -> None:
    rows = table("id;question;context;answer;model", number, other, source, output, system)
    assert guess(rows) == "document_key=id system=model text=answer part=question part=context"


def test_one_system_needs_its_name_and_the_longer_value_is_a_document() -> None:
    single = table("id;model;long;short", number, "GPT-4", source, output, systems=("GPT-4",))
    assert guess(single) == "document_key=id system=model text=short part=long"


def test_a_number_of_the_row_is_no_key_of_a_document_that_repeats() -> None:
    assert guess(table("id;article;model;summary", row, source, system, output)) == (
        "system=model text=summary part=article"
    )
    keyed = table("id;topic;article;model;summary", row, key, source, system, output)
    assert guess(keyed) == "document_key=topic system=model text=summary part=article"


def test_long_values_are_no_system() -> None:
    rows = table("id;Artikel;KI;Mensch", number, source, output, output)
    assert guess(rows) == "document_key=id part=Artikel"


def test_long_names_of_systems_stay_systems() -> None:
    rows = table(
        "id;system;text", number, lambda *of: f"{of[1]} with a prompt of several sentences, 0.7", output
    )
    assert guess(rows) == "document_key=id system=system text=text"


@pytest.mark.parametrize("name", ["reference", "Kommentar", "gold summary", "rationale", "url"])
def test_values_hidden_from_annotators_are_no_guess(name: str) -> None:
    rows = table(f"id;model;summary;{name}", number, system, output, source)
    assert guess(rows) == "document_key=id system=model text=summary"


def test_ratings_keep_the_guess_by_names() -> None:
    rows = table(
        "doc_id;model;annotator;Fluency;comment", number, system, "A1", lambda *_: 3, output, documents=2
    )
    assert guess(rows, ("fluency",)) == "document_key=doc_id system=model rater=annotator fluency=Fluency"


NOTHING_CERTAIN = [
    ("two long texts of one length", table("a;b", source, source, systems=("",)), ""),
    ("two texts that differ in each row", table("x;y", output, lambda *of: output(*of) + "!"), ""),
    ("numbers only", table("a;b;c", number, row, row), ""),
    ("three texts that differ in each row", table("a;b;c", output, output, output), ""),
    ("short words", table("a;b", system, system), ""),
    ("a list", table("a;b", lambda *_: ["x", "y"], number), ""),
    ("blank cells", table("a;b", "", lambda *_: None), ""),
    ("one row", table("a;b", source, source, documents=1, systems=("",)), ""),
    ("categories that do not tell systems apart",
     table("id;article;summary;lang", number, source, output, lambda *of: ("de", "en")[of[2] % 2]),
     "document_key=id text=summary part=article"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("records", "guessed"), [each[1:] for each in NOTHING_CERTAIN], ids=[each[0] for each in NOTHING_CERTAIN]
)
def test_uncertain_columns_are_not_used(records: list[Record], guessed: str) -> None:
    assert guess(records) == guessed


names = st.sampled_from(
    [*chain.from_iterable(COLUMN_WORDS.values()), "Artikel", "prompt", "a", "b", "Text (1)"]
)
cells = st.one_of(st.none(), st.integers(1, 3), st.text(max_size=4), st.sampled_from([LONG, LONG * 3, ["a"]]))


@given(st.lists(st.dictionaries(names, cells, max_size=6), min_size=1, max_size=6))
def test_no_column_gets_two_meanings_whatever_a_table_holds(rows: list[dict[str, Any]]) -> None:
    mapping = guess_mapping([Record(line, fields) for line, fields in enumerate(rows)])
    if isinstance(mapping, ColumnMapping):
        used = [*(getattr(mapping, each) for each in MEANINGS), *(part.column for part in mapping.parts)]
        named = [column for column in used if column]
        assert len(set(named)) == len(named)
        assert set(named) <= {name for fields in rows for name in fields}


def test_dimensions_in_other_scripts_are_distinguished() -> None:
    rows = table("id;model;rater;流暢;連貫", number, system, "A", lambda *_: 3, lambda *_: 4)
    assert guess(rows, ("流暢", "連貫")) == "document_key=id system=model rater=rater 流暢=流暢 連貫=連貫"
