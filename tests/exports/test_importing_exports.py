"""An export imported into an installation without its project, and exported again: the same bytes."""

import json
import zipfile
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.core.models import (
    Assignment,
    AuditEntry,
    Dimension,
    Dispute,
    Document,
    GoldItem,
    Item,
    Membership,
    Project,
    Rating,
    RatingChange,
    User,
)
from annotate.disputes.commands.disputes import (
    adjudicate,
    answer_dispute,
    leave_open,
    post_message,
    take_back,
)
from annotate.exports.citation import Datasheet, DatasheetSection
from annotate.exports.commands import save_datasheet
from annotate.exports.manifest import hash_of, sha256_of
from annotate.exports.registry import TABLES, ExportPart, Row
from annotate.exports.restoring.archive import RESTORERS, ExportArchive, Restored
from annotate.people.queries import people_of
from annotate.quality.commands import decide_counting, mark_gold
from annotate.rating.commands.assignments import acknowledge_wording, hand_over_work
from annotate.rating.commands.plans import choose_plan
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_two
from annotate.rating.commands.units import WantedUnit, ask_for_units
from annotate.rating.evidence import Passage
from annotate.setup.commands import delete_project, reword_guidelines
from judges.core.models import DevelopmentDocument, Judgment, JudgmentChange, Proposal, Run
from judges.runs.commands.corrections import ask_again, exclude, set_value
from judges.runs.commands.runs import cancel_run
from tests.factories import Cast, make_outside_rater, make_project
from tests.judges.factories import make_judge, make_judgment, make_metric, make_run, make_template
from tests.rating.rounds import assigned, frozen, opened, rate

pytestmark = pytest.mark.django_db

OF_OTHER_KINDS = {
    *(("guidelines", name) for name in ("options", "shown_if")),
    *(("comparisons", name) for name in TABLES["comparisons"].names),
    *(("parts", name) for name in TABLES["parts"].names),
    *((table, "data") for table in ("ratings", "history", "dispute_events", "judgments")),
    ("disputes", "adjudicated_data"),
}
"""Columns that only answers of other kinds fill; tests/exports/test_every_kind_in_exports.py has them."""
EMPTY: tuple[Any, ...] = (None, "", [], {}, False)
STRANGE = ' "Fünf", 5; =1+1\n\r\n\u2028 שלום 🙂\\ '


@pytest.fixture
def cast() -> Cast:
    """Two rounds with everything that can be in them, and judges of three kinds with their runs."""
    cast = make_project(dimensions=("fluency", "coherence"), documents=3)
    strange, fine = {"label": "Review 1", "text": STRANGE}, {"label": "", "text": "Fine."}
    Document.objects.update(parts=[{**strange, "format": "markdown"}, fine])
    Item.objects.update(text=STRANGE)
    Item.objects.filter(pk=cast.items[0].pk).update(format="chat")
    Dimension.objects.update(guidelines=STRANGE, not_applicable=True)
    judged(cast)
    DevelopmentDocument.objects.create(document=cast.items[0].document, part="select")
    about = {"judge": cast.project.judges.order_by("pk")[0], "dimension": cast.dimensions[0]}
    proposal = Proposal.objects.create(**about, kind="clarification", text=STRANGE, about=STRANGE)
    proposal.items.set(cast.items[:2])
    make_metric(cast, [0.34, -3.1, 1e-33, 1 / 3, 0, 97.87], name=STRANGE)
    mark_gold(project=cast.project, item=cast.items[5], use=GoldItem.Use.PRACTICE)
    rated(cast)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    discuss(cast)
    first, second, third = cast.annotators
    ended: dict[str, Any] = {"outcome": "completed", "ended_at": timezone.now()}
    make_outside_rater(first, answers=[{"question": STRANGE, "answer": STRANGE}], **ended)
    make_outside_rater(second, parameters={}, platform_id="")
    make_outside_rater(third)
    written = Datasheet(("en",), sections={DatasheetSection.USES: STRANGE})
    save_datasheet(project=cast.project, datasheet=written, by=cast.admin)
    return cast


def judged(cast: Cast) -> None:
    """Judge before any round is open, so that runs quote a guideline that no round has."""
    wordings = {str(cast.dimensions[1].pk): f"{STRANGE} {{{{ text }}}}"}
    template = make_template(cast.project, pattern=r"Grade: (\d)", wordings=wordings)
    scale: dict[str, Any] = {
        "scale_minimum": 1,
        "scale_maximum": 3,
        "scale_modifiers": True,
        "scale_table": [1, 1.5, 5],
    }
    reasoner = make_judge(cast.project, "rts", name="Reasoner", template=template, **scale)
    source = make_judgment(reasoner, cast.items[1], cast.dimensions[0])
    saved = {"reused": 1, "reused_cost": "0.00000123", "cached_tokens": 7, "cache_savings": "0.5"}
    reused = make_judgment(reasoner, cast.items[2], cast.dimensions[0], reused_from=source)
    Run.objects.filter(judgments=reused).update(reuses_answers=True, **saved)
    judgment = make_judgment(reasoner, cast.items[0], cast.dimensions[0])
    set_value(judgment=judgment, value=2, note=STRANGE, by=cast.admin)
    exclude(judgment=judgment, note="It is about another text.", by=cast.admin)
    pairs = make_judge(cast.project, "h2h", name="Pairs")
    both = {"other": cast.items[1], "value": 0.5, "cost": Decimal("0.00000123"), "seconds": 0.1}
    call = {
        "parameters": {"model": "m", "stop": [STRANGE]},
        "messages": [{"content": STRANGE, "role": "user"}],
    }
    both |= {"finish_reason": "stop", "returned_model": "m-1", "cached_tokens": 3, **call}
    make_judgment(pairs, cast.items[0], cast.dimensions[1], **both, input_tokens=7, output_tokens=1)
    cancel_run(
        run=ask_again(project=cast.project, judgments=Judgment.objects.filter(pk=judgment.pk), by=cast.admin)
    )
    chooser = make_judge(cast.project, "mcq", name="Chooser", samples=2, temperature=0.7)
    run = make_run(cast.project, chooser)
    done, unreadable = run.judgments.order_by("pk")[:2]
    Judgment.objects.filter(pk=done.pk).update(status="done", value=2.5, reply="B", attempts=1)
    Judgment.objects.filter(pk=unreadable.pk).update(status="unreadable", reason="No option.", reply=STRANGE)
    together = [dimension.pk for dimension in reversed(cast.dimensions)]
    how: dict[str, Any] = {"asked_together": together, "call_order": "rotated"}
    several = make_judge(cast.project, "several", name="Several", **how)
    shared = make_judgment(several, cast.items[0], cast.dimensions[0], asked_dimensions=together)
    again = Judgment.objects.filter(pk=shared.pk)
    cancel_run(run=ask_again(project=cast.project, judgments=again, by=cast.admin))
    ended = {"budget": "2.5", "spent": "2.49", "status": "stopped", "reason": "The budget is spent."}
    Run.objects.filter(pk=run.pk).update(**ended)


def rated(cast: Cast) -> None:
    choose_plan(project=cast.project, kind="queue", dimension_order="drawn")
    round = opened(cast)
    first, second, third = cast.annotators
    unit = WantedUnit(cast.items[4].pk, cast.dimensions[1].pk, 0.25)
    ask_for_units(round=round, units=[unit], raters=1, origin="routing policy 9", seed=77)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        for item in cast.items[:3]:
            rate(cast, round, annotator, item, value, comment=STRANGE)
    assignment = assigned(cast, round, first, cast.items[3])
    evidence = (Passage(0, 1, 7), Passage(2, 0, 4))
    for answer in (
        Answer(value=4, unsure=True),
        Answer(value=2, comment="Read again.", evidence=evidence),
        Answer(cannot_rate=True, comment="It is empty."),
    ):
        save_rating(assignment=assignment, dimension=frozen(round, "coherence"), answer=answer, by=first.user)
    for item in cast.items[:2]:
        rate(cast, round, first, item, 2, key="coherence")
    reword_guidelines(project=cast.project, guidelines="Read *twice*.", note="Clearer.", by=cast.admin)
    for annotator in (first, second):
        assert annotator.user
        acknowledge_wording(annotator=annotator, version=2, by=annotator.user)
        assignment = assigned(cast, round, annotator, cast.items[3])
        marked = Answer(value=2, evidence=evidence)
        save_rating(assignment=assignment, dimension=frozen(round), answer=marked, by=annotator.user)
    decide_counting(membership=third, counted=False, note="Always 5.", by=cast.admin)


def discuss(cast: Cast) -> None:
    first, second, _ = cast.annotators
    disputes = list(Dispute.objects.order_by("number"))
    assert len(disputes) == 3
    answer_dispute(dispute=disputes[0], rater=first, value=3, comment="You are right.")
    answer_dispute(dispute=disputes[1], rater=second, value=1)
    revision = Rating.objects.get(assignment__round__number=2, assignment__annotator=second).revision
    take_back(dispute=disputes[1], rater=second, revision=revision)
    post_message(dispute=disputes[1], author=second, text=STRANGE)
    adjudicate(dispute=disputes[1], value=3, note="Two of three.", by=cast.admin)
    reason = disputes[2].round.project.keep_reasons[0]
    answer_dispute(dispute=disputes[2], rater=first, value=None, short_reason=reason)
    answer_dispute(dispute=disputes[2], rater=second, value=None, differs=True)
    leave_open(dispute=disputes[2], note="Nobody knows.", by=cast.admin)


def exported(project: Project, target: Path, *arguments: str) -> bytes:
    call_command("export", project.slug, "--to", str(target), *arguments, verbosity=0, stdout=StringIO())
    return target.read_bytes()


def imported(path: Path, *arguments: str) -> dict[str, object]:
    out = StringIO()
    try:
        call_command("import_export", str(path), "--json", *arguments, stdout=out)
    except SystemExit as ended:
        ended.add_note(out.getvalue())  # which files differ
        raise
    return dict(json.loads(out.getvalue()))


def taken_away(cast: Cast, path: Path, *arguments: str) -> bytes:
    """Export the project and delete it, so that the installation is one without it."""
    content = exported(cast.project, path, *arguments)
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    assert not Rating.objects.exists()
    return content


@pytest.mark.parametrize("closed", [False, True])
def test_exported_again_it_is_the_same_byte_by_byte(cast: Cast, tmp_path: Path, closed: bool) -> None:
    if closed:
        close_round_two(project=cast.project, by=cast.admin)
    before = taken_away(cast, tmp_path / "first.zip")
    told = imported(tmp_path / "first.zip", "--admin", cast.admin.email)
    assert (told["identical"], told["differing"]) == (True, [])
    project = Project.objects.get()
    assert exported(project, tmp_path / "second.zip") == before
    with zipfile.ZipFile(tmp_path / "first.zip") as archive:
        empty = [each.filename for each in archive.infolist() if not each.file_size]
    # Certificates do not come back; all else that an export can hold is in this one.
    # So is all that questions of other kinds fill, which tests/exports/test_every_kind_in_exports.py has.
    assert {Path(name).stem for name in empty} <= {"certificates", "comparisons", "parts"}


def test_export_with_revised_values_is_imported_without_them(
    cast: Cast, tmp_path: Path, client: Client
) -> None:
    """An export of 0.1.0 had tables and columns that Concord no longer has."""
    taken_away(cast, tmp_path / "new.zip")
    with zipfile.ZipFile(tmp_path / "new.zip") as new:
        new.extractall(tmp_path)
    (folder,) = {name.split("/")[0] for name in new.namelist()}
    root = tmp_path / folder
    for table, column, value in (
        ("ratings", "revised_value", None),
        ("guidelines", "revises_documents", True),
    ):
        file = root / f"{table}.jsonl"
        rows = [json.loads(line) | {column: value} for line in file.read_bytes().split(b"\n") if line]
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    revised = {"document": "d", "system": "s", "dimension": "fluency", "rater": "R-1", "value_after": 4}
    (root / "revised_values.jsonl").write_text(f"{json.dumps(revised)}\n")
    (root / "looks_back.jsonl").write_text("")
    manifest = json.loads((root / "manifest.json").read_text())
    manifest["tables"] |= {"revised_values": 1, "looks_back": 0}
    names = [*manifest["files"], "revised_values.jsonl", "looks_back.jsonl"]
    manifest["files"] = {name: sha256_of(root / name) for name in names}
    manifest["content_hash"] = hash_of(manifest["files"])
    (root / "manifest.json").write_text(json.dumps(manifest))
    with zipfile.ZipFile(tmp_path / "old.zip", "w") as old:
        for file in root.iterdir():
            old.write(file, f"{folder}/{file.name}")
    User.objects.filter(pk=cast.admin.pk).update(is_staff=True)
    client.force_login(cast.admin)
    page = client.get(sent(client, tmp_path / "old.zip")["Location"]).content.decode()
    assert "Concord no longer keeps them" in page
    assert Rating.objects.filter(value__isnull=False).count() > 10
    delete_project(project=Project.objects.get(), name=Project.objects.get().name, by=cast.admin)
    out = StringIO()
    with pytest.raises(SystemExit):  # the earlier files have more columns
        call_command("import_export", str(tmp_path / "old.zip"), stdout=out)
    assert "Concord no longer keeps them" in out.getvalue()


def fill_columns(cast: Cast) -> None:
    """Give every column a value somewhere."""
    Project.objects.update(description=STRANGE)
    Document.objects.update(metadata={"genre": STRANGE, "length": 3})
    Item.objects.update(metadata={STRANGE[:5]: [0.5, {"is": True}]})
    first, second = Rating.objects.filter(assignment__round__number=1).order_by("pk")[:2]
    Rating.objects.filter(pk=first.pk).update(
        unsure=True, evidence=[{"part": 0, "start": 1, "end": 3}], active_seconds=1.5, revision=9
    )
    Rating.objects.filter(pk=second.pk).update(value=None, not_applicable=True)
    Assignment.objects.filter(pk=first.assignment_id).update(origin="routing policy 9")
    RatingChange.objects.create(
        rating=first,
        revision=9,
        at=timezone.now(),
        cause="rated",
        not_applicable=True,
        guideline=first.guideline,
    )
    judge = make_judge(
        cast.project,
        name="Everything",
        reference=cast.items[0].system,
        structured=True,
        asks_again=True,
        top_p=0.5,
        seed=7,
        stop=[STRANGE],
        reasoning_effort="low",
        system_message=STRANGE,
        extra_body={"top_k": 20},
        scale_minimum=0,
        scale_maximum=11,
        scale_thirds=True,
    )
    proposal = Proposal.objects.create(
        judge=judge,
        dimension=cast.dimensions[0],
        kind="wording",
        status="accepted",
        text=STRANGE,
        is_chosen=True,
        drafted_by="m",
        problem=STRANGE,
        cost="0.5",
        candidate=judge,
        guideline=first.guideline,
        decided_at=timezone.now(),
    )
    proposal.parts.set(Proposal.objects.exclude(pk=proposal.pk))
    run = Run.objects.order_by("pk")[0]
    Run.objects.filter(pk=run.pk).update(keeps_messages=True, reused_cost_unknown=1, cached_tokens_unpriced=2)
    pair = make_judgment(
        judge,
        cast.items[0],
        cast.dimensions[0],
        other=cast.items[1],
        sample=1,
        status="unreadable",
        value=None,
        reason=STRANGE,
        problem="refused",
        rationale=STRANGE,
        messages_hash="ab",
        steps=[{"name": "steps", "reply": STRANGE}],
        refusal=STRANGE,
        system_fingerprint="fp",
        reasoning_tokens=3,
        log_probabilities={"4": -0.5, "5": -1.25},
    )
    JudgmentChange.objects.create(
        judgment=pair,
        at=timezone.now(),
        kind="read_again",
        status_before="unreadable",
        problem_before="refused",
        status_after="done",
        note=STRANGE,
    )
    cast.project.refresh_from_db()


def test_every_restorable_column_of_a_full_project_comes_back(cast: Cast, tmp_path: Path) -> None:
    fill_columns(cast)
    before = every_row(cast.project)
    taken_away(cast, tmp_path / "first.zip")
    imported(tmp_path / "first.zip")
    after = every_row(Project.objects.get())
    restorable = [
        (table.name, column.name)
        for table in TABLES.values()
        for column in table.columns
        if not (table.lost or table.is_computed or column.lost)
    ]
    values = {(table, name): [row[name] for row in before[table]] for table, name in restorable}
    # A column that is empty throughout would come back equal without being restored.
    found_empty = {each for each, found in values.items() if all(value in EMPTY for value in found)}
    assert found_empty == OF_OTHER_KINDS
    again = {(table, name): [row[name] for row in after[table]] for table, name in restorable}
    assert [each for each in restorable if again[each] != values[each]] == []


def every_row(project: Project) -> dict[str, list[Row]]:
    return {table.name: list(table.rows(project)) for table in TABLES.values()}


@pytest.mark.parametrize("format", ["csv", "parquet", "xlsx", "huggingface"])
def test_exports_for_analysis_are_rejected_with_a_remedy(tmp_path: Path, format: str) -> None:
    exported(make_project().project, tmp_path / "first.zip", "--format", format)
    with pytest.raises(CommandError, match="Export the project again as JSONL and import that file"):
        imported(tmp_path / "first.zip")
    client = Client()
    client.force_login(User.objects.get(memberships__role="admin"))
    answer = sent(client, tmp_path / "first.zip")
    assert answer.status_code == 422
    assert "Only JSONL exports can be imported." in answer.content.decode()
    assert Project.objects.count() == 1


def stored_rows() -> tuple[list[Any], ...]:
    """Return documents, items and all that was rated, without what an installation numbers."""
    unit = ("assignment__round__number", "assignment__item__document__key", "assignment__item__system__name")
    answer = ("dimension__key", "value", "unsure", "cannot_rate", "comment", "evidence")
    ratings = Rating.objects.values_list(*unit, "assignment__annotator__pseudonym", *answer)
    return (
        list(Document.objects.order_by("key").values_list("key", "title", "parts")),
        list(Item.objects.order_by("document__key", "system__name").values_list("system__name", "text")),
        sorted(ratings, key=repr),
    )


def sent(client: Client, path: Path) -> Any:
    with path.open("rb") as file:
        return client.post(reverse("project_from_export"), {"file": file})


def test_an_export_is_imported_in_the_browser_by_who_becomes_its_admin(cast: Cast, tmp_path: Path) -> None:
    before = stored_rows()
    taken_away(cast, tmp_path / "first.zip")
    User.objects.filter(pk=cast.admin.pk).update(is_staff=True)  # who may begin projects without having one
    client = Client()
    client.force_login(cast.admin)
    answer = sent(client, tmp_path / "first.zip")
    project = Project.objects.get()
    assert answer["Location"] == reverse("project", args=[project.slug])
    assert stored_rows() == before
    assert Membership.objects.get(project=project, role="admin").user == cast.admin
    refused = sent(client, tmp_path / "first.zip")
    assert refused.status_code == 422
    assert "There is a project" in refused.content.decode()


def test_the_browser_takes_no_file_that_is_no_zip(tmp_path: Path) -> None:
    client = Client()
    client.force_login(make_project().admin)
    (tmp_path / "text.zip").write_text("no zip")
    answer = sent(client, tmp_path / "text.zip")
    assert answer.status_code == 422
    assert "This file is no zip file" in answer.content.decode()


def test_dimensions_return_with_their_annotations_before_round_one(tmp_path: Path) -> None:
    cast = make_project(dimensions=("fluency", "coherence"))
    fluency, coherence = cast.dimensions
    coherence.points.filter(value=1).update(label="Broken")
    template = make_template(cast.project, wordings={str(coherence.pk): "Rate {{ text }}."})
    judge = make_judge(cast.project, name="Reasoner", template=template)
    Proposal.objects.create(judge=judge, dimension=fluency, kind="clarification", text="Rumours count.")
    before = taken_away(cast, tmp_path / "first.zip")
    assert imported(tmp_path / "first.zip")["identical"]
    project = Project.objects.get()
    assert exported(project, tmp_path / "second.zip") == before
    first, second = project.dimensions.order_by("position")
    assert (first.key, second.key, second.points.get(value=1).label) == ("fluency", "coherence", "Broken")
    assert not project.guideline_versions.exists()
    assert project.prompt_templates.get().wordings == {str(second.pk): "Rate {{ text }}."}


def test_dimensions_changed_since_a_run_return_in_their_current_form(tmp_path: Path) -> None:
    cast = make_project(dimensions=("fluency", "coherence"))
    make_judgment(make_judge(cast.project), cast.items[0], cast.dimensions[0])
    cast.dimensions[0].definition = "Reads well."
    cast.dimensions[0].save()
    before = taken_away(cast, tmp_path / "first.zip")
    assert imported(tmp_path / "first.zip")["identical"]
    project = Project.objects.get()
    assert exported(project, tmp_path / "second.zip") == before
    assert project.dimensions.get(key="fluency").definition == "Reads well."
    assert project.guideline_versions.get().content["dimensions"][0]["definition"] != "Reads well."


def test_omitted_parts_stay_empty_and_the_rest_is_equal(cast: Cast, tmp_path: Path) -> None:
    without = [
        word
        for part in (ExportPart.COMMENTS, ExportPart.THREADS, ExportPart.REPLIES)
        for word in ("--without", part)
    ]
    before = taken_away(cast, tmp_path / "first.zip", *without)
    assert imported(tmp_path / "first.zip")["identical"]
    assert exported(Project.objects.get(), tmp_path / "second.zip", *without) == before
    assert not Rating.objects.exclude(comment="").exists()


def test_imported_project_works_and_raters_cannot_sign_in(cast: Cast, tmp_path: Path) -> None:
    raters = {membership.pseudonym for membership in cast.annotators}
    client = Client()
    client.force_login(cast.admin)
    address = reverse("results_page", args=[cast.project.slug, "agreement"])
    figures = client.get(address).content.decode().split("<table")[1].split("</table")[0]
    loads = loads_by_pseudonym(cast.project)
    assert sorted(loads.values()) == [(0, 3), (0, 4), (3, 1)]
    taken_away(cast, tmp_path / "first.zip")
    imported(tmp_path / "first.zip", "--admin", cast.admin.email)
    again = client.get(address).content.decode().split("<table")[1].split("</table")[0]
    assert again == figures
    assert loads_by_pseudonym(Project.objects.get()) == loads
    memberships = Membership.objects.filter(role="annotator").select_related("user")
    assert (
        {membership.label for membership in memberships}
        == {membership.pseudonym for membership in memberships}
        == raters
    )
    standing_in = User.objects.filter(email__endswith=".invalid")
    assert {user.name for user in standing_in} == {"admin", *raters}
    assert not any(user.is_active or user.has_usable_password() for user in standing_in)
    assert AuditEntry.objects.filter(project__isnull=False).first().act == "project.restored"  # type: ignore[union-attr]


def test_comment_of_who_handed_an_item_over_comes_back(tmp_path: Path) -> None:
    cast = make_project(documents=1, systems=1, annotators=2, raters_per_item=1)
    # With a comment alone, the item is started but not answered, so another rater gets all of it.
    rate(cast, opened(cast), cast.annotators[0], cast.items[0], None, comment="Not yet.")
    hand_over_work(membership=cast.annotators[0], to=[cast.annotators[1]])
    taken_away(cast, tmp_path / "first.zip")
    assert imported(tmp_path / "first.zip")["identical"]
    assert Rating.objects.get().comment == "Not yet."


def loads_by_pseudonym(project: Project) -> dict[str, tuple[int, int]]:
    """How many items each annotator has finished, and begun."""
    rows = [row for row in people_of(project).members if row.load]
    return {row.membership.pseudonym: (row.load.done, row.load.begun) for row in rows if row.load}


def test_a_run_that_was_going_on_is_paused_and_said_to_differ(cast: Cast, tmp_path: Path) -> None:
    Run.objects.filter(status="stopped").update(status="running", reason="", started_at=timezone.now())
    taken_away(cast, tmp_path / "first.zip")
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("import_export", str(tmp_path / "first.zip"), stdout=out)
    assert ended.value.code == 1
    assert "these differ, see docs/reference/export.md: runs.jsonl." in out.getvalue()
    assert Run.objects.filter(status="paused").count() == 1


def test_nothing_is_imported_twice_or_over_something_else(cast: Cast, tmp_path: Path) -> None:
    exported(cast.project, tmp_path / "first.zip")
    with pytest.raises(CommandError, match=f"There is a project “{cast.project.slug}” already"):
        imported(tmp_path / "first.zip")
    assert Project.objects.count() == 1


def changed(source: Path, target: Path, name: str, content: bytes | None) -> Path:
    """Copy an export with another content of one file, or without it."""
    with zipfile.ZipFile(source) as before, zipfile.ZipFile(target, "w") as after:
        for each in before.namelist():
            if not each.endswith(f"/{name}"):
                after.writestr(each, before.read(each))
            elif content is not None:
                after.writestr(each, content)
    return target


def test_foreign_file_is_rejected_with_a_message(tmp_path: Path) -> None:
    cast = make_project()
    exported(cast.project, whole := tmp_path / "whole.zip")
    exported(cast.project, tmp_path / "sources.zip", "--without", "sources")
    (tmp_path / "text.zip").write_text("no zip")
    (tmp_path / "folder").mkdir()
    changed(whole, tmp_path / "other.zip", "items.jsonl", b"{}\n")
    changed(whole, tmp_path / "gone.zip", "items.jsonl", None)
    changed(whole, tmp_path / "empty.zip", "manifest.json", b"[]")
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    for name, sentence in {
        "sources.zip": "made without the texts of its documents",
        "text.zip": "neither a zip file nor a folder",
        "folder": "not an export of Concord",
        "other.zip": "items.jsonl is not as it was exported",
        "gone.zip": "not an export of Concord",
        "empty.zip": "not an export of Concord",
        "nothing.zip": "There is no file",
    }.items():
        with pytest.raises(CommandError, match=sentence):
            imported(tmp_path / name)
    with pytest.raises(CommandError, match="Nobody has an account"):
        imported(whole, "--admin", "nobody@example.com")
    assert not Project.objects.exists()


def without_project(tmp_path: Path, **files: bytes) -> Path:
    """Export a project with a rating, delete it, and put other tables in the place of some."""
    cast = make_project()
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 3)
    folder = tmp_path / "made"
    call_command("export", cast.project.slug, "--folder", str(folder), stdout=StringIO())
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    for name, content in files.items():
        (folder / f"{name}.jsonl").write_bytes(content)
    forge_manifest(folder)
    return folder


@pytest.mark.parametrize(
    ("table", "content"),
    [
        ("project", b""),
        ("items", b""),
        ("items", b"{\n"),
        ("items", b"[1]\n"),
        ("items", b'{"document": "d1", "system": "s1"}\n'),
        ("guidelines", b'{"round": "one"}\n'),
    ],
)
def test_tables_that_do_not_fit_each_other_leave_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, table: str, content: bytes
) -> None:
    folder = without_project(tmp_path, **{table: content})
    with pytest.raises(CommandError, match="do not fit each other"):
        imported(folder)
    assert not Project.objects.exists()
    assert not [each for each in caplog.records if each.levelname == "ERROR"]


@pytest.mark.parametrize(
    ("column", "value"),
    [("value", "3"), ("value", 2**70), ("value", True), ("comment", "a\0b"), ("rater", 1)],
)
def test_a_value_of_another_kind_leaves_nothing(tmp_path: Path, column: str, value: object) -> None:
    folder = without_project(tmp_path)
    row = json.loads((folder / "ratings.jsonl").read_text())
    (folder / "ratings.jsonl").write_text(json.dumps(row | {column: value}) + "\n")
    forge_manifest(folder)
    with pytest.raises(CommandError, match="do not fit each other"):
        imported(folder)
    assert not Project.objects.exists()


def test_a_mistake_of_ours_is_called_one_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = without_project(tmp_path)

    def mistaken(restored: Restored, archive: ExportArchive) -> None:
        del archive
        assert restored.actors["nobody"]

    RESTORERS["mistaken"] = mistaken
    try:
        with pytest.raises(CommandError, match=r"An error in Concord stopped the import \(KeyError\)"):
            imported(folder)
    finally:
        del RESTORERS["mistaken"]
    assert not Project.objects.exists()
    assert "KeyError: 'nobody'" in caplog.text


def forge_manifest(folder: Path) -> None:
    """Make the manifest say what the files are now."""
    manifest = json.loads((folder / "manifest.json").read_text())
    files = {name: sha256_of(folder / name) for name in manifest["files"]}
    manifest.update(files=files, content_hash=hash_of(files))
    (folder / "manifest.json").write_text(json.dumps(manifest))
