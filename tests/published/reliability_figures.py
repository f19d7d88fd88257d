"""Figures of Shen and others 2023 against what the commands say of a project in which SummEval was judged."""

import json
from collections import Counter
from collections.abc import Mapping
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from agreement.comparison import CORRELATIONS
from annotate.core.models import Project
from judges.core.models import Judge
from tests.published.news_summeval import published
from tests.results.reading import cells_of


def compare_reliability(project: Project) -> None:
    """Tables 7 and 29 (R), 23 and 24 (P) and 6 (M), to six decimals."""
    found = {
        (measure.removesuffix("_tau_b"), method): tables_of(
            project, "--coefficient", measure, "--compared-judge", method, "--round", "1"
        )
        for measure in CORRELATIONS
        for method in ("rts", "mcq")
    }
    compared: Counter[str] = Counter()
    for row in published():
        if row["quantity"] in READ:
            method = "rts" if row["quantity"] == "reliability_indicator" else row["method"]
            if (row["coefficient"], method) not in found:
                continue
            key, column = READ[row["quantity"]]
            of = row["system"] or row["dimension"].title()
            cell = found[row["coefficient"], method][key][of][column or row["dimension"]]
            assert cell["value"] == pytest.approx(float(row["recomputed"]), abs=5.1e-7), row
            compared[row["paper_table"]] += 1
    assert compared == {"6": 24, "7": 24, "23": 144, "24": 144, "29": 144}
    readings = found["spearman", "rts"]["validity"]
    trusted = {name for name, row in readings.items() if row["reading"]["value"].startswith("Yes")}
    assert trusted == {"Consistency", "Fluency"}


def tables_of(project: Project, *arguments: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the tables of reliability by key: rows by their first cell, cells by their column's key."""
    out = StringIO()
    call_command("reliability", project.slug, *arguments, "--json", stdout=out)
    tables = [table for section in json.loads(out.getvalue())["sections"] for table in section["tables"]]
    return {
        table["key"]: {
            row[0]["value"]: {column["key"]: cell for column, cell in zip(table["columns"], row, strict=True)}
            for row in table["rows"]
        }
        for table in tables
    }


def compare_estimates(project: Project, judges: Mapping[str, str]) -> None:
    """Tables 21 and 25; every item is rated, so people's means are exact and so is what is combined.

    judges: names by method.
    """
    found = {
        method: {
            (row["dimension"].key, row["system"].value): row
            for row in cells_of(project, "estimates", "means", judge=key_of(project, name), about="texts")
        }
        for method, name in judges.items()
    }
    compared: Counter[str] = Counter()
    for row in published():
        if row["quantity"] not in ("mean_human_score", "mean_judge_score"):
            continue
        cells = found[row["method"] or "rts"][row["dimension"], row["system"]]
        kinds = ("judge",) if row["method"] else ("humans", "combined", "guaranteed")
        for kind in kinds:
            assert cells[kind].value == pytest.approx(float(row["recomputed"]), abs=5.1e-7), row
            if kind != "judge":
                assert cells[kind].high - cells[kind].low == pytest.approx(0, abs=1e-9)
        compared[row["paper_table"]] += 1
    assert compared == {"21": 48, "25": 96}


def the_constant_judge_passes_where_no_judge_does(project: Project, judges: Mapping[str, str]) -> None:
    """The plain test of replacement rewards a judge that always gives one value."""
    for method, name in judges.items():
        rows = cells_of(project, "replacement", "tests", judge=key_of(project, name))
        for dimension in ("consistency", "fluency", "relevance"):
            own, constant, *_ = [row for row in rows if row["dimension"].key == dimension]
            assert not own["verdict"].value.startswith("Passes:")
            assert constant["winning_rate"].value == 1.0
            assert own["advantage"].value < constant["advantage"].value
            if (method, dimension) == ("mcq", "relevance"):
                assert own["winning_rate"].value >= 0.5  # the plain test would pass it
                assert own["verdict"].value.startswith("Passes, but so would a control")


def key_of(project: Project, judge: str) -> str:
    return str(Judge.objects.get(project=project, name=judge).pk)


READ: Mapping[str, tuple[str, str]] = {  # a table and its column, else that of the dimension
    "reliability_indicator": ("indicator", ""),
    "indicator_vs_human_correlation": ("validity", "validity"),
    "per_system_correlation": ("agreement", ""),
    "meta_correlation": ("validity", "meta_correlation"),
}
