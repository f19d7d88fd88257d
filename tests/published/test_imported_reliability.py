"""Figures of Shen and others 2023 out of the product: replies imported as released, then one command each."""

import json
from collections import Counter
from io import StringIO

import pytest
from django.core.management import call_command

from judges.comparison import CORRELATIONS
from tests.factories import make_user
from tests.judges.importing import run
from tests.judges.news import folder, imported_news
from tests.published.news_summeval import DIMENSIONS, published

pytestmark = pytest.mark.django_db

MODEL = "gpt-3.5-turbo-0301"
JUDGES = {"rts": f"{MODEL}, Reason, then score", "mcq": f"{MODEL}, Multiple choice"}


def test_published_figures_come_out_of_imported_replies():
    project = imported_news(make_user())
    assert run("import_judgments", project.slug, folder() / f"responses_{MODEL}.jsonl.gz")[0] == 0
    tables_7_and_29(project)
    tables_21_and_25(project)
    the_constant_judge_passes_where_nobody_has_a_verdict(project)


def tables_7_and_29(project):
    found = {
        (measure.removesuffix("_tau_b"), method): reliability(project, measure, method)
        for measure in CORRELATIONS
        for method in JUDGES
    }
    compared: Counter[str] = Counter()
    for row in published():
        if row["quantity"] == "reliability_indicator":
            figures = found[row["coefficient"], "rts"][row["dimension"]]["figures"]
            value = named(figures["systems"], row["system"])["indicator"]["value"]
        elif row["quantity"] == "indicator_vs_human_correlation":
            figures = found[row["coefficient"], row["method"]][row["dimension"]]["figures"]
            value = figures["validity"]["correlation"]["value"]
        else:
            continue
        assert value == pytest.approx(float(row["recomputed"]), abs=5.1e-7), row
        compared[row["paper_table"]] += 1
    assert compared == {"7": 24, "29": 144}
    trusted = {key: each["trusted"] for key, each in found["spearman", "rts"].items()}
    assert trusted == {"coherence": False, "consistency": True, "fluency": True, "relevance": False}


def tables_21_and_25(project):
    """People's and judges' means; every item is rated, so people's are exact and so is what is combined."""
    found = {method: said("estimates", project, "--judge", name) for method, name in JUDGES.items()}
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


def the_constant_judge_passes_where_nobody_has_a_verdict(project):
    found = {method: said("replacement", project, "--judge", name) for method, name in JUDGES.items()}
    for method in JUDGES:
        for dimension in ("consistency", "fluency", "relevance"):
            test = found[method][dimension]["test"]
            assert (test["verdict"], test["constant"]["winning_rate"]) == (None, 1.0)
            assert test["advantage"] < test["constant"]["advantage"]
    assert found["mcq"]["relevance"]["test"]["winning_rate"] >= 0.5  # the plain test would pass it


def reliability(project, measure, method):
    """Return the figures by dimension."""
    return said("reliability", project, "--coefficient", measure, "--beside-people", method, "--round", "1")


def said(command, project, *arguments):
    """Return what a command says as JSON, by dimension."""
    out = StringIO()
    call_command(command, project.slug, *arguments, "--json", stdout=out)
    dimensions = {each["dimension"]: each for each in json.loads(out.getvalue())["dimensions"]}
    assert set(dimensions) == set(DIMENSIONS)
    return dimensions


def named(rows, system):
    return next(row for row in rows if row["system"] == system)
