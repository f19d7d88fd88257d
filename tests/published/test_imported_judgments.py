"""The replies of Shen and others 2023, imported as files: the published figures come out of the product.

The files are imported as they were released: their columns are recognised, judges are named by model and
method, and replies are read by the product's methods.
"""

import csv
import json
from collections import Counter
from io import StringIO

import pytest
from django.core.management import call_command

from judges.models import Judgment
from tests.factories import make_user
from tests.judges.importing import run
from tests.judges.news import folder, imported_news
from tests.published.certificate_figures import certificates_are_those_of_the_arrays
from tests.published.test_judges_over_http import READ, right
from tests.reference import reference_data

pytestmark = pytest.mark.django_db

MODEL = "gpt-3.5-turbo-0301"
LABELS = {"rts": "Reason, then score", "mcq": "Multiple choice", "h2h": "Head to head"}


def test_every_published_figure_comes_out_of_imported_replies():
    project = imported_news(make_user())
    for name, said in (("h2h", "1 judge, 8,800 judgments"), ("responses", "2 judges, 9,600 judgments")):
        code, out, _ = run("import_judgments", project.slug, folder() / f"{name}_{MODEL}.jsonl.gz")
        assert (code, out) == (0, f"Imported {said}.\n")
    assert Counter(Judgment.objects.values_list("status", "run")) == {("done", None): 18_400}
    out = StringIO()
    call_command("compare_judges", project.slug, "--round", "1", "--json", stdout=out)
    compare(json.loads(out.getvalue()))
    judges = {method: f"{MODEL}, {LABELS[method]}" for method in ("rts", "mcq")}
    certificates_are_those_of_the_arrays(project, judges)


def compare(report):
    """Hold every published figure of these tables against the report."""
    figures = {each["judge"]: {at["dimension"]: at for at in each["dimensions"]} for each in report["judges"]}
    compared: Counter[tuple[str, bool]] = Counter()
    path = reference_data() / "published" / "news_summeval_chatgpt.csv"
    for row in csv.DictReader(path.read_text().splitlines()):
        method = row["method"] or "rts"
        read = (READ_PAIRS if method == "h2h" else READ).get(row["quantity"])
        if read:
            value = read(figures[f"{MODEL}, {LABELS[method]}"][row["dimension"]], row)
            assert value == pytest.approx(float(row["recomputed"]), abs=5.1e-7), row
            compared[row["paper_table"], method == "h2h"] += 1
    assert {table: count for (table, pairs), count in compared.items() if pairs} == {"5": 4, "22": 88}
    scoring = {table: count for (table, pairs), count in compared.items() if not pairs}
    assert scoring == {"4": 24, "5": 16, "6": 24, "21": 48, "23": 144, "24": 144, "25": 96}


def points(at, row):
    """Return the points that the model, or people, give the first system of a pair."""
    first, second = row["system"].split("-")
    if row["coefficient"] == "llm":
        return pair_of(at["pairs"], first, second)["points"]["value"]
    return pair_of(at["correct"]["pairs"], first, second)["human_points"]


def pair_of(pairs, first, second):
    return next(pair for pair in pairs if (pair["first"], pair["second"]) == (first, second))


READ_PAIRS = {
    "correct_preferences": lambda at, _: right(at["correct"]),
    "h2h_points_of_system_1": points,
}
