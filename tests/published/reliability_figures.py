"""Figures of Shen and others 2023 against what the commands say of a project in which SummEval was judged."""

import json
from collections import Counter
from collections.abc import Mapping
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from annotate.models import Project
from judges.comparison import CORRELATIONS
from tests.published.news_summeval import DIMENSIONS, published


def compare_reliability(project: Project) -> None:
    """Tables 7 and 29 (R), 23 and 24 (P) and 6 (M), to six decimals."""
    found = {
        (measure.removesuffix("_tau_b"), method): said(
            "reliability", project, "--coefficient", measure, "--beside-people", method, "--round", "1"
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
            figures = found[row["coefficient"], method][row["dimension"]]["figures"]
            value = READ[row["quantity"]](figures, row)
            assert value == pytest.approx(float(row["recomputed"]), abs=5.1e-7), row
            compared[row["paper_table"]] += 1
    assert compared == {"6": 24, "7": 24, "23": 144, "24": 144, "29": 144}
    trusted = {key: each["trusted"] for key, each in found["spearman", "rts"].items()}
    assert trusted == {"coherence": False, "consistency": True, "fluency": True, "relevance": False}


def compare_estimates(project: Project, judges: Mapping[str, str]) -> None:
    """Tables 21 and 25; every item is rated, so people's means are exact and so is what is combined.

    judges: names by method.
    """
    found = {method: said("estimates", project, "--judge", name) for method, name in judges.items()}
    compared: Counter[str] = Counter()
    for row in published():
        if row["quantity"] not in ("mean_human_score", "mean_judge_score"):
            continue
        systems = found[row["method"] or "rts"][row["dimension"]]["systems"]
        kinds = ("judge",) if row["method"] else ("humans", "combined", "guaranteed")
        for kind in kinds:
            estimate = named(systems, row["system"])[kind]
            assert estimate["value"] == pytest.approx(float(row["recomputed"]), abs=5.1e-7), row
            if kind != "judge":
                interval = estimate["interval"]
                assert interval["high"] - interval["low"] == pytest.approx(0, abs=1e-9)
        compared[row["paper_table"]] += 1
    assert compared == {"21": 48, "25": 96}


def the_constant_judge_passes_where_nobody_has_a_verdict(project: Project, judges: Mapping[str, str]) -> None:
    """The plain test of replacement rewards a judge that always gives one value."""
    found = {method: said("replacement", project, "--judge", name) for method, name in judges.items()}
    for method in judges:
        for dimension in ("consistency", "fluency", "relevance"):
            test = found[method][dimension]["test"]
            assert (test["verdict"], test["constant"]["winning_rate"]) == (None, 1.0)
            assert test["advantage"] < test["constant"]["advantage"]
    assert found["mcq"]["relevance"]["test"]["winning_rate"] >= 0.5  # the plain test would pass it


def said(command: str, project: Project, *arguments: str) -> dict[str, Any]:
    """Return what a command says as JSON, by dimension."""
    out = StringIO()
    call_command(command, project.slug, *arguments, "--json", stdout=out)
    dimensions = {each["dimension"]: each for each in json.loads(out.getvalue())["dimensions"]}
    assert set(dimensions) == set(DIMENSIONS)
    return dimensions


def named(rows: list[dict[str, Any]], system: str) -> dict[str, Any]:
    return next(row for row in rows if row["system"] == system)


READ: Mapping[str, Any] = {
    "reliability_indicator": lambda at, row: named(at["systems"], row["system"])["indicator"]["value"],
    "indicator_vs_human_correlation": lambda at, _: at["validity"]["correlation"]["value"],
    "per_system_correlation": lambda at, row: named(at["systems"], row["system"])["agreement"]["value"],
    "meta_correlation": lambda at, _: at["meta_correlation"]["value"],
}
