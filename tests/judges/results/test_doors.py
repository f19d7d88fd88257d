"""Every figure of every page of results, by every door: one value, one interval, one count."""

import csv
import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.cache import caches
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from annotate.core.guideline import DimensionSpec
from annotate.core.models import Document, Project, Rating, Role
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.files import write_folder
from annotate.exports.formats.datasheet import datasheet
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.results.registry import PAGES, Chosen
from annotate.results.table import Cell, Column, ColumnKind, Table
from annotate.results.text import number
from annotate.setup.commands import add_dimension
from judges.core.models import Judgment
from tests.api.client import ApiClient
from tests.factories import Cast, make_member, make_project
from tests.judges.factories import make_judge, make_judgments, make_metric, make_template
from tests.judges.measured import begun, make_assignment
from tests.questions.asking import OPTIONS
from tests.results.typesetting import overfull

pytestmark = pytest.mark.django_db

NAMES = [
    "verdicts",
    "routes",
    "agreement",
    "systems",
    "leaderboard",
    "questions",
    "metadata",
    "severity",
    "passages",
    "study",
    "so-far",
    "estimates",
    "replacement",
    "trust",
    "judges",
    "reliability",
    "metrics",
    "compare",
    "self-consistency",
    "biases",
    "experiments",
    "alignment",
]
OF_JUDGES = [
    "verdicts",
    "estimates",
    "replacement",
    "trust",
    "judges",
    "reliability",
    "self-consistency",
    "biases",
    "experiments",
]
DIMENSIONS = ("fluency", "coherence")
JUDGES = ("Reasoner", "Chooser")
NONE: Chosen = {}
CellKey = tuple[str, str, tuple[str, ...], str]  # page, table, the heads of the row, column
Figure = tuple[Any, float | None, float | None, int | None]  # value, low, high, count


def people_value(person: int, item: int, key: str) -> int:
    """Between 1 and 5, near to the other person's and now and then two points or more away."""
    quality = (item * 7 + len(key)) % 5
    return 1 + min(4, max(0, quality + (person * item * 5) % 4 - 1)) if item % 3 else 1 + quality


def judge_value(shift: int) -> Callable[[int, str, str], int]:
    return lambda number, system, key: 1 + (number * 7 + len(key) + shift * (number % 3) + len(system)) % 5


def scene(
    dimensions: tuple[str, ...] = DIMENSIONS, judges: tuple[str, ...] = ("Reasoner", "Chooser")
) -> Cast:
    """Make 24 items that two people rated in two rounds, and judges beside them."""
    cast = make_project(dimensions=dimensions, documents=8, systems=3, annotators=2, raters_per_item=2)
    cast.project.seed = 20_261
    cast.project.save()
    Document.objects.filter(project=cast.project).update(metadata={"genre": "news"})
    # Asked after few values only: with more ratings, a worker would compute the page of severity.
    asked_if = {"dimension": "fluency", "values": [5]}
    spec = DimensionSpec("Errors", "Which.", kind="labels", options=OPTIONS["labels"], shown_if=asked_if)
    errors = add_dimension(project=cast.project, dimension=spec)
    round, now = begun(cast, every_item=True), timezone.now()
    ratings = []
    for person, annotator in enumerate(cast.annotators):
        for number_, item in enumerate(cast.items):
            assignment = make_assignment(
                round, annotator, item, number_ + 1, inclusion_probability=1, started_at=now, completed_at=now
            )
            for each in cast.dimensions:
                value = people_value(person, number_, each.key)
                ratings.append(
                    Rating(assignment=assignment, dimension=each, value=value, created_at=now, updated_at=now)
                )
            if people_value(person, number_, "fluency") < 5:
                continue
            labels = [key for key in ("grammar", "spelling") if people_value(person, number_, key) > 3]
            answer = {"value": len(labels), "data": {"labels": labels}}
            ratings.append(
                Rating(assignment=assignment, dimension=errors, created_at=now, updated_at=now, **answer)
            )
    Rating.objects.bulk_create(ratings)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    for shift, name in enumerate(judges):
        method = "mcq" if name == "Chooser" else "rts"
        template = make_template(cast.project, method, name=f"Prompt of {name}")
        judge = make_judge(cast.project, method, name=name, template=template)
        make_judgments(judge, cast, judge_value(shift))
    make_metric(cast, [(number * 5 % 7) / 3 - 1 for number in range(len(cast.items))])
    return cast


def of_api(cast: Cast, name: str, **chosen: str) -> dict[str, Any]:
    path = f"projects/{cast.project.slug}/results/{name}/"
    answer = ApiClient(cast.researcher).get(f"{path}?{urlencode(chosen)}")
    assert answer.status_code == 200, (name, answer.content)
    result: dict[str, Any] = answer.json()
    assert result["current"]
    return result


def tables_of(plain: dict[str, Any]) -> list[Table]:
    tables = [table for section in plain["sections"] for table in section["tables"]]
    assert all(table.pop("rows_in_all") == len(table["rows"]) for table in tables)
    return [Table.from_dict(table) for table in tables]


def figures_of(cast: Cast, names: Sequence[str] = NAMES, **chosen: str) -> dict[CellKey, Figure]:
    """Every cell of every page by where it stands; people and judges have names there, never keys."""
    return {
        (name, table.title, tuple(str(cell.value) for cell in row[: table.heads]), column.key): (
            cell.value,
            cell.low,
            cell.high,
            cell.count,
        )
        for name in names
        for table in tables_of(of_api(cast, name, **chosen))
        for row in table.rows
        for column, cell in list(zip(table.columns, row, strict=True))[table.heads :]
    }


@pytest.fixture
def cast(client: Client) -> Cast:
    caches["process"].clear()
    made = scene()
    client.force_login(made.researcher)
    return made


def test_names_match_all_pages() -> None:
    assert sorted(NAMES) == sorted(PAGES)


# Each door gives the tables of a page again, whole or as far as its form goes.


def by_command(_: Client, cast: Cast, name: str, tables: list[Table], chosen: Chosen) -> None:
    out, asked = StringIO(), [f"{key}={value}" for key, value in chosen.items()]
    call_command("results", cast.project.slug, name, "--json", set=asked, stdout=out)
    assert tables_of(json.loads(out.getvalue())) == tables


def by_csv_of_the_page(client: Client, cast: Cast, name: str, tables: list[Table], chosen: Chosen) -> None:
    for table in tables:
        rows = csv.DictReader(StringIO(file_of(client, cast, name, table, "csv", **chosen), newline=""))
        for row, cells in zip(rows, table.rows, strict=True):
            for column, cell in zip(table.columns, cells, strict=True):
                assert row[column.key] == ("" if cell.value is None else str(cell.value))
                for part in ("low", "high", "count"):
                    written = row.get(f"{column.key}_{part}", "")
                    if column.kind not in {ColumnKind.TEXT, ColumnKind.COUNT}:
                        assert written == ("" if getattr(cell, part) is None else str(getattr(cell, part)))


def by_markdown(client: Client, cast: Cast, name: str, tables: list[Table], chosen: Chosen) -> None:
    for table in tables:
        content = without_marks(file_of(client, cast, name, table, "md", **chosen))
        for cell, column in figures_in(table):
            assert re.sub(r"([\[\]<])", r"\\\1", shown(cell, column)) in content


def by_latex(client: Client, cast: Cast, name: str, tables: list[Table], chosen: Chosen) -> None:
    for table in tables:
        fitting = without_marks(file_of(client, cast, name, table, "tex", **chosen))
        beside = without_marks(file_of(client, cast, name, table, "tex", **chosen, intervals="beside"))
        for cell, column in figures_in(table):
            assert in_latex(shown(cell, column)) in beside
            assert all(in_latex(part) in fitting for part in shown(cell, column).split(" [", 1))


def figures_in(table: Table) -> Iterator[tuple[Cell, Column]]:
    return ((cell, column) for row in table.rows for cell, column in zip(row, table.columns, strict=True))


def by_the_page(client: Client, cast: Cast, name: str, tables: list[Table], chosen: Chosen) -> None:
    for table in tables:
        address = f"/projects/{cast.project.slug}/results/{name}/{table.key}/"
        found = re.findall(r"(?s)<tr>(?:(?!</tr>).)*</tr>", client.get(address, chosen).content.decode())
        rows = [[words(cell) for cell in re.split(r"(?=<t[dh][ >])", row)[1:]] for row in found[1:]]
        assert len(rows) == len(table.rows)
        for row, cells in zip(rows, table.rows, strict=True):
            for text, cell, column in zip(row, cells, table.columns, strict=True):
                assert text.startswith("–" if cell.value is None else plain(cell, column))
                if cell.low is not None:
                    assert f"[{number(cell.low, column)}, {number(cell.high or 0.0, column)}]" in text
                if cell.count is not None and column.kind in {
                    ColumnKind.NUMBER,
                    ColumnKind.SHARE,
                    ColumnKind.P_VALUE,
                }:
                    assert f"n = {cell.count}" in text


def by_the_data_sheet(client: Client, cast: Cast, name: str, tables: list[Table], _chosen: Chosen) -> None:
    if name == "agreement":
        sheet = datasheet(cast.project, ExportChoice(Format.JSONL))
        alphas = next(table for table in tables if table.key == "rounds")
        for row in alphas.rows:
            cell = row[2]
            assert f"| {cell.value:.3f} ({cell.low:.3f} to {cell.high:.3f}) |" in sheet


Door = Callable[[Client, Cast, str, list[Table], Chosen], None]
DOORS_WITH_CHOICES: list[Door] = [by_command, by_csv_of_the_page, by_markdown, by_latex, by_the_page]
DOORS: list[Door] = [*DOORS_WITH_CHOICES, by_the_data_sheet]


@pytest.mark.long
def test_every_interface_gives_every_value(client: Client, cast: Cast, tmp_path: Path) -> None:
    """Compute all pages once, for every door, across tables, and in the lines of a paper."""
    pages = {name: tables_of(of_api(cast, name)) for name in NAMES}
    for name, tables in pages.items():
        assert tables
        for door in DOORS:
            door(client, cast, name, tables, NONE)
    expect_one_interval_in_all_tables(pages)
    expect_no_table_beyond_the_line_of_a_paper(client, cast, pages, tmp_path)


def test_every_interface_excludes_corrected_judgments_completely(client: Client, cast: Cast) -> None:
    corrected = Judgment.objects.filter(item__in=cast.items[3:6])
    corrected.update(is_corrected=True, value=5)
    counted = figures_of(cast, OF_JUDGES)
    left_out = figures_of(cast, OF_JUDGES, corrected="left-out")
    for name in OF_JUDGES:
        tables = tables_of(of_api(cast, name, corrected="left-out"))
        for door in DOORS_WITH_CHOICES:
            door(client, cast, name, tables, {"corrected": "left-out"})
    differ = {cell[0] for cell in counted if left_out[cell] != counted[cell]}
    assert differ == set(OF_JUDGES)
    corrected.delete()
    # Nobody asked for judgments that were deleted; those left out were asked for, and are said to be missing.
    gaps = "Replies without a value"
    without_gaps = {cell: found for cell, found in left_out.items() if cell[1] != gaps}
    assert len(without_gaps) < len(left_out)
    assert figures_of(cast, OF_JUDGES) == without_gaps


def expect_no_table_beyond_the_line_of_a_paper(
    client: Client, cast: Cast, pages: dict[str, list[Table]], folder: Path
) -> None:
    if not shutil.which("pdflatex"):
        pytest.skip("There is no pdflatex here; CI installs it.")
    tables = [(name, table) for name, tables in pages.items() for table in tables]
    files = [file_of(client, cast, name, table, "tex") for name, table in tables if table.rows]
    assert overfull(files, folder) == []


def file_of(client: Client, cast: Cast, name: str, table: Table, ending: str, **chosen: str) -> str:
    answer = client.get(f"/projects/{cast.project.slug}/results/{name}/{table.key}.{ending}", chosen)
    assert answer.status_code == 200
    return answer.content.decode()


def plain(cell: Cell, column: Column) -> str:
    return cell.value if isinstance(cell.value, str) else number(cell.value or 0, column)


def shown(cell: Cell, column: Column) -> str:
    if cell.value is None:
        return "undefined ("
    bounds = "" if cell.low is None else f" [{number(cell.low, column)}, {number(cell.high or 0, column)}]"
    return plain(cell, column) + bounds


def without_marks(text: str) -> str:
    """Return a table's text without what marks the best and the second best system."""
    text = re.sub(r"(\*\*|_)([\d.]+)\1", r"\2", text)
    return re.sub(r"\\(?:textbf|underline)\{([\d.]+)\}", r"\1", text)


def in_latex(text: str) -> str:
    return text.replace("\N{MINUS SIGN}", "$-$").replace("%", r"\%").replace("<", r"\textless{}")


def words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", html))).strip()


# The same figure in several tables.

SAME = [
    [("agreement", "rounds", "round_1_alpha"), ("agreement", "alpha", "round_1"),
     ("so-far", "alpha", "alpha"), ("agreement", "round-1-alpha", "interval")],
    [("agreement", "rounds", "round_2_alpha"), ("agreement", "alpha", "round_2"),
     ("agreement", "round-2-alpha", "interval")],
    [("judges", "scoring", "spearman"), ("judges", "correlations", "spearman_dataset")],
    [("judges", "scoring", "with_mean"), ("judges", "alphas", "with_mean")],
    [("judges", "scoring", "among_people"), ("judges", "alphas", "among_people")],
    [("judges", "scoring", "correct"), ("judges", "preferences", "correct")],
    [("judges", "indicator", "fluency"), ("reliability", "indicator", "fluency")],
    [("judges", "indicator", "coherence"), ("reliability", "indicator", "coherence")],
]  # fmt: skip


def expect_one_interval_in_all_tables(pages: dict[str, list[Table]]) -> None:
    named = {(name, table.key): table for name, tables in pages.items() for table in tables}
    for keys in SAME:
        first, *others = [column_of(named[name, key], column) for name, key, column in keys]
        assert first
        assert others == [first] * len(others), keys


def column_of(table: Table, key: str) -> list[tuple[Any, float | None, float | None]]:
    index = [each.key for each in table.columns].index(key)
    return [(row[index].value, row[index].low, row[index].high) for row in table.rows]


# What is beside a figure does not change it.


@pytest.mark.long
def test_other_dimensions_judges_or_copies_change_no_value(cast: Cast, tmp_path: Path) -> None:
    figures = figures_of(cast)
    changed = changed_between(figures_of(scene(DIMENSIONS[:1])), figures)
    # But sums over all dimensions, designs that all of them need, and which systems are neighbours: they are
    # in people's ranking over all.
    of_all = (
        *("Cheapest design, and others", "Routes at an accepted share", "Biases of"),
        *("Systems by mean", "Hours and money"),
    )
    changed = [each for each in changed if not each[1].startswith(of_all)]
    assert [each for each in changed if each[2][0] != "all" and not each[3].startswith("neighbours")] == []
    changed = changed_between(figures, figures_of(scene(judges=(*JUDGES, "Third"))))
    # p values of pairs of judges are corrected over all pairs, and who is highest is asked of all judges.
    assert [each for each in changed if not is_about_all_judges(each)] == []
    assert figures_of(copy_of(cast, tmp_path)) == figures


def copy_of(cast: Cast, folder: Path) -> Cast:
    """Export a project and import it. Others were there before it, so it has no key of the first."""
    (folder / "export").mkdir()
    write_folder(cast.project, ExportChoice(Format.JSONL), folder / "export")
    slug = cast.project.slug
    Project.objects.filter(pk=cast.project.pk).update(slug="elsewhere")
    call_command("import_export", str(folder / "export"))
    copy = replace(cast, project=Project.objects.get(slug=slug))
    make_member(copy.project, Role.RESEARCHER, user=cast.researcher)
    assert copy.project.pk != cast.project.pk
    return copy


def is_about_all_judges(cell: CellKey) -> bool:
    _, title, _, column = cell
    asks_all = title in ("Which judge agrees most with people", "Which judge is nearer to people")
    corrected = title == "Power to find which judge is better" and column in ("smallest", "needed")
    return asks_all or corrected or (title == "Differences between judges" and column.endswith("_p"))


def changed_between(before: dict[CellKey, Figure], after: dict[CellKey, Figure]) -> list[CellKey]:
    assert before
    return [cell for cell, figure in before.items() if after.get(cell) != figure]
