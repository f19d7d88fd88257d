"""Releases that `manage.py reproduce` takes, those that it refuses, and what it holds them against."""

import csv
import gzip
import json
import shutil
from collections import Counter

import pytest
from django.core.management import CommandError
from django.urls import reverse

from annotate.core.models import Project
from annotate.results.reproduction.papers import PAPERS, Figure, FigureMatch, compare, read_figures
from annotate.setup.commands import create_project
from judges.core.models import Judgment
from tests.factories import make_user
from tests.published.certificate_figures import certificates_are_those_of_the_arrays
from tests.published.judges_page import compared_with_published
from tests.published.reliability_figures import (
    compare_estimates,
    compare_reliability,
    the_constant_judge_passes_where_no_judge_does,
)
from tests.published.reproducing import reproduce
from tests.published.verdict_figures import bad_judges_are_refused
from tests.reference import reference_data

pytestmark = pytest.mark.django_db

MODEL = "gpt-3.5-turbo-0301"
LABELS = {"rts": "Reason, then score", "mcq": "Multiple choice", "h2h": "Head to head"}
WORDINGS = ("rts2", "mcq2", "stareval")
QUANTITIES = {
    "human correlation, data set": "correlation_with_humans",
    "meta-correlation": "meta_correlation",
    "correct pairs of 11": "correct_preferences",
}


@pytest.mark.once
@pytest.mark.long
def test_llm_summeval_runs_in_one_command_with_its_values():
    code, out = reproduce("llm-summeval", "--data", reference_data(), "--json")
    told = json.loads(out)
    assert (code, told["counts"]) == (0, {"within": 823, "explained": 65, "differs": 0, "undefined": 0})
    known = Counter((each["dimension"], each["table"]) for each in told["figures"] if each["reason"])
    assert (known.pop(("consistency", "17")), known.pop(("fluency", "17"))) == (
        1,
        1,
    )  # the second wording of MCQ
    assert (known.pop(("consistency", "18")), known.pop(("relevance", "18"))) == (1, 5)
    assert known["coherence", "4"] == 3
    assert known["relevance", "29"] == 18
    assert sum(count for (dimension, _), count in known.items() if dimension != "relevance") == 4
    project = Project.objects.get()
    judges = {method: f"{MODEL}, {label}" for method, label in LABELS.items()}
    assert compared_with_published(project, judges) == {"5": 4, "22": 88}
    del judges["h2h"]
    compare_reliability(project)
    compare_estimates(project, judges)
    the_constant_judge_passes_where_no_judge_does(project, judges)
    bad_judges_are_refused(project, judges)
    certificates_are_those_of_the_arrays(project, judges)


@pytest.mark.once
def test_a_mode_of_topical_chat_on_one_dimension_in_one_command(tmp_path):
    """Of five, and four; the whole release, 143,000 replies, gives all 40 figures by the same command."""
    about = ("rate_explain", "naturalness")
    release = only_with(*about, tmp_path)
    code, out = reproduce("topical-chat", "--data", release, "--json")
    told = json.loads(out)
    assert (code, told["counts"]) == (1, {"within": 0, "explained": 2, "differs": 0, "undefined": 38})
    computed = {
        (each["method"], each["dimension"], each["coefficient"]): each["computed"] for each in told["figures"]
    }
    for row in topical_chat_figures():
        for short, column in (("pearson", "pearson_dataset"), ("kendall", "kendall_document")):
            found = computed[row["mode"], row["dimension"], short]
            if (row["mode"], row["dimension"]) == about:
                assert found == pytest.approx(float(row[f"{column}_authors_parser"]), abs=5.1e-7)
            else:
                assert found is None
    assert Judgment.objects.filter(judge__project__slug="topical-chat").count() == 7_160
    code, again = reproduce("topical-chat", "--data", release, "--json")
    assert (code, again) == (1, out)


def only_with(mode, dimension, folder):
    """Copy the release with the replies of one mode about one dimension."""
    for path in (reference_data() / "topical_chat").iterdir():
        if path.name.startswith("dialogue_replies"):
            with gzip.open(path, "rt") as lines:
                kept = [line for line in lines if is_about(mode, dimension, json.loads(line))]
            (folder / path.name.removesuffix(".gz")).write_text("".join(kept))
        else:
            shutil.copy(path, folder)
    return folder


def is_about(mode, dimension, reply):
    return (reply["mode"], reply["dimension"]) == (mode, dimension)


def test_every_published_value_of_topical_chat_is_stored_unchanged():
    published = {
        (row["mode"], row["dimension"], short): row[f"{column}_published"]
        for row in topical_chat_figures()
        for short, column in (("pearson", "pearson_dataset"), ("kendall", "kendall_document"))
    }
    kept = {
        (each.labels["method"], each.dimension, each.labels["coefficient"]): each.published
        for each in read_figures(PAPERS["topical-chat"].figures)
    }
    assert len(kept) == 40
    assert kept == published


def test_mean_impossible_for_three_people_is_rejected(tmp_path):
    for path in (reference_data() / "topical_chat").iterdir():
        lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)[:360]
        if path.name.startswith("dialogue_responses"):
            lines[0] = lines[0].replace(b'"naturalness": 3.0', b'"naturalness": 2.8')
        (tmp_path / path.name.removesuffix(".gz")).write_bytes(b"".join(lines))
    with pytest.raises(CommandError, match=r"line 1 cannot be read \(2.8 on naturalness is no mean of 3"):
        reproduce("topical-chat", "--data", tmp_path)


def topical_chat_figures():
    path = reference_data() / "published" / "topical_chat.csv"
    return [row for row in csv.DictReader(path.read_text().splitlines()) if row["pearson_dataset_published"]]


ELSEWHERE = {("rmse", "fluency", "A1-A3", "")}
"""Table 7's only figure that is at hand, as the mean over products; the table of figures has none of it."""


@pytest.mark.parametrize(
    ("key", "name"), [("summeval-op", "summeval_op_round1"), ("llm-summeval", "news_summeval_chatgpt")]
)
def test_every_published_value_is_stored_unchanged(key, name):
    path = reference_data() / "published" / f"{name}.csv"
    rows = [row for row in csv.DictReader(path.read_text().splitlines()) if row["published"]]
    labels = [name for name in ("method", "system", "subset", "raters", "coefficient") if name in rows[0]]
    expected = {
        (row["quantity"], row["dimension"].replace(" ", "-"), *(row[label] for label in labels)): row
        for row in rows
    }
    figures = [
        each
        for each in read_figures(PAPERS[key].figures)
        if each.labels.get("method") not in WORDINGS and each.key not in ELSEWHERE
    ]
    assert {figure.key for figure in figures} == set(expected)
    for figure in figures:
        row = expected[figure.key]
        assert float(figure.published) == float(row["published"])
        assert figure.table == row["paper_table"]
        if figure.release_gives is not None:
            assert figure.release_gives == float(row["recomputed"])


def test_every_published_value_of_other_wordings_is_stored_unchanged():
    path = reference_data() / "published" / "news_summeval_wordings.csv"
    published = {
        (QUANTITIES[row["quantity"]], row["dimension"], row["method"], row["coefficient"]): row["published"]
        for row in csv.DictReader(path.read_text().splitlines())
    }
    figures = read_figures(PAPERS["llm-summeval"].figures)
    kept = {
        (each.quantity, each.dimension, each.labels["method"], each.labels["coefficient"]): each.published
        for each in figures
        if each.labels["method"] in WORDINGS
    }
    assert len(kept) == 84
    assert kept == published


def test_changed_rating_appears_in_the_reproduced_values(tmp_path):
    for name in ("summeval-op.jsonl", "summeval-op-detailed.jsonl"):
        lines = (reference_data() / "summeval_op" / name).read_text().splitlines()
        if "detailed" in name:
            product = json.loads(lines[0])
            product["fl"] = [[1, 5, 1] for _ in product["fl"]]
            lines[0] = json.dumps(product)
        (tmp_path / name).write_text("\n".join(lines))
    code, out = reproduce("summeval-op", "--data", tmp_path)
    assert code == 1
    assert " !" in out.split("Table 8")[0]
    assert ", 0 differ otherwise" not in out


@pytest.mark.parametrize(
    ("published", "computed", "standing"),
    [
        ("0.55", 0.545, FigureMatch.WITHIN),
        ("0.55", 0.544999, FigureMatch.DIFFERS),
        ("6", 6, FigureMatch.WITHIN),
        ("0.76", 0.749024, FigureMatch.EXPLAINED),
        ("0.76", 0.749026, FigureMatch.DIFFERS),
        ("0.76", None, FigureMatch.UNDEFINED),
    ],
)
def test_comparison_classifies_a_value_against_the_published_one(published, computed, standing):
    gives = 0.749024 if published == "0.76" else None
    figure = Figure("8", "correlation", "fluency", {}, published, gives, "paper")
    assert compare(figure, computed, {"paper": "Because."}).standing == standing


def test_missing_data_is_reported_before_anything_is_created(tmp_path):
    with pytest.raises(CommandError, match=r"does not hold summeval-op\.jsonl \(reviews and summaries"):
        reproduce("summeval-op", "--data", tmp_path)
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        shutil.copy(reference_data() / "summeval_op" / "summeval-op.jsonl", tmp_path / folder)
    with pytest.raises(CommandError, match=r"holds summeval-op\.jsonl more than once"):
        reproduce("summeval-op", "--data", tmp_path)
    with pytest.raises(CommandError, match="Nobody has an account"):
        reproduce("summeval-op", "--data", reference_data(), "--admin", "nobody@example.com")
    assert not Project.objects.exists()


def test_foreign_project_with_that_name_stays_untouched(client):
    admin = make_user()
    project = create_project(user=admin, name="SummEval-OP")
    with pytest.raises(CommandError, match="was not made for this paper"):
        reproduce("summeval-op", "--data", reference_data())
    assert not project.documents.exists()
    client.force_login(admin)
    assert client.get(reverse("reproduction", args=[project.slug])).status_code == 404
