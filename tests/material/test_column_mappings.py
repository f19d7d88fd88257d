import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.material.reading.columns import ColumnMapping, PartColumn, ValueColumn
from annotate.material.reading.guessing import guess_mapping
from annotate.material.reading.mapping_json import (
    MappingError,
    mapping_from_json,
    mapping_from_options,
    mapping_to_json,
    mapping_to_options,
)
from annotate.material.reading.mappings import SHIPPED, rows_of
from annotate.material.reading.rows import (
    ImportedDocument,
    ImportedItem,
    ImportedRating,
    Record,
    RefusedLine,
    printable,
)
from annotate.material.reading.values import RefusedFieldError, rated_value

ITEMS = ColumnMapping(
    document_key="doc", parts=(PartColumn("article", "Article"),), system="model", text="summary"
)
RATINGS = ColumnMapping(document_key="doc", system="model", rater="who", dimension="quality", value="score")
FIELDS = {"doc": "d1", "article": "An article.", "model": "m1", "summary": "A summary."}
RATED = {"doc": "d1", "model": "m1", "who": "A1", "quality": "fluency", "score": "4"}


def items(mapping: ColumnMapping, **fields: object) -> list[Any]:
    return list(rows_of(mapping, Record(7, fields), items=True, ratings=False))


def ratings(mapping: ColumnMapping, **fields: object) -> list[Any]:
    return list(rows_of(mapping, Record(7, fields), items=False, ratings=True))


def test_columns_become_an_item() -> None:
    assert items(ITEMS, **FIELDS) == [
        ImportedItem(7, "d1", "", (("Article", "An article."),), "m1", "A summary.")
    ]


def test_columns_without_a_system_become_a_document() -> None:
    mapping = ColumnMapping(document_key="doc", document_title="t", parts=(PartColumn("article", "Article"),))
    assert items(mapping, doc="d1", t=" A title ", article="x") == [
        ImportedDocument(7, "d1", "A title", (("Article", "x"),))
    ]


def test_a_list_or_an_object_in_one_field_becomes_several_parts() -> None:
    mapping = ColumnMapping(document_key="doc", parts=(PartColumn("reviews", "Review"),))
    assert items(mapping, doc="d", reviews=["a", "b"])[0].parts == (("Review 1", "a"), ("Review 2", "b"))
    assert items(mapping, doc="d", reviews={"First": "a"})[0].parts == (("First", "a"),)


def test_documents_without_a_key_are_identified_by_their_source() -> None:
    mapping = ColumnMapping(parts=(PartColumn("article", "Article"),), system="model", text="summary")
    first, same, other = (items(mapping, **FIELDS | {"article": text})[0] for text in ("x", "x", "y"))
    assert first.document == same.document != other.document


@pytest.mark.parametrize("field", ["doc", "article", "model", "summary"])
@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        (None, "is empty"),
        (True, "yes-or-no"),
        ("a\0b", "NUL"),
        ("\ud800", "half a character"),
    ],
)
def test_non_string_is_rejected_by_field(field: str, value: object, sentence: str) -> None:
    [refused] = items(ITEMS, **FIELDS | {field: value})
    assert (refused.line, refused.field) == (7, field)
    assert sentence in refused.reason


def test_error_names_the_missing_field() -> None:
    assert items(ITEMS, doc="d1", article="x", model="m") == [
        RefusedLine(7, "summary", "The field “summary” is missing.")
    ]


@pytest.mark.parametrize("text", ["x" * 100_000, "<script>alert(1)</script>", "שלום \u202eabc", " kept \n"])
def test_values_are_unchanged(text: str) -> None:
    [row] = items(ITEMS, **FIELDS | {"article": text, "summary": text})
    assert row.parts[0][1] == row.text == text


def test_invalid_keys_are_rejected() -> None:
    [refused] = items(ITEMS, **FIELDS | {"model": "m" * 201})
    assert "at most 200 fit" in refused.reason


@pytest.mark.parametrize(
    ("written", "value"),
    [("4", 4), (4, 4), (4.0, 4), ("4.0", 4), (" -2 ", -2), (0, 0), ("3.5", 3.5), (".25", 0.25), (2.1, 2.1)],
)
def test_numbers_are_read_however_they_are_written(written: object, value: float) -> None:
    assert ratings(RATINGS, **RATED | {"score": written}) == [
        ImportedRating(7, "d1", "m1", "A1", "fluency", value)
    ]


@pytest.mark.parametrize(
    "value", ["good", "4,5", "4.5.1", ".", "٤", True, None, [4], "1e3", float("inf"), 10**30, ""]
)
def test_invalid_number_is_rejected(value: object) -> None:
    [refused] = ratings(RATINGS, **RATED | {"score": value})
    assert refused.field == "score"
    assert "is not a number" in refused.reason


@given(st.integers(-999_999_999, 999_999_999))
def test_every_number_that_is_written_is_read_back(number: int) -> None:
    assert rated_value(str(number), "score") == rated_value(float(number), "score") == number


@given(st.one_of(st.floats(allow_nan=True), st.text(max_size=20), st.none(), st.booleans()))
def test_any_value_is_a_number_or_is_rejected_with_a_message(value: Any) -> None:
    try:
        number = rated_value(value, "score")
    except RefusedFieldError as refused:
        reason = refused.reason
        assert reason.endswith(".")
    else:
        assert number == float(value)


def test_one_column_per_dimension_gives_a_rating_for_each_that_is_not_blank() -> None:
    wide = ColumnMapping(
        document_key="doc",
        system="model",
        rater="who",
        value_columns=(ValueColumn("flu", "fluency"), ValueColumn("coh", "coherence")),
    )
    rated = {"doc": "d1", "model": "m1", "who": "A1"}
    assert ratings(wide, **rated, flu="4", coh="") == [ImportedRating(7, "d1", "m1", "A1", "fluency", 4)]
    assert ratings(wide, **rated, flu=4) == [
        ImportedRating(7, "d1", "m1", "A1", "fluency", 4),
        RefusedLine(7, "coh", "The field “coh” is missing."),
    ]


def test_mapping_describes_its_result() -> None:
    assert (ITEMS.gives_items, ITEMS.gives_ratings) == (True, False)
    assert (RATINGS.gives_items, RATINGS.gives_ratings) == (False, True)
    assert (ColumnMapping().gives_items, ColumnMapping().gives_ratings) == (False, False)


def test_mappings_are_guessed_from_field_names() -> None:
    record = Record(1, {"Doc ID": "d", "Review1": "a", "Review2": "b", "Model": "m", "Summary": "s"})
    assert guess_mapping([record]) == ColumnMapping(
        document_key="Doc ID",
        parts=(PartColumn("Review1", "Review 1"), PartColumn("Review2", "Review 2")),
        system="Model",
        text="Summary",
    )


def test_columns_named_as_dimensions_are_guessed_as_their_values() -> None:
    record = Record(1, {"document": "d1", "system": "m", "rater": "A", "Fluency": 3, "aspect_coverage": 2})
    assert guess_mapping([record], ["fluency", "Aspect coverage"]) == ColumnMapping(
        document_key="document",
        system="system",
        rater="rater",
        value_columns=(ValueColumn("Fluency", "fluency"), ValueColumn("aspect_coverage", "Aspect coverage")),
    )


def test_nothing_is_guessed_from_nothing() -> None:
    assert guess_mapping([RefusedLine(1, "", "x")]) == ColumnMapping()


names = st.text(min_size=1, max_size=8)
mappings = st.builds(
    ColumnMapping,
    document_key=names,
    system=names,
    text=st.just("") | names,
    parts=st.lists(st.builds(PartColumn, names, names), max_size=3).map(tuple),
    value_columns=st.lists(st.builds(ValueColumn, names, names), max_size=3).map(tuple),
    format=st.sampled_from(["", "plain", "markdown", "chat"]),
)


@given(mappings)
def test_a_mapping_written_as_json_is_read_back(mapping: ColumnMapping) -> None:
    assert mapping_from_json(json.loads(json.dumps(mapping_to_json(mapping)))) == mapping


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_mapping_is_written_by_its_name(name: str) -> None:
    assert mapping_from_json(mapping_to_json(SHIPPED[name])) is SHIPPED[name]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[]", ""),
        ('{"name": "other"}', "name"),
        ('{"colour": "x"}', "colour"),
        ('{"system": 3}', "system"),
        ('{"format": "html"}', "format"),
        ('{"parts": {}}', "parts"),
        ('{"parts": ["x"]}', "parts[0]"),
        ('{"parts": [{"column": "a"}]}', "parts[0]"),
        ('{"parts": [{"column": "a", "label": "b", "x": 1}]}', "parts[0].x"),
        ('{"value_columns": [{"column": 1, "dimension": "b"}]}', "value_columns[0].column"),
    ],
)
def test_error_names_the_fault_of_a_written_mapping(text: str, field: str) -> None:
    with pytest.raises(MappingError) as caught:
        mapping_from_json(json.loads(text))
    assert caught.value.field == field


def test_a_mapping_is_read_from_options() -> None:
    options = ["document_key=doc", "part:Review=rev1", "part=rev2", "system=model", "dimension:fluency=flu"]
    options.append("format=markdown")
    mapping = mapping_from_options(options)
    assert mapping == ColumnMapping(
        document_key="doc",
        parts=(PartColumn("rev1", "Review"), PartColumn("rev2", "rev2")),
        system="model",
        value_columns=(ValueColumn("flu", "fluency"),),
        format="markdown",
    )
    assert mapping_from_options(mapping_to_options(mapping)) == mapping


@pytest.mark.parametrize("option", ["system", "colour=x", "system=", "format=html"])
def test_meaningless_options_are_rejected(option: str) -> None:
    with pytest.raises(MappingError):
        mapping_from_options([option])


@given(st.text(st.characters()))
def test_report_content_can_be_stored(text: str) -> None:
    assert "\0" not in printable(text)
    printable(text).encode()
