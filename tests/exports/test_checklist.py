"""The reporting checklist: filled from the project, honest about what is not recorded."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotate.core.models import (
    Assignment,
    CountingDecision,
    GoldItem,
    GoldValue,
    Membership,
    Project,
    Round,
)
from annotate.exports.checklist import NOT_RECORDED, ChecklistLine, checklist, checklist_markdown
from annotate.exports.commands import note_export
from annotate.exports.formats.datasheet import write_day
from annotate.rating.commands.rounds import close_round_one, freeze_guideline
from annotate.setup.commands import reword_guidelines
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_judgment, make_template
from tests.rating.rounds import discussed, opened, rate

pytestmark = pytest.mark.django_db


def line(project: Project, topic: str) -> ChecklistLine:
    (found,) = [each for each in checklist(project) if each.topic.startswith(topic)]
    return found


def rated() -> Cast:
    cast = make_project(documents=3)
    round = opened(cast)
    for number, item in enumerate(cast.items):
        for index, annotator in enumerate(cast.annotators):
            rate(cast, round, annotator, item, 1 + (number + index // 2) % 4)
    return cast


def test_lines_state_frozen_settings_and_their_time() -> None:
    cast = rated()
    round = cast.project.rounds.get()
    frozen = line(cast.project, "Guidelines")
    day = write_day(round.opened_at)
    assert frozen.text == (
        f"Round I: version 1, frozen on {write_day(round.guideline.frozen_at)}; opened on {day}, still open."
    )
    assert line(cast.project, "Seeds").text == f"Project 1, Round I {round.seed}."
    items = line(cast.project, "Items evaluated")
    assert items.text == "6 outputs of 2 systems for 3 documents, 3 of each system."
    assert items.heds == "3.1.1"
    assert line(cast.project, "Number of raters").text == "Round I: 3 raters gave 18 values."
    assert "Fluency: from 2, settled within 1" in line(cast.project, "Rule of disputes").text
    assert line(cast.project, "Agreement").text.startswith("Krippendorff's alpha of Round I")


def test_unrecorded_topics_prompt_the_authors() -> None:
    cast = rated()
    for topic in ("Preregistration", "Payment", "Training", "Approval", "Selection", "Looks"):
        assert line(cast.project, topic).text == NOT_RECORDED
    nothing = make_project().project
    assert line(nothing, "Guidelines").text == NOT_RECORDED
    assert line(nothing, "Agreement").text == NOT_RECORDED


def test_exports_while_the_round_is_open_are_looks() -> None:
    cast = rated()
    note_export(project=cast.project, what="ratings", format="csv")
    close_round_one(project=cast.project, by=cast.admin)
    note_export(project=cast.project, what="ratings", format="csv")
    looks = line(cast.project, "Looks").text
    assert looks.startswith(f"1 exports on {write_day(timezone.now())} while Round I was open")
    assert "Views of results pages are not recorded" in looks


def test_copy_without_the_log_does_not_know_looks_and_changes() -> None:
    project = make_project().project
    now, guideline = timezone.now(), freeze_guideline(project)
    times = {"opened_at": now - timedelta(2), "closed_at": now}
    Round.objects.create(
        project=project, number=1, guideline=guideline, seed=1, status=Round.Status.CLOSED, **times
    )
    assert line(project, "Looks").text == NOT_RECORDED
    assert line(project, "Changes").text == NOT_RECORDED


def test_exclusions_have_alias_reason_and_time() -> None:
    cast = rated()
    rater = cast.annotators[1]
    Membership.objects.filter(pk=rater.pk).update(counted=False)
    CountingDecision.objects.create(membership=rater, counted=False, note="Gave the same value | throughout.")
    day = write_day(timezone.now())
    wanted = f"Rater {rater.alias}: Gave the same value | throughout (on {day}, before Round I was closed)."
    assert line(cast.project, "Excluded").text == wanted
    card = checklist_markdown(cast.project, checklist(cast.project))
    assert r"Gave the same value \| throughout" in card
    assert rater.label not in card


def test_changes_after_the_start_are_listed() -> None:
    cast = rated()
    assert line(cast.project, "Changes").text == "The audit log has none."
    reword_guidelines(project=cast.project, guidelines="New.", note="Clearer.", by=cast.admin)
    changed = line(cast.project, "Changes").text
    assert changed == f"guidelines reworded: 1 (first on {write_day(timezone.now())})."


def test_practice_and_hidden_items_are_training_and_checks() -> None:
    cast = make_project()
    gold = GoldItem.objects.create(item=cast.items[0], use=GoldItem.Use.PRACTICE)
    GoldValue.objects.create(gold=gold, dimension=cast.dimensions[0], value=3)
    Project.objects.filter(pk=cast.project.pk).update(practice_bar=80)
    Membership.objects.filter(pk=cast.annotators[0].pk).update(practised_at=timezone.now() - timedelta(1))
    cast.project.refresh_from_db()
    training = line(cast.project, "Training")
    assert training.text == (
        "Practice on 1 items with reference values; 80 % had to be right, and 1 raters passed."
    )
    assert training.heds == "3.2.4"


def test_ratings_from_elsewhere_are_not_described_as_collected_here() -> None:
    cast = rated()
    assert line(cast.project, "Collection").text.startswith("Web forms of Concord")
    assert "hidden from raters" in line(cast.project, "Assignment").text
    Assignment.objects.update(plan=Assignment.Plan.IMPORTED)
    for topic in ("Collection", "Time"):
        assert line(cast.project, topic).text == NOT_RECORDED
    assert line(cast.project, "Assignment").text == "recorded elsewhere and imported (18 assignments)."
    assert "Raters saw" not in line(cast.project, "Questions, scales").text


def test_judges_have_their_versions() -> None:
    cast = make_project()
    discussed(cast, 1, 3, 5)
    assert line(cast.project, "Judges").text == "No language model judged the items."
    judge = make_judge(
        cast.project, name="Echo", model="m-2026-05", template=make_template(cast.project, name="Plain")
    )
    make_judgment(judge, cast.items[0], cast.dimensions[0])
    make_judgment(judge, cast.items[1], cast.dimensions[0])
    versions = line(cast.project, "Judges").text
    assert versions.startswith("Echo: model m-2026-05, method rts, prompt Plain")
    assert versions.count("Echo") == 1


def test_markdown_counts_lines_and_names_questions() -> None:
    cast = rated()
    lines = checklist(cast.project)
    card = checklist_markdown(cast.project, lines)
    filled = sum(bool(each.answer) for each in lines)
    assert f"Concord filled {filled} of {len(lines)} lines" in card
    assert card.count("\n| ") == len(lines) + 1
    assert f"| {NOT_RECORDED} | 3.3.1 |" in card
