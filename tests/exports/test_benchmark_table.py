"""The table of items, which most people load: texts, values, what came of them, judges' scores."""

import pytest

from annotate.core.models import Dimension
from annotate.exports.formats.text import export_table
from annotate.exports.registry import TABLES, Row
from annotate.rating.commands.rounds import close_round_one
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_judgment
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db


def rows(cast: Cast) -> list[Row]:
    return list(TABLES["benchmark"].rows(cast.project))


def rated_project() -> Cast:
    """Of two items the first has the values 3 and 4."""
    cast = make_project(documents=1, annotators=2, raters_per_item=2)
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (3, 4), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    close_round_one(project=cast.project, by=cast.admin)
    return cast


def test_item_row_has_its_contents_every_rating_and_the_outcome() -> None:
    cast = rated_project()
    first, second = rows(cast)
    document = cast.items[0].document
    assert (first["document"], first["title"], first["text"]) == (
        document.key,
        document.title,
        cast.items[0].text,
    )
    assert first["source"] == document.parts
    values = zip(cast.annotators, (3, 4), strict=True)
    by_rater = sorted((membership.pseudonym, value) for membership, value in values)
    assert [(each["rater"], each["value"]) for each in first["values"]] == by_rater
    assert (first["fluency_value"], first["fluency_raters"]) == (3.5, 2)
    assert (second["values"], second["judge_scores"]) == ([], [])
    assert (second["fluency_value"], second["fluency_raters"]) == (None, 0)


def test_each_dimension_has_its_columns_in_the_project_s_order() -> None:
    cast = make_project(documents=1, dimensions=("style", "fluency"))
    table = TABLES["benchmark"].for_dimensions(cast.project.dimensions.values_list("key", flat=True))
    own = ("value", "answer", "raters")
    wide = [f"{key}_{name}" for key in ("style", "fluency") for name in own]
    texts = ["document", "system", "kind", "title", "source", "text", "metadata"]
    assert table.names == [*texts, *wide, "values", "judge_scores"]
    assert table.columns[9].meaning == "Number of raters with a counted value on `style`."
    line = next(export_table(cast.project, TABLES["benchmark"], "csv")).decode().splitlines()[0]
    assert line == ",".join(table.names)


def test_a_judge_s_score_is_the_mean_of_its_samples_on_the_dimension_s_scale() -> None:
    # 3, 5 and 8 of 1 to 9 are 2, 3 and 4.5 of 1 to 5; what failed is no score.
    cast = rated_project()
    (fluency,) = cast.dimensions
    ninths = make_judge(cast.project, name="Ninths", scale_minimum=1, scale_maximum=9)
    plain = make_judge(cast.project, name="Plain")
    for sample, value in enumerate((3, 5, 8)):
        make_judgment(ninths, cast.items[1], fluency, sample=sample, value=value)
    make_judgment(plain, cast.items[0], fluency, value=4)
    make_judgment(plain, cast.items[1], fluency, value=None, status="failed", reason="It refused.")
    assert [each["judge_scores"] for each in rows(cast)] == [
        [{"judge": "Plain", "dimension": "fluency", "score": 4.0}],
        [{"judge": "Ninths", "dimension": "fluency", "score": pytest.approx((2 + 3 + 4.5) / 3)}],
    ]


def test_of_named_categories_a_judge_s_score_is_the_most_frequent() -> None:
    cast = rated_project()
    Dimension.objects.update(measurement_level="nominal")
    judge = make_judge(cast.project, name="Sorter")
    for sample, value in enumerate((5, 2, 2, 5, 1)):
        make_judgment(judge, cast.items[0], cast.dimensions[0], sample=sample, value=value)
    first, _ = rows(cast)
    assert [each["score"] for each in first["judge_scores"]] == [5.0]  # as often as 2, and given first
