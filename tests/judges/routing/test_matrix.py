"""Which judge for which dimension: the verdicts of the routed policies' function, costs, and the answer."""

import json
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import call_command

from agreement.reliability import Use
from annotate.core.models import Project, Rating
from annotate.results.commands import compute_page
from annotate.results.queries.kept import KeptPage
from annotate.results.registry import result_of
from annotate.results.table import Cell, Column, Table, text
from judges.core.models import Judge, Judgment
from judges.results.queries.pairings import cost_of_thousand_units, spent_by_judges
from judges.routing.queries.trust import trust_in
from judges.routing.results import answer_trust, answer_verdicts
from tests.api.client import ApiClient
from tests.judges.certified import calibrated_project, rate_all_units
from tests.judges.pages import text_of

pytestmark = pytest.mark.django_db


def computed(cast, page: str, **asked: str) -> KeptPage:
    """Compute a page as a worker does."""
    return compute_page(project=cast.project, result=result_of(cast.project, page, asked))


def make_scene():
    cast = calibrated_project(annotators=3)
    rate_all_units(cast, annotators=3)
    return cast


@pytest.fixture
def cast(client, cast):
    client.force_login(cast.admin)
    return cast


def matrix_of(cast) -> Table:
    table = computed(cast, "verdicts").table("verdicts")
    assert table is not None
    return table


def row_of(table: Table, name: str) -> dict[str, Cell]:
    row = next(each for each in table.rows if each[0].value == name)
    return {column.key: cell for column, cell in zip(table.columns, row, strict=True)}


def test_each_cell_is_the_verdict_of_its_page_and_opens_its_evidence(client, cast):
    table = matrix_of(cast)
    for judge in Judge.objects.all():
        row = row_of(table, judge.name)
        computed(cast, "trust", judge=str(judge.pk))
        for each in trust_in(cast.project, judge, {}):
            cell = row[each.dimension.key]
            assert cell.key == each.verdict.use
            page = text_of(client.get(cell.link))
            assert f"{each.dimension.name} Alpha with people" in page
            assert f"{each.dimension.name} Audit" in page


def test_page_names_each_status_and_answers_first(client, cast):
    matrix_of(cast)
    response = client.get(f"/projects/{cast.project.slug}/results/verdicts/")
    html, page = response.content.decode(), text_of(response)
    assert page.index("Send Coherence to people: no judge may decide there.") < page.index("Reasoner")
    assert '<span class="pill status-bad">' in html
    assert "no unit" in page
    assert 'data-label="Coherence"' in html
    assert "<figure" not in html


def test_api_and_command_give_answer_and_statuses(cast):
    table = matrix_of(cast)
    told = ApiClient(cast.admin).get(f"projects/{cast.project.slug}/results/verdicts/").json()
    out = StringIO()
    call_command("results", cast.project.slug, "verdicts", "--json", stdout=out)
    said = json.loads(out.getvalue())
    assert said["sections"] == told["sections"]
    assert said["answer"] == told["answer"] == answer_verdicts({"verdicts": table})
    cells = told["sections"][0]["tables"][0]["rows"][0]
    assert {cell["tone"] for cell in cells if "tone" in cell} <= {"good", "partly", "bad", "open"}


def test_cost_of_units_is_unknown_without_a_price(cast):
    row = row_of(matrix_of(cast), "Reasoner")
    assert (row["per_1000"].value, row["money_per_1000"].value) == ("unknown", None)
    judge = Judge.objects.get(name="Reasoner")
    Judgment.objects.filter(judge=judge).update(cost=Decimal("0.002"))
    row = row_of(matrix_of(cast), "Reasoner")
    assert (row["per_1000"].value, row["money_per_1000"].value) == ("2.00 USD", 2)
    judge.samples = 3
    assert cost_of_thousand_units(judge, spent_by_judges([judge]).values()) == 6


def test_people_cost_the_hours_of_all_raters_of_a_unit(cast):
    assert row_of(matrix_of(cast), "People")["per_1000"].value == "unknown"
    Rating.objects.update(active_seconds=9)
    Project.objects.update(raters_per_item=2)
    cast.project.refresh_from_db()
    row = row_of(matrix_of(cast), "People")
    assert (row["per_1000"].value, row["hours_per_1000"].value) == ("5.0 h of 2 people", 5)
    assert str(row["fluency"].value).startswith("alpha ")


def test_verdicts_page_gives_a_message_without_a_chart(client, cast):
    computed(cast, "trust")
    response = client.get(f"/projects/{cast.project.slug}/results/trust/", {"table": "uses"})
    page, html = text_of(response), response.content.decode()
    assert page.index("Reasoner may decide no unit of") < page.index("Corrected judgments")
    assert "<figure" not in html
    assert "…" not in page[page.index("Reason and what to do") :]


# The answer, without a database.


def table_of(*rows: tuple[str, float | None, tuple[Use, ...]]) -> Table:
    """Return a matrix on three dimensions: judge, cost and uses."""
    names = ("Coherence", "Fluency", "Relevance")
    columns = [Column(name.lower(), name) for name in ("Judge", *names, "Per", "Money", "Hours")]
    nothing = Cell(reason="None.")
    people = [text("People", key="people"), *[text("alpha 0.70")] * 3, text(""), nothing, nothing]
    cells = [
        [text(name), *(text("", key=str(use)) for use in uses), text(""), Cell(cost, reason="None."), nothing]
        for name, cost, uses in rows
    ]
    return Table("verdicts", "", columns, [*cells, people])


ALL, PART, UNKNOWN, NONE = Use.ALL, Use.PART, Use.UNKNOWN, Use.REFUSED


@pytest.mark.parametrize(
    ("rows", "answer"),
    [
        (
            [("A", 2, (ALL, NONE, NONE)), ("B", 1, (PART, PART, NONE))],
            "A may decide Coherence. B may decide some units of Fluency. "
            "Send Relevance to people: no judge may decide there.",
        ),
        (
            [("A", 2, (ALL, ALL, ALL)), ("B", 1, (ALL, ALL, NONE))],
            "B may decide Coherence and Fluency. A may decide Relevance.",
        ),
        (
            [("A", None, (UNKNOWN, NONE, UNKNOWN)), ("B", 1, (NONE, NONE, NONE))],
            "Send Coherence and Relevance to people: it is not known whether a judge may decide there. "
            "Send Fluency to people: no judge may decide there.",
        ),
    ],
)
def test_answer_names_the_best_judge_of_least_cost(rows, answer):
    assert answer_verdicts({"verdicts": table_of(*rows)}) == answer


def test_answer_about_one_judge_names_all_dimensions():
    columns = [Column("dimension", "Dimension"), Column("use", "May decide")]
    rows = [[text(name), text("", key=str(use))] for name, use in zip("WXYZ", Use, strict=True)]
    table = Table("verdicts", "", columns, rows, parameters={"judge": "GPT"})
    assert answer_trust({"verdicts": table}) == (
        "GPT may decide all units of W; some units of X; no unit of Z. Whether GPT may decide Y is not known."
    )
