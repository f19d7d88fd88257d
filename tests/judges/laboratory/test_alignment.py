"""A judge that learns: the loop against an endpoint whose answers depend on the prompt in a known way."""

import json
import re
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse

from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.guidelines import current_guideline
from annotate.core.jobs import run_job
from annotate.core.models import AuditEntry, Project
from annotate.core.rounds import rounds_of
from annotate.disputes.commands.disputes import adjudicate
from annotate.exports.registry import TABLES
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from annotate.setup.commands import delete_project
from concord_client import RefusedError
from judges.core.models import DevelopmentDocument, Drafting, Judgment, PromptTemplate, Proposal
from judges.core.specification import CalibrationSpec
from judges.endpoints.commands import add_version
from judges.laboratory.commands.proposals import (
    accept_proposal,
    dismiss_proposal,
    draw_parts,
    edit_proposal,
    propose_examples,
    propose_text,
    send_to_raters,
    undo_draw,
)
from judges.laboratory.commands.searches import plan_search
from judges.laboratory.queries.cases import DocumentParts, cases_of, parts_of
from judges.laboratory.tables.alignment import alignment_sections
from judges.results.queries.scores import material_of
from judges.routing.queries.calibration_plans import draw_plan
from tests.api.client import concord
from tests.factories import make_project
from tests.judges.factories import make_judge, make_judgment
from tests.judges.laboratory.rumours import CLARIFICATION, MARK, drafted, judge_all, run
from tests.judges.pages import text_of
from tests.rating.rounds import discussed, opened

pytestmark = pytest.mark.django_db(transaction=True)


def spec_of_calibration(cast, judge):
    return CalibrationSpec(
        name="First", judge=judge, dimensions=["fluency"], raters=1, confidence="steadiness", size=20
    )


def learned_row(cast) -> dict[str, Any]:
    """Return the cells of the one judge that learned, by column."""
    section, _ = alignment_sections(cast.project, {"judge": str(cast.project.judges.get(name="Base").pk)})
    (table,) = section.tables
    (row,) = table.rows
    return dict(zip([column.key for column in table.columns], row, strict=True))


def test_the_loop_finds_the_clarification_and_it_holds_on_other_documents(cast, judge):
    draw_parts(project=cast.project, teach=8, select=4, by=cast.admin)
    run(cast, judge)
    (proposal,) = drafted(cast, judge)
    assert proposal.text == CLARIFICATION
    teaching = DevelopmentDocument.objects.filter(part="teach")
    drawn = set(teaching.values_list("document", flat=True))
    units = list(proposal.items.all())
    assert all(MARK in item.text and item.document_id in drawn for item in units)
    assert len(units) == sum(MARK in each.text and each.document_id in drawn for each in cast.items)
    learned = accept_proposal(proposal=proposal, text=CLARIFICATION, by=cast.admin)
    run(cast, learned)
    row = learned_row(cast)
    assert (row["select_items"].value, row["items"].value) == (12, 24)
    assert (row["select_after"].value, row["after"].value) == (1, 1)
    assert row["before"].value < 0.5
    assert row["gain"].value == pytest.approx(1 - row["before"].value)
    assert row["gain"].low > 0
    assert row["p"].value < 0.05
    assert not row["judge"].warning


def test_memorisation_triggers_a_warning(cast, judge):
    draw_parts(project=cast.project, teach=4, select=6, by=cast.admin)
    run(cast, judge)
    learned = accept_proposal(
        proposal=propose_examples(judge=judge, dimension=cast.dimensions[0], count=3, by=cast.admin),
        text="Text: x\nScore: 1",
        by=cast.admin,
    )
    drawn = set(DevelopmentDocument.objects.values_list("document", flat=True))
    base = dict(Judgment.objects.filter(judge=judge).values_list("item", "value"))
    for item in cast.items:
        value = int(item.text[-1]) if item.document_id in drawn else base[item.pk]
        make_judgment(learned, item, cast.dimensions[0], value=value)
    row = learned_row(cast)
    before = row["select_before"].value
    assert (row["select_after"].value, row["gain"].value) == (1, 0)
    assert row["judge"].warning == (
        f"Better on the documents for selecting ({1 - before:+.3f}), but not surely on the documents "
        "held out (+0.000)."
    )


def test_judge_results_exclude_the_development_part_and_report_it(cast):
    judge = make_judge(cast.project, name="Base")
    for item in cast.items:
        make_judgment(judge, item, cast.dimensions[0], value=int(item.text[-1]))
    draw_parts(project=cast.project, teach=8, select=0, by=cast.admin)
    drawn = set(DevelopmentDocument.objects.values_list("document", flat=True))
    guideline = current_guideline(cast.project)
    last = rounds_of(cast.project)[1]
    material = material_of(cast.project, last, guideline)
    rated = ~np.isnan(material.human("fluency")).any(axis=0)
    assert rated.sum() == 36
    assert not np.isin(material.documents[rated], list(drawn)).any()
    everything = material_of(cast.project, last, guideline, with_development=True)
    assert not np.isnan(everything.human("fluency")).any()
    for name in ("judges", "estimates", "replacement", "experiments", "biases", "self-consistency"):
        page = current_page(project=cast.project, result=result_of(cast.project, name))
        first = page.sections[0].says
        assert first.startswith("Without people’s values of 8 documents used for development."), name


def test_a_project_made_of_an_export_has_the_same_development_part(tmp_path):
    cast, path = make_project(documents=3), tmp_path / "project.zip"
    DevelopmentDocument.objects.create(document=cast.items[0].document)
    call_command("export", cast.project.slug, "--to", str(path), verbosity=0, stdout=StringIO())
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    assert not DevelopmentDocument.objects.exists()
    call_command("import_export", str(path), stdout=StringIO())
    assert list(DevelopmentDocument.objects.values_list("document__key", flat=True)) == ["product-1"]


def test_a_project_made_of_an_export_has_the_same_proposals(tmp_path):
    cast, path = make_project(documents=3), tmp_path / "project.zip"
    opened(cast)
    judge, dimension = make_judge(cast.project, "direct", name="Base"), cast.dimensions[0]
    texts = ("Rumours count.", "Be fair.", "Be quick.")
    accepted, dismissed, _ = [
        propose_text(judge=judge, dimension=dimension, kind="clarification", text=text, by=cast.admin)
        for text in texts
    ]
    accepted.items.set(cast.items[:2])
    accept_proposal(proposal=accepted, text="Rumours count double.", by=cast.admin)
    dismiss_proposal(proposal=dismissed, by=cast.admin)
    tried = Proposal.objects.create(
        judge=judge, dimension=dimension, kind="wording", status="tried", text="Rate it.", is_chosen=True
    )
    tried.parts.set([accepted])
    drafting = Proposal.objects.create(
        judge=judge, dimension=dimension, kind="clarification", status="drafting"
    )
    before = list(TABLES["proposals"].rows(cast.project))
    assert before[0]["units"] == [["product-1", "system-1"], ["product-1", "system-2"]]
    call_command("export", cast.project.slug, "--to", str(path), verbosity=0, stdout=StringIO())
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    assert not Proposal.objects.filter(pk=drafting.pk).exists()
    call_command("import_export", str(path), stdout=StringIO())
    after = list(TABLES["proposals"].rows(Project.objects.get()))
    assert after == before
    assert (after[3]["parts"], after[3]["is_chosen"]) == ([1], True)
    assert after[-1]["status"] == "failed"
    assert after[-1]["problem"] == "It was being drafted when the project was exported."


def test_an_export_without_comments_quotes_no_reason_in_prompts_that_learned(tmp_path):
    cast = make_project(documents=2, systems=1)
    adjudicate(dispute=discussed(cast, 1, 2, 5), value=2, note="One aspect is missing.", by=cast.admin)
    judge, dimension = make_judge(cast.project, "direct", name="Base"), cast.dimensions[0]
    DevelopmentDocument.objects.create(document=cast.items[0].document)
    proposal = propose_examples(judge=judge, dimension=dimension, count=1, by=cast.admin)
    learned = accept_proposal(proposal=proposal, text=proposal.text, by=cast.admin)
    assert learned.template
    edited = learned.template.wordings[str(dimension.pk)].replace("Examples", "Cases")
    later = add_version(template=learned.template, dimension=dimension, text=edited, by=cast.admin)
    make_judge(cast.project, "direct", name="Edited", template=later)
    messages = [{"role": "user", "content": edited}]
    make_judgment(learned, cast.items[0], dimension, messages=messages)
    make_judgment(judge, cast.items[0], dimension, messages=[{"role": "user", "content": "Rate it."}])
    whole, without = tmp_path / "whole", tmp_path / "without"
    call_command("export", cast.project.slug, "--folder", str(whole), stdout=StringIO())
    call_command(
        "export", cast.project.slug, "--folder", str(without), "--without", "comments", stdout=StringIO()
    )
    quoting = {path.name for path in whole.iterdir() if "One aspect is missing." in path.read_text()}
    assert {"judges.jsonl", "judgments.jsonl", "proposals.jsonl"} <= quoting
    assert not [path.name for path in without.iterdir() if "One aspect is missing." in path.read_text()]
    rows = {row["judge"]: row for row in map(json.loads, (without / "judges.jsonl").read_text().splitlines())}
    assert "{{ text }}" in rows["Base"]["prompt_text"]
    wordings = {name: row["prompt_wordings"] for name, row in rows.items()}
    gone = {"fluency": "[left out of the export]"}
    assert wordings == {"Base": {}, learned.name: gone, "Edited": gone}
    kept = [json.loads(line)["messages"] for line in (without / "judgments.jsonl").read_text().splitlines()]
    assert [{"role": "user", "content": "Rate it."}] in kept
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    call_command("import_export", str(without), stdout=StringIO())  # it exits with 1 where anything differs


def test_certificates_sample_no_unit_of_a_development_document(cast):
    judge = make_judge(cast.project, name="Base", samples=2, temperature=1)
    for item in cast.items:
        for sample in range(2):
            make_judgment(judge, item, cast.dimensions[0], value=int(item.text[-1]), sample=sample)
    draw_parts(project=cast.project, teach=8, select=0, by=cast.admin)
    plan = draw_plan(cast.project, spec_of_calibration(cast, judge))
    drawn = set(DevelopmentDocument.objects.values_list("document__items", flat=True))
    assert plan.units
    assert not {unit.unit[0] for unit in plan.units} & drawn


def test_each_part_is_sampled_once_and_holds_something_out(cast):
    for number in (0, 20):
        with pytest.raises(InvalidValueError, match="so that some stay held out"):
            draw_parts(project=cast.project, teach=number, select=0, by=cast.admin)
    draw_parts(project=cast.project, teach=2, select=0, by=cast.admin)
    draw_parts(project=cast.project, teach=9, select=3, by=cast.admin)  # teaching keeps what it has
    parts = parts_of(cast.project)
    assert (parts.teach, parts.select, parts.held_out) == (2, 3, 15)
    with pytest.raises(NotReadyError, match="are split already"):
        draw_parts(project=cast.project, teach=1, select=1, by=cast.admin)


def test_split_can_be_undone_until_something_depends_on_it(cast):
    judge = make_judge(cast.project, "direct", name="Base")
    draw_parts(project=cast.project, teach=4, select=4, by=cast.admin)
    for _ in range(2):
        undo_draw(project=cast.project, by=cast.admin)
    assert parts_of(cast.project).is_split is False
    draw_parts(project=cast.project, teach=8, select=4, by=cast.admin)
    judge_all(cast, judge)
    propose_examples(judge=judge, dimension=cast.dimensions[0], count=2, by=cast.admin)
    with pytest.raises(NotReadyError, match="Proposals come from these documents"):
        undo_draw(project=cast.project, by=cast.admin)


def test_the_advice_leaves_most_documents_held_out():
    sizes = {each: DocumentParts(0, 0, each, each - 1).advised for each in (2, 12, 20, 90, 416)}
    assert sizes == {2: 1, 12: 3, 20: 5, 90: 10, 416: 20}


def test_project_of_one_document_cannot_be_split(client):
    cast = make_project(documents=1)
    with pytest.raises(NotReadyError, match="and another to hold out"):
        draw_parts(project=cast.project, teach=1, select=0, by=cast.admin)
    client.force_login(cast.admin)
    page = client.get(reverse("alignment", args=[cast.project.slug]))
    assert "and another to hold out" in text_of(page)
    assert b"Split the documents" not in page.content


def test_accepted_clarification_is_a_new_version_raters_see_once():
    cast = make_project()
    judge = make_judge(cast.project, "direct", name="Base")
    item, dimension = cast.items[0], cast.dimensions[0]
    proposal = Proposal.objects.create(
        judge=judge, dimension=dimension, kind="clarification", text="Draft {{ text }}."
    )
    proposal.items.set([item])
    with pytest.raises(NotReadyError, match="only an accepted clarification"):
        send_to_raters(proposal=proposal, note="Because.", by=cast.admin)
    learned = accept_proposal(proposal=proposal, text="Rumours {{ text }} count.", by=cast.admin)
    assert judge.template
    assert learned.template
    assert (judge.template.version, learned.template.version) == (1, 2)
    text = learned.template.text_about(dimension.pk)
    assert "Clarifications:\nRumours  text  count.\n\n" in text
    assert text.index("Clarifications:") < text.index("{{ document }}")
    assert PromptTemplate.objects.get(version=1).wordings == {}
    with pytest.raises(NotReadyError, match="accepted or dismissed already"):
        dismiss_proposal(proposal=proposal, by=cast.admin)
    opened(cast)
    with pytest.raises(InvalidValueError):
        send_to_raters(proposal=proposal, note=" ", by=cast.admin)
    send_to_raters(proposal=proposal, note="From disputes.", by=cast.admin)
    proposal.refresh_from_db()
    dimension.refresh_from_db()
    assert proposal.guideline
    assert proposal.guideline.version == 2
    assert dimension.guidelines.endswith("Rumours {{ text }} count.")
    with pytest.raises(NotReadyError, match="and only once"):
        send_to_raters(proposal=proposal, note="Again.", by=cast.admin)


def test_case_of_a_settled_dispute_has_value_and_reasons_of_both():
    cast = make_project(documents=2, systems=1)
    dispute = discussed(cast, 1, 2, 5)
    judge = make_judge(cast.project, "direct")
    DevelopmentDocument.objects.create(document=cast.items[0].document)
    assert cases_of(judge, cast.dimensions[0]) == []
    for sample, words in enumerate(("It reads well.", "Fine.")):
        make_judgment(judge, cast.items[0], cast.dimensions[0], value=4, sample=sample, rationale=words)
    adjudicate(dispute=dispute, value=2, note="One aspect is missing.", by=cast.admin)
    (case,) = cases_of(judge, cast.dimensions[0])
    nearest = cast.annotators[1].alias
    assert (case.kind, case.before, case.value) == ("dispute", (1, 2, 5), 2)
    assert case.reasons == ("One aspect is missing.", f"Reason of {nearest}.")
    assert case.rationale == "It reads well."
    assert case.document == "Review 1 of product 1.\n\nReview 2 of product 1."


def test_examples_state_values_as_the_judge_does(cast):
    draw_parts(project=cast.project, teach=8, select=4, by=cast.admin)
    letters = make_judge(cast.project, "mcq", name="Letters")
    tenths = make_judge(cast.project, "rts", name="Tenths", scale_minimum=1, scale_maximum=10)
    for judge, answers in ((letters, ("Answer: A", "Answer: D")), (tenths, ("Score: 1", "Score: 8"))):
        text = propose_examples(judge=judge, dimension=cast.dimensions[0], count=4, by=cast.admin).text
        lines = text.splitlines()
        assert all(answer in lines for answer in answers)
        assert sum(line.startswith("Document: Review 1 of product") for line in lines) == 4


def test_prompt_shows_the_nearest_examples_of_other_documents(cast, judge, provider):
    draw_parts(project=cast.project, teach=8, select=4, by=cast.admin)
    dimension = cast.dimensions[0]
    proposal = propose_examples(judge=judge, dimension=dimension, count=2, nearest=True, by=cast.admin)
    assert proposal.items.count() == 24
    learned = accept_proposal(proposal=proposal, text=proposal.text, by=cast.admin)
    run(cast, learned)
    assert len(provider.asked) == len(cast.items)
    for body in provider.asked:
        shown, _, asked = body["messages"][-1]["content"].partition("<document>\n")
        own = re.search(r"Review 1 of product \d+\.", asked)
        assert own
        assert own[0] not in shown
        assert shown.count("\nScore: ") == 2
        assert (MARK in asked) == (shown.count(f"Text: {MARK}") == 2)


def test_example_pool_is_rejected_if_the_prompt_cannot_show_it(cast, judge):
    draw_parts(project=cast.project, teach=8, select=4, by=cast.admin)
    wanted = {"dimension": cast.dimensions[0], "count": 2, "nearest": True, "by": cast.admin}
    steps = make_judge(cast.project, "facts_share", name="Steps")
    with pytest.raises(InvalidValueError, match="is not a placeholder here"):
        propose_examples(judge=steps, **wanted)
    proposal = propose_examples(judge=judge, **wanted)
    with pytest.raises(InvalidValueError, match="first and last line"):
        edit_proposal(proposal=proposal, text=proposal.text.replace("}}", "}"), by=cast.admin)


def test_page_splits_proposes_and_decides(cast, judge, client):
    client.force_login(cast.admin)
    address = reverse("alignment", args=[cast.project.slug])
    judge_all(cast, judge)
    refused = client.post(f"{address}draw/", {"teach": 20, "select": 0})
    assert refused.status_code == 422
    assert "Choose 1 to 19 documents in all" in text_of(refused)
    client.post(f"{address}draw/", {"teach": 1, "select": 0})
    client.post(f"{address}draw/", {"undo": "on"})
    client.post(f"{address}draw/", {"teach": 8, "select": 0})
    form = {"judge": judge.pk, "dimension": "fluency", "count": 3, "drafter": judge.pk}
    assert client.post(f"{address}propose/", {**form, "kind": "examples"}).status_code == 302
    drafting = client.post(f"{address}propose/", {**form, "kind": "clarification"}).headers["Location"]
    assert "1 call remains" in text_of(client.get(drafting))
    client.post(drafting)
    run_job("drafting", Drafting.objects.get().pk)
    page = text_of(client.get(address))
    assert "8 teach · 0 select · 12 held out" in page
    assert CLARIFICATION in page
    drafted, examples = Proposal.objects.order_by("-pk")
    empty = client.post(f"{address}{drafted.pk}/accept/", {"text": ""})
    assert empty.status_code == 422
    client.post(f"{address}{drafted.pk}/accept/", {"text": "Edited."})
    client.post(f"{address}{examples.pk}/dismiss/")
    client.post(f"{address}{drafted.pk}/send/", {"note": "From disputes."})
    assert list(Proposal.objects.order_by("pk").values_list("status", "text"))[1] == ("accepted", "Edited.")
    assert client.post(f"{address}{drafted.pk}/burn/").status_code == 404
    assert "in version 2 of the guideline" in text_of(client.get(address))


def test_custom_prompt_is_proposed_on_the_page_and_audited(cast, judge, client):
    draw_parts(project=cast.project, teach=8, select=0, by=cast.admin)
    address = reverse("alignment", args=[cast.project.slug])
    form = {"judge": judge.pk, "dimension": "fluency", "kind": "clarification", "text": " Rumours count. "}
    client.force_login(cast.researcher)
    assert client.post(f"{address}write/", form).status_code == 404
    client.force_login(cast.admin)
    answer = client.post(f"{address}write/", form)
    proposal = Proposal.objects.get()
    asked = f"judge={judge.pk}&dimension=fluency"
    assert answer.headers["Location"] == f"{address}?{asked}#proposal-{proposal.pk}"
    assert (proposal.judge, proposal.kind, proposal.text) == (judge, "clarification", "Rumours count.")
    entry = AuditEntry.objects.get(act="proposal.made")
    about = {"kind": "clarification", "dimension": "fluency"}
    assert (entry.actor, entry.after) == (cast.admin, {**about, "units": 0})


def test_unusable_custom_prompt_is_rejected_and_stays_in_the_form(cast, judge, client):
    draw_parts(project=cast.project, teach=8, select=0, by=cast.admin)
    client.force_login(cast.admin)
    form = {"judge": judge.pk, "dimension": "fluency", "kind": "wording", "text": "Rate my text."}
    address = reverse("alignment_write", args=[cast.project.slug])
    refused = client.post(address, form)
    assert refused.status_code == 422
    words = text_of(refused)
    assert "Rate my text." in words
    assert "placeholder" in words
    assert "This field is required." in text_of(client.post(address, {**form, "text": " "}))
    assert not Proposal.objects.exists()


def test_a_page_takes_a_fixed_number_of_queries(cast, judge, client, django_assert_max_num_queries):
    draw_parts(project=cast.project, teach=8, select=4, by=cast.admin)
    client.force_login(cast.admin)
    for index in range(6):
        proposal = Proposal.objects.create(
            judge=judge, dimension=cast.dimensions[0], kind="clarification", text=f"Number {index}."
        )
        proposal.items.set(cast.items[: index + 1])
    drafting = Drafting.objects.create(judge=judge, dimension=cast.dimensions[0], drafter=judge)
    Proposal.objects.update(drafting=drafting)
    for _ in range(2):
        plan_search(
            judge=judge,
            dimension=cast.dimensions[0],
            proposals=list(Proposal.objects.filter(kind="clarification")),
            most_candidates=3,
            by=cast.admin,
        )
    with django_assert_max_num_queries(57):
        client.get(reverse("alignment", args=[cast.project.slug]))


def test_the_command_takes_the_same_steps(cast, judge):
    slug, whose = cast.project.slug, ("--judge", judge.pk, "--dimension", "fluency")
    judge_all(cast, judge)
    parts = concord(cast.admin, "development", "add", slug, "--teach", 8, "--select", 0)
    assert (parts["teach"], parts["select"]) == (8, 0)
    with pytest.raises(RefusedError, match="dimension"):
        concord(cast.admin, "draftings", "add", slug, "--count", 2)
    drafting = concord(cast.admin, "draftings", "add", slug, *whose, "--count", 2)
    assert (drafting["calls_left"], float(drafting["cost_left"]) > 0) == (1, True)
    concord(cast.admin, "draftings", "start", slug, drafting["drafting"]["id"])
    run_job("drafting", drafting["drafting"]["id"])
    (drafted,) = concord(cast.admin, "proposals", "list", slug)
    accepted = concord(cast.admin, "proposals", "accept", slug, drafted["id"])
    assert (accepted["status"], accepted["text"]) == ("accepted", CLARIFICATION)
    assert accepted["kind"] == "clarification"
    candidate = concord(cast.admin, "judges", "show", slug, accepted["candidate"])
    assert candidate["name"] == f"Base · clarification {drafted['id']}"
