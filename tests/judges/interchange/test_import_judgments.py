"""Judgments made elsewhere, from the command line."""

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from openpyxl import Workbook

from annotate.core.models import Dimension, Guideline, Round
from annotate.material.reading.source import Source
from judges.core.errors import RunRefusedError
from judges.core.models import Judge, Judgment, PromptTemplate
from judges.core.specification import Scope
from judges.interchange import commands as interchange_commands
from judges.interchange.commands import add_recorded_judge, import_judgments
from judges.interchange.queries.imports import read_judgments
from judges.interchange.reading import WORDS, guess_judgment_mapping
from judges.methods import Method
from judges.methods.scales import OwnScale
from judges.runs.commands.runs import plan_run
from tests.judges.factories import make_judge, make_judgment
from tests.judges.importing import jsonl, row, run

pytestmark = pytest.mark.django_db


def imported(cast, path, *options):
    code, out, err = run("import_judgments", cast.project.slug, path, *options)
    assert code == 0, err
    return out


def refused(cast, path, *options):
    """Return what a refused import says, having seen that it left nothing."""
    before = Judgment.objects.count(), Judge.objects.count()
    code, _, err = run("import_judgments", cast.project.slug, path, *options)
    assert (code, (Judgment.objects.count(), Judge.objects.count())) == (1, before)
    return err


def test_only_good_lines_import_and_their_samples_skip_the_others(cast, tmp_path):
    rows = [
        row(value=9, method="direct"),
        row(value=2, method="direct"),
        row("nowhere", value=3, method="direct"),
    ]
    path = jsonl(tmp_path, *rows)
    assert "9" in refused(cast, path)
    out = imported(cast, path, "--only-good")
    assert "Imported 1 judge, 1 judgment." in out
    assert "left out: 2." in out
    (judgment,) = Judgment.objects.all()
    assert (judgment.value, judgment.sample) == (2, 0)


def test_a_reply_is_read_as_a_collected_one_is(cast, tmp_path):
    reply = "It reads well.\nScore: 4"
    usage = {"input_tokens": 500, "output_tokens": "25", "cost": 1.2e-05, "seconds": 0.5}
    out = imported(cast, jsonl(tmp_path, row(model="gpt-x", reply=reply, **usage)))
    assert out == "Imported 1 judge, 1 judgment.\n"
    judge, judgment = Judge.objects.get(), Judgment.objects.get()
    assert (judge.name, judge.model, judge.method) == ("GPT elsewhere", "gpt-x", "rts")
    assert (judge.endpoint, judge.template, judgment.run, judgment.other) == (None, None, None, None)
    assert (judgment.item, judgment.dimension) == (cast.items[0], cast.dimensions[0])
    assert (judgment.status, judgment.value, judgment.reply) == ("done", 4, reply)
    assert judgment.rationale == "It reads well."
    assert (judgment.input_tokens, judgment.output_tokens, judgment.seconds) == (500, 25, 0.5)
    assert judgment.cost == Decimal("0.000012")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("I cannot say.", "No score was found."),
        ("Score: 7", "The score 7 is outside the scale from 1 to 5."),
        ("  ", "The reply is empty."),
    ],
)
def test_unreadable_reply_is_stored_with_its_reason_and_counts(cast, tmp_path, reply, reason):
    out = imported(cast, jsonl(tmp_path, row(reply=reply), row(system="system-2", reply="Score: 2")))
    assert "Imported 1 judge, 2 judgments.\n1 reply is unreadable" in out
    assert f"Line 1, reply: {reason}" in out
    judgment = Judgment.objects.get(status="unreadable")
    assert (judgment.value, judgment.reply, judgment.reason) == (None, reply, reason)


@pytest.mark.parametrize(("written", "value"), [(4, 4), ("3.5", 3.5), ("3,5", 3.5), (2.75, 2.75), (1e0, 1)])
def test_a_value_on_the_scale_needs_no_reply(cast, tmp_path, written, value):
    imported(cast, jsonl(tmp_path, row(value=written, rationale="Because.")))
    judgment = Judgment.objects.get()
    assert (judgment.status, judgment.value, judgment.reply) == ("done", value, "")
    assert judgment.rationale == "Because."


def test_second_displayed_output_is_the_other_system(cast, tmp_path):
    pair = {"method": "Head to head", "judge": "Versus"}
    path = jsonl(
        tmp_path,
        row(**pair, other_system="system-2", reply="B: it is clearer"),
        row(**pair, system="system-2", other_system="system-1", value=0.5),
    )
    imported(cast, path)
    first, second = Judgment.objects.order_by("pk")
    assert (first.item, first.other, first.value) == (cast.items[0], cast.items[1], 0)
    assert (second.item, second.other, second.value) == (cast.items[1], cast.items[0], 0.5)


def test_repeated_rows_of_a_unit_are_ordered_samples_unless_numbered(cast, tmp_path):
    imported(cast, jsonl(tmp_path, *(row(value=value) for value in (2, 3, 3))))
    imported(cast, jsonl(tmp_path, row(value=5, sample=7)))
    found = Judgment.objects.order_by("sample").values_list("sample", "value")
    assert list(found) == [(0, 2), (1, 3), (2, 3), (7, 5)]
    assert Judge.objects.get().samples == 8


def test_columns_are_recognised_in_tables_too(cast, tmp_path):
    path = tmp_path / "judgments.tsv"
    path.write_text("id\tsystem_1\tcriterion\tresponse\nproduct-2\tsystem-1\tFluency\tScore: 2\n")
    imported(cast, path, "--judge", "GPT", "--method", "rts")
    judgment = Judgment.objects.get()
    assert (judgment.item, judgment.value, judgment.judge.name) == (cast.items[2], 2, "GPT")


def test_worksheets_are_read_and_an_empty_cell_is_no_reply(cast, tmp_path):
    path = tmp_path / "judgments.xlsx"
    workbook = Workbook()
    sheet = workbook.create_sheet(index=0)
    sheet.append(["document", "system", "value", "reply", "sample"])
    sheet.append(["product-1", "system-1", 3.5, None, 0])
    sheet.append(["product-1", "system-2", None, 4, 1])
    workbook.save(path)
    imported(cast, path, "--judge", "GPT", "--method", "rts", "--dimension", "fluency")
    found = Judgment.objects.order_by("pk").values_list("value", "reply", "sample")
    assert list(found) == [(3.5, "", 0), (4, "4", 1)]


def test_options_map_columns_and_constants_apply_to_all_rows(cast, tmp_path):
    path = tmp_path / "judgments.csv"
    path.write_text("a;b;judge;c\nproduct-1;system-1;nobody;3\n")
    options = ("--map", "document=a", "--map", "system=b", "--map", "value=c", "--map", "judge=judge")
    imported(cast, path, *options, "--judge", "GPT", "--method", "G-Eval", "--dimension", "fluency")
    judge = Judge.objects.get()
    assert (judge.name, judge.method, judge.model) == ("GPT", "g_eval", "")


def test_option_overrides_a_header_guess_and_keeps_the_other_columns(cast, tmp_path):
    path = jsonl(tmp_path, {**row(value=3, reply="5"), "score": 4, "cost": 0.5, "seconds": 2})
    imported(cast, path, "--map", "value=score", "--map", "reply=", "--map", "seconds=cost")
    found = Judgment.objects.get()
    assert (found.judge.name, found.value, found.reply, found.seconds) == ("GPT elsewhere", 4, "", 0.5)
    assert found.cost is None


def test_without_a_name_judges_are_called_by_model_and_method(cast, tmp_path):
    rows = [row(method=method, model="m", value=3) for method in ("rts", "mcq")]
    for each in rows:
        del each["judge"]
    imported(cast, jsonl(tmp_path, *rows))
    names = Judge.objects.order_by("name").values_list("name", flat=True)
    assert list(names) == ["m, Multiple choice", "m, Reason, then score"]


def test_repeated_file_changes_nothing_and_reports_it(cast, tmp_path):
    path = jsonl(tmp_path, row(reply="Score: 3"), row(reply="?"), row(system="system-2", value=2))
    imported(cast, path)
    before = list(Judgment.objects.values())
    out = imported(cast, path)
    assert out == "Nothing is new: all 3 judgments were already there.\n"
    assert list(Judgment.objects.values()) == before


def test_more_rows_are_added_to_an_imported_judge(cast, tmp_path):
    imported(cast, jsonl(tmp_path, row(value=3)))
    out = imported(cast, jsonl(tmp_path, row(value=3), row(system="system-2", value=4)))
    assert out == "Imported 1 judgment.\nAlready there: 1 judgment.\n"


@pytest.mark.parametrize(
    ("there", "other"),
    [
        ({"value": 3}, {"value": 4}),
        ({"reply": "Score: 3"}, {"reply": "The score is 3."}),
        ({"reply": "Score: 3"}, {"value": 2}),
        ({"reply": "?"}, {"value": 3}),
    ],
)
def test_different_reply_or_value_is_rejected_and_overwrites_nothing(cast, tmp_path, there, other):
    imported(cast, jsonl(tmp_path, row(**there)))
    before = list(Judgment.objects.values())
    err = refused(cast, jsonl(tmp_path, row(system="system-2", value=1), row(**other)))
    assert "Line 2" in err
    assert "has another reply or value for this text and sample already" in err
    assert "“system-1” on “product-1”, Fluency, sample 0" in err
    assert list(Judgment.objects.values()) == before


def test_two_contradicting_rows_of_a_file_are_rejected(cast, tmp_path):
    err = refused(cast, jsonl(tmp_path, row(value=3, sample=1), row(value=4, sample=1)))
    assert "Line 2, value: “GPT elsewhere” has another" in err


REFUSALS: dict[str, tuple[dict[str, object], str]] = {
    "system": ({"system": "M9"}, "The project has no such system"),
    "document": ({"document": "d9"}, "The project has no such document; import documents and items first."),
    "dimension": (
        {"dimension": "beauty"},
        "The project has no such dimension; it has Fluency. Here: b",
    ),
    "method": ({"method": "guess"}, "There is no such method; there are analyse_rate (Analyse, then rate), "),
    "off the scale": ({"value": 6}, "value: Fluency is judged from 1 to 5. Here: 6."),
    "no number": ({"value": "good"}, "“value” has to be a number. Here: good."),
    "infinite": ({"value": "1e999"}, "“value” has to be a number."),
    "nothing": ({"value": None}, "There is neither a reply nor a value"),
    "a list": ({"value": None, "reply": ["4"]}, "holds a list where a text is needed"),
    "no judge": ({"judge": ""}, "The field “judge” is empty"),
    "a long name": ({"judge": "x" * 81}, "has 81 characters where at most 80 fit"),
    "sample": ({"sample": -1}, "“sample” has to be a whole number from 0."),
    "many samples": ({"sample": 1000}, "Samples are numbered from 0 to 999."),
    "tokens": ({"input_tokens": 1.5}, "“input_tokens” has to be a whole number from 0."),
    "cost": ({"cost": -1}, "A cost is an amount from 0"),
    "seconds": ({"seconds": "-2"}, "Seconds are counted from 0."),
    "one text": ({"other": "system-2"}, "judges one text at a time; leave the other system out."),
    "two texts": ({"method": "h2h"}, "Head to head compares two systems; say which one’s text"),
    "itself": ({"method": "h2h", "other": "system-1"}, "A system is not compared with itself."),
    "points": (
        {"method": "h2h", "other": "system-2", "value": 2, "judge": "Versus"},
        "The value is 1 where the text shown first is better, 0 where the other is, 0.5 for a tie.",
    ),
    "disagreement": (
        {"reply": "Score: 3", "value": 4},
        "The reply reads as another value than the one",
    ),
    "unread": ({"reply": "?", "value": 4}, "import one of the two columns. Here: nothing and 4."),
    "NUL": ({"value": None, "reply": "a\0b"}, "holds a NUL character"),
}


@pytest.mark.parametrize("which", REFUSALS)
def test_unimportable_input_gets_a_message(cast, tmp_path, which):
    changes, sentence = REFUSALS[which]
    err = refused(cast, jsonl(tmp_path, row(value=3, system="system-2"), row(**({"value": 3} | changes))))
    assert "Nothing was imported. Refused lines: 1.\nLine 2" in err
    assert sentence in err


def test_named_categories_have_no_value_between_them(cast, tmp_path):
    Dimension.objects.update(measurement_level="nominal")
    err = refused(cast, jsonl(tmp_path, row(value=2.5)))
    assert "Fluency has named categories, and nothing lies between them." in err
    err = refused(cast, jsonl(tmp_path, row(method="stars", value=2)))
    assert "stars cannot count them" in err


def test_lines_are_grouped_by_cause_with_the_first_of_them(cast, tmp_path):
    path = jsonl(tmp_path, *(row(document=f"d{n % 7}", value=3) for n in range(30)), row(value=9))
    err = refused(cast, path)
    assert "Refused lines: 31." in err
    assert "Lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 20 more, document: The project has no such" in err
    assert "Here: d0, d1, d2, d3, d4, …." in err
    assert err.count("\n") == 3


def test_many_causes_are_listed_within_a_limit(cast, tmp_path):
    path = tmp_path / "broken.jsonl"
    path.write_text("".join(f'{{"f{n}": 1, "f{n}": 2}}\n' for n in range(1050)))
    options = ("--judge", "GPT", "--method", "rts", "--dimension", "fluency", "--map", "value=f1")
    more = ("--map", "document=d", "--map", "system=s")
    code, out, _ = run("import_judgments", cast.project.slug, path, *options, *more, "--json")
    report = json.loads(out)
    assert (code, report["refused_count"], len(report["refused"])) == (1, 1050, 50)
    assert "and 1,000 more lines." in refused(cast, path, *options, *more)


def test_a_judge_that_asks_is_not_mixed_with_judgments_made_elsewhere(cast, tmp_path):
    make_judge(cast.project, name="GPT elsewhere")
    err = refused(cast, jsonl(tmp_path, row(value=3)))
    assert "“GPT elsewhere” asks an endpoint, and judgments made elsewhere are not mixed with its own" in err


def test_a_judge_keeps_its_method_and_model(cast, tmp_path):
    imported(cast, jsonl(tmp_path, row(value=3, model="m")))
    err = refused(cast, jsonl(tmp_path, row(value=3, method="mcq", model="m"), row(value=3, model="n")))
    assert "Line 1, method: “GPT elsewhere” judges by Reason, then score, and these rows by Multiple" in err
    assert "Line 2, model: “GPT elsewhere” is the model m; give each model a judge" in err
    imported(cast, jsonl(tmp_path, row(value=3)))


def test_a_dry_run_checks_and_writes_nothing(cast, tmp_path):
    out = imported(cast, jsonl(tmp_path, row(value=3)), "--dry-run")
    assert out == "Would import 1 judge, 1 judgment.\n"
    assert (Judge.objects.count(), Guideline.objects.count()) == (0, 0)


def test_the_report_is_printed_as_json(cast, tmp_path):
    report = json.loads(imported(cast, jsonl(tmp_path, row(reply="?"), row(value=3)), "--json"))
    assert report["made"] == {"judges": 1, "judgments": 2}
    assert report["already_there"] == {"judges": 0, "judgments": 0}
    assert (report["unreadable_count"], report["refused_count"], report["lines"]) == (1, 0, 2)
    (cause,) = report["unreadable"]
    assert (cause["lines"], cause["reason"]) == ([1], "No score was found.")


def test_import_that_cannot_start_gets_a_message(cast, tmp_path):
    path = jsonl(tmp_path, {"a": 1, "b": 2})
    slug = cast.project.slug
    latin = tmp_path / "latin.csv"
    latin.write_bytes("id\né\n".encode("latin-1"))
    for arguments, sentence in (
        (("other", path), "no project 'other'"),
        ((slug, tmp_path / "none.csv"), "no file"),
        ((slug, path), "Nothing says what is the judge or model, the method, .* The file has a, b"),
        ((slug, path, "--map", "a"), "not of the form field=column"),
        ((slug, path, "--map", "colour=a"), "“colour” is given twice or is not one of judge, model"),
        ((slug, latin), "Line 2: This line is not UTF-8"),
    ):
        with pytest.raises(CommandError, match=sentence):
            run("import_judgments", *arguments)


def test_name_used_during_the_import_is_rejected_while_writing(cast, tmp_path, monkeypatch):
    path = jsonl(tmp_path, row(value=3))

    def read_and_be_overtaken(*arguments, **options):
        reading = read_judgments(*arguments, **options)
        make_judge(cast.project, name="GPT elsewhere")
        return reading

    monkeypatch.setattr(interchange_commands, "read_judgments", read_and_be_overtaken)
    source = Source(path, path.name, guess_judgment_mapping(row(value=3), {}))
    report = import_judgments(project=cast.project, source=source)
    assert report.is_refused
    assert not Judgment.objects.exists()


def test_pattern_that_changes_during_the_import_is_used_while_writing(cast, tmp_path, monkeypatch):
    add_recorded_judge(
        project=cast.project,
        name="Theirs",
        model="theirs",
        method="direct",
        prompt="Rate {{ text }}.",
        pattern=r"first (\d)",
        scale=OwnScale(1, 5),
    )
    reply = "first 2, second 4"
    path = jsonl(tmp_path, row(judge="Theirs", model="theirs", method="direct", reply=reply))

    def read_and_be_overtaken(*arguments, **options):
        reading = read_judgments(*arguments, **options)
        assert reading.first[0].content[0] == 2
        PromptTemplate.objects.filter(name="Theirs").update(pattern=r"second (\d)")
        return reading

    monkeypatch.setattr(interchange_commands, "read_judgments", read_and_be_overtaken)
    source = Source(path, path.name, guess_judgment_mapping(row(reply=reply), {}))
    assert not import_judgments(project=cast.project, source=source).is_refused
    assert Judgment.objects.get().value == 4


def test_writing_parses_no_reply_again(cast, tmp_path, monkeypatch):
    parsed = []
    read_with = Method.read_with

    def count(method, pattern, reply, dimension):
        parsed.append(reply)
        return read_with(method, pattern, reply, dimension)

    monkeypatch.setattr(Method, "read_with", count)
    imported(cast, jsonl(tmp_path, row(reply="Score: 4")))
    assert Judgment.objects.get().value == 4
    assert parsed == ["Score: 4"]


def test_imported_judge_cannot_run(cast, tmp_path):
    imported(cast, jsonl(tmp_path, row(value=3)))
    with pytest.raises(RunRefusedError, match="is imported and has no endpoint"):
        plan_run(project=cast.project, scope=Scope([Judge.objects.get()], ["fluency"]), by=None)
    with pytest.raises(CommandError, match="no judge 'GPT elsewhere' to ask"):
        run("judge", cast.project.slug, "--judge", "GPT elsewhere")


def test_import_opens_no_round_and_freezes_the_judged_dimensions(cast, tmp_path):
    imported(cast, jsonl(tmp_path, row(value=3)))
    assert not Round.objects.exists()
    _, out, _ = run("compare_judges", cast.project.slug, "--json")
    scoring = json.loads(out)["sections"][0]["tables"][0]
    assert scoring["key"] == "scoring"
    assert [row[2]["value"] for row in scoring["rows"]] == [1]


def test_judgments_of_other_judges_are_no_obstacle(cast, tmp_path):
    make_judgment(make_judge(cast.project), cast.items[0], cast.dimensions[0], value=1)
    imported(cast, jsonl(tmp_path, row(value=3)))
    assert Judgment.objects.count() == 2


def test_the_number_of_queries_does_not_grow_with_rows(cast, tmp_path):
    def queries(*rows):
        with CaptureQueriesContext(connection) as captured:
            imported(cast, jsonl(tmp_path, *rows))
        return len(captured)

    queries(row(judge="first of all, which freezes the guideline", value=3))
    few = queries(row(judge="one", value=3))
    assert queries(*(row(judge="two", value=3) for _ in range(20))) == few


def test_every_documented_column_is_recognised():
    text = Path("docs/how-to/importing.md").read_text()
    table = text.split("## Judgments made elsewhere")[1].split("\n```\n{")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if "|" in line]
    documented = [
        (re.findall(r"`(\w+)`", fields), re.findall(r"`(\w+)`", names)) for fields, _, names in rows
    ]
    fields = [field for of_row, _ in documented for field in of_row]
    assert sorted(fields) == sorted(WORDS)
    for of_row, names in documented:
        assert set(names) <= {word for field in of_row for word in WORDS[field]}


PREFERENCES = """rater,document,system_a,system_b,dimension,preference
Dora,{document},{one},{other},{dimension},1
Dora,{document},{other},{one},{dimension},0.5
Emil,{document},{one},{other},{dimension},0
"""


def preferences_file(cast, tmp_path):
    one, other = cast.items[:2]
    assert one.document == other.document
    path = tmp_path / "preferences.csv"
    path.write_text(
        PREFERENCES.format(
            document=one.document.key,
            one=one.system.name,
            other=other.system.name,
            dimension=cast.dimensions[0].key,
        )
    )
    return path


def test_preferences_of_people_come_in_under_each_raters_name(cast, tmp_path):
    out = imported(cast, preferences_file(cast, tmp_path), "--method", "h2h")
    assert out == "Imported 2 judges, 3 judgments.\n"
    one, other = cast.items[:2]
    found = Judgment.objects.order_by("pk").values_list("judge__name", "item", "other", "value")
    assert list(found) == [
        ("Dora", one.pk, other.pk, 1),
        ("Dora", other.pk, one.pk, 0.5),
        ("Emil", one.pk, other.pk, 0),
    ]
    sections = json.loads(run("results", cast.project.slug, "judges", "--json")[1])
    assert "Systems by strength (Dora)" in json.dumps(sections)


def test_preferences_of_several_people_can_be_one_judge_whose_samples_they_are(cast, tmp_path):
    columns = ["document=document", "system=system_a", "other=system_b", "dimension=dimension"]
    mapped = [part for each in [*columns, "value=preference"] for part in ("--map", each)]
    imported(cast, preferences_file(cast, tmp_path), "--method", "h2h", "--judge", "People", *mapped)
    one = cast.items[0]
    found = Judgment.objects.filter(item=one).order_by("sample").values_list("judge__name", "sample", "value")
    assert list(found) == [("People", 0, 1), ("People", 1, 0)]
