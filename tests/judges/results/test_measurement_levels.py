"""Every page of results at every measurement level: what needs amounts is not shown of names."""

import numpy as np
import pytest
from django.core.cache import caches
from django.test import Client

from agreement import ReliabilityData, krippendorff_alpha
from agreement.comparison import category_agreement
from annotate.core.models import Dimension, ScalePoint
from annotate.results.commands import current_page
from annotate.results.registry import PAGES, result_of
from annotate.results.table import Table
from judges.core.models import Judge
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_judgment, make_metric
from tests.judges.measured import as_scores, let_judge, rated_at_once
from tests.judges.results.test_doors import DOORS, NONE, of_api, tables_of
from tests.results.reading import Rows, cells_of

pytestmark = pytest.mark.django_db

DOCUMENTS, SYSTEMS = 12, 2
LABELS = ("Nothing", "Slips", "Nonsense")
PEOPLE = [[1, 2, 3, 1, 2, 2] * 4, [1, 2, 3, 2, 2, 1] * 4]
JUDGE = [1, 2, 2, 1, 2, 1, 3, 2] * 3
HALVES = [[1, 1.5, 3, 1, 2.5, 2] * 4, [1.5, 2, 3, 2, 2, 1] * 4]
JUDGE_IN_TENTHS = [1.1, 1.6, 2.9, 1, 2.2, 1.4, 3, 2] * 3
OF_AMOUNTS = {"scoring", "correlations", "alphas", "differences", "meta", "preferences"}
OF_NAMES = {"categories", "category-f1"}


def at_level(level: str, *, low: int = 1) -> Cast:
    """A project with one dimension of three points at this level (or two, from 0), people and a judge."""
    cast = make_project(documents=DOCUMENTS, systems=SYSTEMS, annotators=2, raters_per_item=2)
    (dimension,) = cast.dimensions
    high = low + len(LABELS) - 1 if low else 1
    changed = {"measurement_level": level, "scale_minimum": low, "scale_maximum": high}
    Dimension.objects.filter(pk=dimension.pk).update(**changed)
    ScalePoint.objects.filter(dimension=dimension).delete()
    for value, label in enumerate(LABELS[: high - low + 1], start=low):
        ScalePoint.objects.create(dimension=dimension, value=value, label=label)
    shift = {1: lambda value: value, 0: lambda value: int(value > 1)}[low]
    let_judge(make_judge(cast.project, name="Reasoner"), cast, list(map(shift, JUDGE)))
    let_judge(make_judge(cast.project, "mcq", name="Chooser"), cast, list(map(shift, [*JUDGE[2:], 1, 3])))
    make_metric(cast, range(len(cast.items)))
    rated_at_once(cast, [list(map(shift, row)) for row in PEOPLE])
    return cast


def with_half_points(level: str) -> Cast:
    """A project with one dimension of 1 to 3 by halves, people who use them, and a judge of tenths."""
    cast = make_project(documents=DOCUMENTS, systems=SYSTEMS, annotators=2, raters_per_item=2)
    changed = {"measurement_level": level, "scale_minimum": 1, "scale_maximum": 3, "scale_step": 0.5}
    Dimension.objects.filter(pk=cast.dimensions[0].pk).update(**changed)
    ScalePoint.objects.all().delete()
    let_judge(make_judge(cast.project, name="Reasoner"), cast, JUDGE_IN_TENTHS)
    let_judge(make_judge(cast.project, "mcq", name="Chooser"), cast, [*JUDGE[2:], 1, 3])
    make_metric(cast, range(len(cast.items)))
    rated_at_once(cast, HALVES)
    return cast


def tables_on(cast: Cast, page: str) -> dict[str, Table]:
    found = current_page(project=cast.project, result=result_of(cast.project, page))
    return {table.key: table for table in found.tables}


def of_judge(cast: Cast, key: str, name: str = "Reasoner") -> Rows:
    """The rows of one judge in a table of all."""
    return [row for row in cells_of(cast.project, "judges", key) if row["judge"].value == name]


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_every_page_asks_for_the_level(level: str) -> None:
    cast, named = at_level(level), level == "nominal"
    for page in (name for name, each in PAGES.items() if each.is_listed(cast.project)):
        assert tables_on(cast, page) or (named and page == "biases"), page  # it is about distances
    judges = set(tables_on(cast, "judges"))
    assert (judges >= OF_NAMES, judges >= OF_AMOUNTS) == (named, not named)
    assert (OF_NAMES | OF_AMOUNTS) & judges == (OF_NAMES if named else OF_AMOUNTS)
    kinds = {key.split("-", 2)[-1] for key in judges if key.startswith("judge-")}
    assert kinds == ({"named-confusion"} if named else {"scatter", "confusion", "quality"})
    assert ("means" in tables_on(cast, "estimates")) == (not named)
    assert ("shares" in tables_on(cast, "systems")) == named
    cells = [row["fluency"] for row in cells_of(cast.project, "reliability", "indicator")]
    assert [cell.value is None for cell in cells] == [named] * SYSTEMS
    reasons = {"Categories have no order, so nothing can rise or fall with them."} if named else {""}
    assert {cell.reason for cell in cells} == reasons
    assert bool(cells_of(cast.project, "reliability", "quality")) == (not named)


def test_names_have_accuracy_and_f1_as_the_function_gives_them() -> None:
    cast = at_level("nominal")
    scores = as_scores(JUDGE, PEOPLE, documents=DOCUMENTS, systems=SYSTEMS)
    expected = category_agreement(scores, [1, 2, 3])
    (row,) = of_judge(cast, "categories")
    assert (row["accuracy"].value, row["macro_f1"].value) == pytest.approx(
        (expected.accuracy.value, expected.macro_f1.value)
    )
    assert (row["accuracy"].low or 0) < (row["accuracy"].value or 0) < (row["accuracy"].high or 0)
    rows = of_judge(cast, "category-f1")
    assert [each["category"].value for each in rows] == list(LABELS)
    assert [each["f1"].value for each in rows] == pytest.approx([each.value for each in expected.f1])
    judge = Judge.objects.get(project=cast.project, name="Reasoner")
    confusion = tables_on(cast, "judges")[f"judge-{judge.pk}-named-confusion"]
    counted = {(row[1].value, row[2].value): row[3].value for row in confusion.rows}
    pairs = [(person, judge) for row in PEOPLE for person, judge in zip(row, JUDGE, strict=True)]
    assert counted["Nonsense", "Slips"] == pairs.count((3, 2))
    assert sum(row[3].value for row in confusion.rows if isinstance(row[3].value, int)) == len(pairs)


def test_categories_have_accuracy_for_an_estimate_and_0_and_1_a_share() -> None:
    cast = at_level("nominal")
    assert set(tables_on(cast, "estimates")) == OF_NAMES | {"shares"}
    (here,), (there,) = cells_of(cast.project, "estimates", "categories"), of_judge(cast, "categories")
    assert (here["accuracy"], here["macro_f1"]) == (there["accuracy"], there["macro_f1"])
    either = at_level("nominal", low=0)
    rows = cells_of(either.project, "estimates", "means")
    people = [[int(value > 1) for value in row] for row in PEOPLE]
    share = sum(sum(row[::2]) for row in people) / 24
    assert rows[0]["humans"].value == pytest.approx(share)
    assert "categories" in tables_on(either, "judges")


def test_names_have_shares_by_system_from_people_and_the_judge() -> None:
    cast = at_level("nominal")
    rows = cells_of(cast.project, "estimates", "shares")
    assert [(row["category"].value, row["system"].value) for row in rows] == [
        (label, f"system-{number}") for label in LABELS for number in (1, 2)
    ]
    slips = next(row for row in rows if (row["category"].value, row["system"].value) == ("Slips", "system-1"))
    of_people = sum(value == 2 for row in PEOPLE for value in row[::2]) / 24
    assert slips["humans"].value == pytest.approx(of_people)
    assert slips["judge"].value == pytest.approx(sum(value == 2 for value in JUDGE[::2]) / 12)
    assert 0 <= (slips["guaranteed"].low or 0) < of_people < (slips["guaranteed"].high or 0) <= 1
    assert sum(row["humans"].value for row in rows[::2]) == pytest.approx(1)


def test_of_several_samples_a_category_is_the_most_frequent_and_no_mean() -> None:
    cast = at_level("nominal")
    judge = make_judge(cast.project, name="Wavering")
    for sample, value in enumerate((3, 1, 3)):
        for item in cast.items:
            make_judgment(judge, item, cast.dimensions[0], value=value, sample=sample)
    rows = of_judge(cast, "category-f1", "Wavering")
    judged = {row["category"].value: row["judged"].value for row in rows}
    assert judged == {"Nothing": 0, "Slips": 0, "Nonsense": 24}


@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
def test_every_page_reads_half_points(level: str) -> None:
    cast = with_half_points(level)
    for page in (name for name, each in PAGES.items() if each.is_listed(cast.project)):
        assert tables_on(cast, page), page
    judges = set(tables_on(cast, "judges"))
    assert judges >= OF_AMOUNTS
    assert not OF_NAMES & judges
    rows = cells_of(cast.project, "agreement", "round-1-distribution")
    given = [value for row in HALVES for value in row]
    of_all = next(row for row in rows if row["rater"].value == "all")
    counted = {name: cell.value for name, cell in of_all.items() if name.startswith("value_")}
    assert counted == {f"value_{value}": given.count(value) for value in (1, 1.5, 2, 2.5, 3)}
    assert of_all["mean"].value == pytest.approx(sum(given) / len(given))
    data = ReliabilityData(
        HALVES, measurement_level=level, value_domain=[1, 1.5, 2, 2.5, 3], documents=np.arange(24) // SYSTEMS
    )
    (alpha,) = cells_of(cast.project, "agreement", "alpha")
    assert alpha["round_1"].value == pytest.approx(krippendorff_alpha(data).value)


def test_judge_value_is_compared_at_the_nearest_half_point() -> None:
    cast = with_half_points("interval")
    judge = Judge.objects.get(project=cast.project, name="Reasoner")
    confusion = tables_on(cast, "judges")[f"judge-{judge.pk}-confusion"]
    columns = [column.key for column in confusion.columns[2:]]
    assert columns == ["judge_1", "judge_1.5", "judge_2", "judge_2.5", "judge_3"]
    pairs = [(person, said) for row in HALVES for person, said in zip(row, JUDGE_IN_TENTHS, strict=True)]
    counted = {
        (row[1].value, key): cell.value
        for row in confusion.rows
        for key, cell in zip(columns, row[2:], strict=True)
    }
    assert counted["1.5", "judge_1.5"] == sum(person == 1.5 and 1.3 <= said < 1.7 for person, said in pairs)
    assert sum(value for value in counted.values() if isinstance(value, int)) == len(pairs)


@pytest.mark.once
def test_every_interface_gives_every_half_point_value(client: Client) -> None:
    caches["process"].clear()
    cast = with_half_points("interval")
    client.force_login(cast.researcher)
    for name in ("agreement", "systems", "estimates", "judges"):
        tables = tables_of(of_api(cast, name))
        for door in DOORS:
            door(client, cast, name, tables, NONE)


@pytest.mark.once
def test_every_interface_gives_every_value_of_categories(client: Client) -> None:
    caches["process"].clear()
    cast = at_level("nominal")
    client.force_login(cast.researcher)
    for name in ("agreement", "systems", "estimates", "judges"):
        tables = tables_of(of_api(cast, name))
        for door in DOORS:
            door(client, cast, name, tables, NONE)
