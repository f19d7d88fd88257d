"""Metrics: imported in the shapes of releases, computed by kept packages, beside judges and people."""

import json
from io import StringIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from scipy.stats import spearmanr

from annotate.core.models import Item, System
from concord.celery import app
from judges.core.errors import MetricRefusedError
from judges.core.models import Metric, MetricValue
from judges.metrics.commands import compute_metrics
from judges.metrics.computing import MEASURES, MetricTexts
from tests.judges.factories import make_judge
from tests.judges.importing import jsonl, run
from tests.judges.measured import let_judge, rate_all
from tests.judges.pages import address, text_of
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db
PEOPLE = [[1, 2, 4, 5], [1, 3, 4, 5], [1, 1, 4, 5]]


def values_of(cast, name):
    """Return a metric's values by document and system."""
    rows = MetricValue.objects.filter(metric__project=cast.project, metric__name=name)
    return {
        (d, s): value
        for d, s, value in rows.values_list("item__document__key", "item__system__name", "value")
    }


def test_every_number_column_is_a_metric_on_any_scale(cast, tmp_path):
    lines = [
        {
            "document": "product-1",
            "system": "system-1",
            "R1": "0.34",
            "BARTScore": -3.1,
            "note": "fine",
            "Fluency": 4,
        },
        {
            "document": "product-2",
            "system": "system-1",
            "R1": "",
            "BARTScore": 1e-33,
            "note": "",
            "Fluency": 5,
        },
    ]
    path = jsonl(tmp_path, *lines)
    assert run("import_metrics", cast.project.slug, path)[1] == "Imported 2 metrics, 3 values.\n"
    assert values_of(cast, "R1") == {("product-1", "system-1"): 0.34}
    assert values_of(cast, "BARTScore")["product-2", "system-1"] == 1e-33
    assert "Nothing is new" in run("import_metrics", cast.project.slug, path)[1]


def test_lists_over_documents_and_objects_by_system_are_read_as_released(cast, tmp_path):
    """HANNA has a line for each system with lists as texts, OpinSummEval one for each document."""
    path = tmp_path / "hanna.csv"
    path.write_text('Model,Fluency,BLEU\nsystem-1,"[4, 5]","[0.1, NaN]"\nsystem-2,"[1, 2]","[3.5, 4]"\n')
    assert run("import_metrics", cast.project.slug, path)[1] == "Imported 1 metric, 3 values.\n"
    bleu = values_of(cast, "BLEU")
    assert bleu == {
        ("product-1", "system-1"): 0.1,
        ("product-1", "system-2"): 3.5,
        ("product-2", "system-2"): 4,
    }
    people = {"annot1": {"flu": 4}}
    line = {"system-1": {"chrF": 0.2, "ter": 97.8, **people}, "system-2": {"chrF": 0.3, **people}, "case": 2}
    assert (
        run("import_metrics", cast.project.slug, jsonl(tmp_path, line))[1]
        == "Imported 2 metrics, 3 values.\n"
    )
    assert values_of(cast, "chrF") == {("product-2", "system-1"): 0.2, ("product-2", "system-2"): 0.3}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            {"document": "product-1", "system": "system-1", "R1": "much"},
            "holds something other than a number",
        ),
        ({"document": "product-9", "system": "system-1", "R1": 0.5}, "The project has no such document"),
        ({"document": "product-1", "system": "other", "R1": 0.5}, "The project has no such system"),
        ({"case": 3, "system": "system-1", "R1": 0.5}, "Documents are numbered from 1 to 2"),
        ({"system": "system-1", "R1": [0.1, 0.2, 0.3]}, "lists 3 numbers, and the project has 2 documents"),
        ({"document": "product-1", "system": "system-1", "R1": 0.9}, "“R1” has another value for this text"),
    ],
)
def test_one_rejected_line_leaves_nothing(cast, tmp_path, line, said):
    good = {"document": "product-1", "system": "system-1", "R1": 0.5}
    run("import_metrics", cast.project.slug, jsonl(tmp_path, good))
    code, _, err = run("import_metrics", cast.project.slug, jsonl(tmp_path, line), "--metric", "R1")
    assert code == 1
    assert said in err
    assert MetricValue.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_an_upload_shows_its_columns_and_is_imported_by_a_worker(client, cast, monkeypatch):
    monkeypatch.setitem(app.conf, "task_always_eager", True)
    client.force_login(cast.admin)
    rows = [{"document": "product-1", "system": f"system-{n}", "R1": n / 3, "len": n} for n in (1, 2)]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    page = client.post(address(cast, "metrics/"), {"file": SimpleUploadedFile("m.jsonl", content)})[
        "Location"
    ]
    assert "New: 2 metrics, 4 values." in text_of(client.get(page))
    chosen = {"meaning_0": "document", "meaning_1": "system", "meaning_2": "metric", "meaning_3": ""}
    assert "New: 1 metric, 2 values." in text_of(client.post(page, {**chosen, "show": "1"}))
    client.post(page, chosen)
    assert "Imported 1 metric, 2 values." in text_of(client.get(page))
    metric = Metric.objects.get()
    assert metric.source == "imported from m.jsonl"
    client.post(address(cast, f"metrics/{metric.pk}/remove/"))
    assert not MetricValue.objects.exists()


def test_measures_are_shares_of_words():
    """By hand: 6 of 8 and of 9 words are shared, 5 of them in order."""
    fox = "The quick brown fox jumps over the lazy dog"
    texts = MetricTexts("The quick brown dog jumps on the log.", "", (fox,))
    assert MEASURES["rouge1"].value(texts) == pytest.approx(2 * (6 / 8) * (6 / 9) / (6 / 8 + 6 / 9))
    assert MEASURES["rougeL"].value(texts) == pytest.approx(2 * (5 / 8) * (5 / 9) / (5 / 8 + 5 / 9))
    same = MetricTexts(fox, fox + " and " + fox, ("nothing of it", fox))
    assert [MEASURES[key].value(same) for key in ("rouge2", "chrf")] == [1, 100]
    assert MEASURES["bleu"].value(same) == pytest.approx(100)
    assert (MEASURES["words"].value(same), MEASURES["compression"].value(same)) == (9, 19 / 9)


def test_metrics_compare_outputs_with_a_system_and_run_once(cast):
    out = StringIO()
    call_command(
        "compute_metrics", cast.project.slug, "words", "rouge1", "--reference", "system-2", stdout=out
    )
    assert out.getvalue() == "Length in words: 2 new values.\nROUGE-1 to system-2: 2 new values.\n"
    Item.objects.create(
        document=cast.items[0].document,
        system=System.objects.create(project=cast.project, name="third"),
        text="Four more words here",
    )
    made = compute_metrics(project=cast.project, measures=[MEASURES["words"]])
    assert made == {"Length in words": 3}
    with pytest.raises(CommandError, match="say with --reference"):
        call_command("compute_metrics", cast.project.slug, "bleu")
    with pytest.raises(MetricRefusedError, match="There is no text of gold"):
        compute_metrics(project=cast.project, measures=[MEASURES["bleu"]], references=["gold"])


def test_metrics_appear_with_judges_in_the_correlations(cast, tmp_path):
    rate_all(cast, PEOPLE)
    let_judge(make_judge(cast.project, "direct", name="A judge"), cast, [1, 3, 2, 5])
    numbers = [-3.5, -2.5, -3.0, -1.0]
    lines = [
        {"document": item.document.key, "system": item.system.name, "BARTScore": number, "flat": 7}
        for item, number in zip(cast.items, numbers, strict=True)
    ]
    run("import_metrics", cast.project.slug, jsonl(tmp_path, *lines))
    judge, metric, flat = cells_of(cast.project, "metrics", "metrics")
    assert [metric[name].value for name in ("name", "kind", "items")] == ["BARTScore", "metric", 4]
    assert metric["dataset"].value == pytest.approx(spearmanr(numbers, [4 / 3, 2, 4, 5]).statistic)
    assert judge["kind"].value == "judge"
    assert flat["dataset"].reason == "Every value of the metric is 7; a correlation needs values that differ."
    own = cells_of(cast.project, "judges", "correlations")[0]["spearman_dataset"]
    assert (judge["dataset"].value, judge["dataset"].low) == (own.value, own.low)
