"""Judgments are corrected: values set, replies excluded and read again; the history keeps what stood."""

from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse

from annotate.core.errors import InvalidValueError
from annotate.core.guidelines import current_guideline
from judges.core.errors import JudgmentStandsError
from judges.core.models import Judgment, JudgmentChange
from judges.results.queries.scores import material_of, samples_of
from judges.runs.commands.corrections import exclude, include, read_again, set_value
from judges.runs.queries.judgments import rereadings
from judges.runs.queries.runs import run_progress
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_judgment, make_run

pytestmark = pytest.mark.django_db

Scene = tuple[Cast, Judgment]


@pytest.fixture
def scene() -> Scene:
    """A judgment of an RTS judge whose reply was read as 3."""
    cast = make_project()
    judge = make_judge(cast.project, name="Reasoner")
    return cast, make_judgment(judge, cast.items[0], cast.dimensions[0], reply="Fine throughout. Score: 3")


def history(judgment: Judgment) -> list[tuple[str, float | None, float | None]]:
    return list(judgment.changes.order_by("pk").values_list("kind", "value_before", "value_after"))


def test_value_is_set_with_a_reason_and_the_history_keeps_the_old_one(scene: Scene) -> None:
    cast, judgment = scene
    set_value(judgment=judgment, value=4, note=" It says four. ", by=cast.admin)
    set_value(judgment=judgment, value=4, note="Twice.", by=cast.admin)
    judgment.refresh_from_db()
    assert (judgment.status, judgment.value) == ("done", 4)
    assert history(judgment) == [("set", 3, 4)]
    change = judgment.changes.get()
    assert (change.actor, change.note) == (cast.admin, "It says four.")
    for value, note in ((6, "Too high."), (4.5, "")):
        with pytest.raises(InvalidValueError):
            set_value(judgment=judgment, value=value, note=note, by=cast.admin)


def test_an_excluded_judgment_has_no_value_until_it_is_included_again(scene: Scene) -> None:
    cast, judgment = scene
    exclude(judgment=judgment, note="It is about another text.", by=cast.admin)
    exclude(judgment=judgment, note="Twice.", by=cast.admin)
    judgment.refresh_from_db()
    assert (judgment.status, judgment.value) == ("excluded", None)
    include(judgment=judgment, note="It is not.", by=cast.admin)
    include(judgment=judgment, note="Twice.", by=cast.admin)
    judgment.refresh_from_db()
    assert (judgment.status, judgment.value, judgment.reason) == ("done", 3, "")
    assert history(judgment) == [("excluded", 3, None), ("included", None, 3)]


def test_excluded_judgment_counts_nowhere_and_stays_searchable(scene: Scene, client: Client) -> None:
    cast, judgment = scene
    make_judgment(judgment.judge, cast.items[1], cast.dimensions[0])
    exclude(judgment=judgment, note="It is about another text.", by=cast.admin)
    material = material_of(cast.project, None, current_guideline(cast.project))
    samples = samples_of([judgment.judge], material)[judgment.judge_id, "fluency"]
    assert (~np.isnan(samples.values)).sum() == 1
    assert judgment.run
    progress = run_progress(judgment.run)
    assert (progress.excluded, progress.ended, progress.total) == (1, 1, 1)
    client.force_login(cast.admin)
    for address in (
        reverse("judge_judgments", args=[cast.project.slug, judgment.judge_id, "excluded"]),
        reverse("run_judgments", args=[cast.project.slug, judgment.run_id, "excluded"]),
    ):
        assert "It is about another text." in client.get(address).content.decode()


def test_unreadable_judgment_is_restored_unchanged(scene: Scene) -> None:
    cast, judgment = scene
    Judgment.objects.update(
        status="unreadable", value=None, reason="No score.", problem="refused", reply="I cannot."
    )
    exclude(judgment=judgment, note="A refusal.", by=cast.admin)
    include(judgment=judgment, note="Counted as unread.", by=cast.admin)
    judgment.refresh_from_db()
    assert (judgment.status, judgment.reason, judgment.problem) == ("unreadable", "No score.", "refused")
    set_value(judgment=judgment, value=1, note="It can.", by=cast.admin)
    judgment.refresh_from_db()
    assert (judgment.value, judgment.problem) == (1, "")


def test_unanswered_judgment_cannot_be_corrected(scene: Scene) -> None:
    cast, _ = scene
    run = make_run(cast.project, make_judge(cast.project, name="Another"))
    with pytest.raises(JudgmentStandsError, match="planned"):
        exclude(judgment=run.judgments.order_by("pk")[0], note="Why not?", by=cast.admin)


def test_database_rejects_changes_to_the_history(scene: Scene) -> None:
    cast, judgment = scene
    set_value(judgment=judgment, value=4, note="It says four.", by=cast.admin)
    with pytest.raises(DatabaseError), transaction.atomic():
        JudgmentChange.objects.update(note="It never happened.")


def test_replies_are_read_again_but_what_people_corrected_stays(scene: Scene) -> None:
    cast, judgment = scene
    judge = judgment.judge
    unread, corrected, excluded = (
        make_judgment(judge, item, cast.dimensions[0], reply="I give it 2 out of 5. Score: 2", value=5)
        for item in cast.items[1:4]
    )
    Judgment.objects.filter(pk=unread.pk).update(status="unreadable", value=None, reason="No score.")
    set_value(judgment=corrected, value=4, note="Irony.", by=cast.admin)
    exclude(judgment=excluded, note="Another text.", by=cast.admin)
    include(judgment=excluded, note="No.", by=cast.admin)
    found = list(rereadings([judge]))
    assert [(each.judgment.pk, each.status, each.value) for each in found] == [(unread.pk, "done", 2)]
    told = StringIO()
    call_command("read_again", cast.project.slug, stdout=told)
    assert f"{unread.pk}: unreadable -> 2" in told.getvalue()
    assert "Judgments that would change: 1." in told.getvalue()
    assert not unread.changes.exists()
    with pytest.raises(CommandError, match="No judge with scores"):
        call_command("read_again", cast.project.slug, "--judge", "Nobody")
    call_command("read_again", cast.project.slug, "--judge", judge.name, "--apply", stdout=told)
    unread.refresh_from_db()
    assert (unread.status, unread.value, unread.reason) == ("done", 2, "")
    assert history(unread) == [("read_again", None, 2)]
    assert read_again(judges=[judge], by=None) == 0


def test_the_page_shows_it_all_and_an_admin_corrects_it(scene: Scene, client: Client) -> None:
    cast, judgment = scene
    page = reverse("judgment", args=[cast.project.slug, judgment.pk])
    client.force_login(cast.researcher)
    html = client.get(page).content.decode()
    assert "Fine throughout. Score: 3" in html
    assert "Set this value" not in html
    assert client.post(page, {"exclude": "on", "note": "Hm."}).status_code == 404
    client.force_login(cast.admin)
    assert "Set this value" in client.get(page).content.decode()
    refused = client.post(page, {"value": "4"})
    assert refused.status_code == 422
    assert "Give a reason." in refused.content.decode()
    assert client.post(page, {"note": "Hm."}).status_code == 422
    assert client.post(page, {"value": "4", "note": "It says four."}).url == page  # type: ignore[attr-defined]
    client.post(page, {"exclude": "on", "note": "Another text."})
    html = client.get(page).content.decode()
    assert "Include again" in html
    assert "Temperature" in html
    assert "It says four." in html
    assert history(judgment) == [("set", 3, 4), ("excluded", 4, None)]
