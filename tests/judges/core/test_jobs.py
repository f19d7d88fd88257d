"""Every kind of job: a worker that dies, work that raises, and the guarantees of docs/reference/jobs.md."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.files.base import ContentFile
from django.db import OperationalError
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.core import jobs
from annotate.core.jobs import GAVE_UP, JOB_KINDS, MAX_ATTEMPTS, MAX_TAKES, JobKind, run_job
from annotate.core.models import (
    AccountMail,
    ComputedResult,
    Delivery,
    DisputeDigest,
    Export,
    Invitation,
    Item,
    Notice,
    NoticeKind,
    Push,
    Role,
    Round,
    Version,
)
from annotate.core.models import DataImport as Import
from annotate.disputes.commands.digests import nudge_raters, write_digests
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands import start_export, start_push
from annotate.material.commands.uploads import ask_for_preview, receive_upload
from annotate.material.reading.guessing import guess_mapping
from annotate.material.reading.readers import first_records
from annotate.people.commands import ask_for_mail, invite, save_preferences
from annotate.people.mails import post_account_mail
from annotate.periodic_tasks import find_due_jobs
from annotate.rating.commands.rounds import close_round_one, open_round_one
from annotate.results.commands import ask_for_page
from annotate.results.registry import result_called
from annotate.versions.commands import request_version
from annotate.webhooks.commands import DeliveryResponse, add_webhook, try_webhook
from judges.core.models import Drafting, Judge, Proposal, Rereading
from judges.endpoints.evaluation_steps import start_steps_writing
from judges.laboratory.commands.draftings import start_drafting
from judges.laboratory.commands.proposals import draw_parts, propose_text
from judges.laboratory.commands.searches import plan_search, start_search
from judges.runs.commands.collecting import collect
from judges.runs.commands.corrections import confirm_rereading, start_rereading
from judges.runs.commands.endings import stop_run
from judges.runs.commands.runs import start_run
from tests.additions.scenes import make_benchmark
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_priced_endpoint, make_run
from tests.judges.laboratory.rumours import CLARIFICATION, answer, judge_all, make_rumours, planned
from tests.judges.provider import Provider, providing
from tests.material.files import item, jsonl, start_import
from tests.rating.rounds import discussed, opened, rate

pytestmark = pytest.mark.django_db(transaction=True)
DOCS = Path(__file__).resolve().parents[3] / "docs/reference/jobs.md"


@dataclass
class Case:
    """A job that waits, and the name of the function that fails in the middle of its work.

    does: what that function does instead of its own work, which needs the network. results: counts what the
    job made; once it is done, there is one. paid: calls of a model until the failure. calls: of the whole
    job.
    """

    kind: str
    job: Model
    fails: str
    results: Callable[[], int]
    does: Callable[..., object] | None = None
    paid: int = 0
    calls: int = 0

    @property
    def declared(self) -> JobKind:
        """Its kind."""
        return JOB_KINDS[self.kind]

    def run(self) -> None:
        """Let a worker take it, whenever it is due."""
        if due_at := self.declared.due_at:
            waits = self.declared.rows.filter(pk=self.job.pk, **{f"{due_at}__isnull": False})
            waits.update(**{due_at: timezone.now()})
        run_job(self.kind, self.job.pk)

    def let_lease_end(self) -> None:
        """Make its worker silent for as long as a lease lasts."""
        kind = self.declared
        row = kind.rows.filter(pk=self.job.pk)
        row.update(**{kind.due_at or kind.clock: timezone.now() - 2 * jobs.SILENT_AFTER})


def upload_of(cast: Cast, folder: Path) -> Import:
    path = jsonl(folder, item("brought"))
    file = ContentFile(path.read_bytes(), path.name)
    return receive_upload(project=cast.project, by=None, file=file, name=path.name)


def an_import(_provider: Provider, folder: Path) -> Case:
    upload = upload_of(make_project(), folder)
    records = first_records(folder / upload.name)
    start_import(data_import=upload, mapping=guess_mapping(records), what=Import.What.ITEMS)
    fails = "annotate.material.commands.uploads.import_file"
    return Case("import", upload, fails, Item.objects.filter(document__key="brought").count)


def a_preview(_provider: Provider, folder: Path) -> Case:
    preview = ask_for_preview(data_import=upload_of(make_project(), folder))
    ready = type(preview).objects.filter(status="ready")
    return Case("preview", preview, "annotate.material.commands.uploads.read_opening", ready.count)


def an_export(_provider: Provider, _folder: Path) -> Case:
    cast = make_project()
    made = start_export(project=cast.project, choice=ExportChoice(Format.JSONL), by=cast.admin)
    ready = Export.objects.filter(status="ready")
    return Case("export", made, "annotate.exports.commands.write_file", ready.count)


def a_version(_provider: Provider, _folder: Path) -> Case:
    cast = make_benchmark()
    made = request_version(project=cast.project, changelog="The first.", by=cast.admin)
    fails = "annotate.versions.commands.leaderboard_of"
    return Case("version", made, fails, Version.objects.count)


def a_push(_provider: Provider, _folder: Path) -> Case:
    cast = make_project()
    export = start_export(project=cast.project, choice=ExportChoice(Format.HUGGING_FACE), by=cast.admin)
    run_job("export", export.pk)
    push = start_push(export=export, repository="someone/boots", private=True, by=cast.admin)
    fails, pushed = (
        "annotate.exports.commands.push_folder",
        Push.objects.filter(url="https://hub.example"),
    )
    return Case("push", push, fails, pushed.count, does=lambda *_, **__: "https://hub.example")


def a_result(_provider: Provider, _folder: Path) -> Case:
    project = make_project().project
    ask_for_page(project=project, result=result_called(project, "agreement"))
    computed = ComputedResult.objects.filter(content__gt="", asked_at=None)
    return Case(
        "result", ComputedResult.objects.get(), "annotate.results.commands.compute_page", computed.count
    )


def a_round(_provider: Provider, _folder: Path) -> Case:
    cast = make_project()
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    with pytest.MonkeyPatch.context() as patch:  # its process dies before the disputes
        patch.setattr("annotate.rating.commands.rounds.finish_round", lambda **_: None)
        round = close_round_one(project=cast.project, by=cast.admin)
    Round.objects.filter(pk=round.pk).update(lease=None)
    return Case("round", round, "annotate.rating.commands.rounds.spreads_of", round.disputes.count)


def a_delivery(_provider: Provider, _folder: Path) -> Case:
    cast = make_project()
    url = "https://receiver.example/hook"
    hook, _ = add_webhook(project=cast.project, url=url, events=["export.ready"], by=cast.admin)
    made, taken = try_webhook(webhook=hook), Delivery.objects.filter(status="delivered")
    return Case(
        "delivery",
        made,
        "annotate.webhooks.commands.post",
        taken.count,
        does=lambda *_, **__: DeliveryResponse(200, "Thanks."),
    )


def a_mail(kind: str, job: Model, fails: str) -> Case:
    mail.outbox.clear()
    return Case(kind, job, fails, lambda: len(mail.outbox))


def an_invitation(_provider: Provider, _folder: Path) -> Case:
    cast = make_project()
    offer = invite(project=cast.project, by=cast.admin, role=Role.ANNOTATOR, email="a@example.org")
    ask_for_mail(invitation=offer, site="https://concord.example/")
    return a_mail("invitation", offer, "annotate.people.mails.send_mail")


def an_account_mail(_provider: Provider, _folder: Path) -> Case:
    post_account_mail(user=None, to="a@example.org", subject="Hello", body="Welcome.")
    return a_mail("account_mail", AccountMail.objects.get(), "annotate.people.mails.send_mail")


def a_notice(_provider: Provider, _folder: Path) -> Case:
    cast = make_project()
    chosen = [NoticeKind.ROUNDS]
    save_preferences(user=cast.admin, notices=chosen, notice_address="https://concord.example")
    open_round_one(project=cast.project, by=cast.researcher)
    return a_mail("notice", Notice.objects.get(), "annotate.people.mails.send_mail")


def a_nudge(_provider: Provider, _folder: Path) -> Case:
    cast = make_project()
    discussed(cast, 1, 3, 5)
    waiting = {cast.annotators[0].pk: 1}
    link = "https://concord.example/disputes/"
    nudged = nudge_raters(project=cast.project, waiting=waiting, by=cast.admin, link=link)
    return a_mail("nudge", nudged.now[0], "annotate.disputes.commands.digests.send_mail")


def a_digest(_provider: Provider, _folder: Path) -> Case:
    cast = make_project()
    discussed(cast, 1, 3, 5)
    user = cast.annotators[0].user
    assert user
    save_preferences(user=user, digest_address="https://concord.example")
    write_digests(now=(timezone.localtime() + timedelta(days=1)).replace(hour=9))
    return a_mail("digest", DisputeDigest.objects.get(), "annotate.disputes.commands.digests.send_mail")


def a_stopped_run(_provider: Provider, _folder: Path) -> Case:
    cast = make_project()
    run = start_run(run=make_run(cast.project, make_judge(cast.project)))
    type(run).objects.update(created_by=cast.admin)
    stop_run(run, "The server refuses the key.")
    return a_mail("stopped_run", run, "judges.runs.commands.endings.send_mail")


def a_rereading(_provider: Provider, _folder: Path) -> Case:
    cast = make_project()
    made = start_rereading(project=cast.project, judge=None, by=cast.admin)
    previewed = Rereading.objects.filter(status="previewed")
    fails = "judges.runs.commands.corrections.rereadings_in_batches"
    return Case("rereading", made, fails, previewed.count)


def a_confirmed_rereading(provider: Provider, folder: Path) -> Case:
    case = a_rereading(provider, folder)
    case.run()
    made = Rereading.objects.get()
    assert made.created_by
    confirm_rereading(rereading=made, by=made.created_by)
    applied = Rereading.objects.filter(status="applied")
    return Case("rereading", made, "judges.runs.commands.corrections.read_again", applied.count)


def a_steps_writing(provider: Provider, _folder: Path) -> Case:
    provider.reply_to, provider.reply = None, "1. Read.\n2. Compare.\n3. Decide."
    cast = make_project()
    judge = judge_of(cast, provider, "g_eval")
    assert judge.template
    made = start_steps_writing(template=judge.template, judge=judge, by=cast.admin)
    finished = type(made).objects.filter(status="finished")
    fails = "judges.endpoints.evaluation_steps.steps_in"
    return Case("steps", made, fails, finished.count, paid=1, calls=len(cast.dimensions))


def a_drafting(provider: Provider, _folder: Path) -> Case:
    cast = make_rumours()
    judge = judge_of(cast, provider)
    draw_parts(project=cast.project, teach=8, select=0, by=cast.admin)
    judge_all(cast, judge)
    made = start_drafting(drafting=planned(cast, judge), by=cast.admin)
    drafted = Proposal.objects.filter(text=CLARIFICATION)
    fails = "judges.laboratory.drafting.answer_start"
    return Case("drafting", made, fails, drafted.count, paid=1, calls=1)


def a_search(provider: Provider, _folder: Path) -> Case:
    cast = make_rumours()
    judge = judge_of(cast, provider)
    draw_parts(project=cast.project, teach=0, select=8, by=cast.admin)
    judge_all(cast, judge)
    fluency = cast.dimensions[0]
    proposal = propose_text(
        judge=judge, dimension=fluency, kind="clarification", text=CLARIFICATION, by=cast.admin
    )
    search = plan_search(
        judge=judge, dimension=fluency, proposals=[proposal], most_candidates=1, by=cast.admin
    )
    search = start_search(search=search, by=cast.admin)
    assert search.run_id
    collect(run=search.run_id, seconds=60)
    asked = len(provider.asked)
    fails = "judges.laboratory.searching.plan_run"
    return Case("search", search, fails, lambda: search.runs.count() - 1, paid=asked, calls=asked)


def judge_of(cast: Cast, provider: Provider, method: str = "direct") -> Judge:
    endpoint = make_priced_endpoint(cast.project, provider.base_url)
    return make_judge(cast.project, method, endpoint=endpoint, name="Base")


Make = Callable[[Provider, Path], Case]
CASES: dict[str, Make] = {
    "import": an_import,
    "preview": a_preview,
    "export": an_export,
    "version": a_version,
    "push": a_push,
    "result": a_result,
    "round": a_round,
    "delivery": a_delivery,
    "invitation": an_invitation,
    "account_mail": an_account_mail,
    "notice": a_notice,
    "nudge": a_nudge,
    "digest": a_digest,
    "stopped_run": a_stopped_run,
    "rereading": a_rereading,
    "rereading, confirmed": a_confirmed_rereading,
    "steps": a_steps_writing,
    "drafting": a_drafting,
    "search": a_search,
}
each_kind = pytest.mark.parametrize("make", CASES.values(), ids=list(CASES))


@pytest.fixture
def provider() -> Any:
    with providing(reply_to=answer) as provider:
        yield provider


def failing(monkeypatch: pytest.MonkeyPatch, name: str, error: BaseException) -> list[object]:
    raised: list[object] = []

    def fail(*_: object, **__: object) -> None:
        raised.append(error)
        raise error

    monkeypatch.setattr(name, fail)
    return raised


def test_every_kind_of_job_has_a_case() -> None:
    assert {name.partition(",")[0] for name in CASES} == set(JOB_KINDS)


def test_the_document_lists_every_kind() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| `(\w+)` \|$", DOCS.read_text(), re.MULTILINE)
    assert rows == [(kind.name, kind.does, kind.model.__name__) for kind in JOB_KINDS.values()]


@each_kind
def test_a_job_whose_worker_dies_is_done_once_by_another(
    make: Make, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = make(provider, tmp_path)
    key = (case.kind, case.job.pk)
    with monkeypatch.context() as patch:
        failing(patch, case.fails, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            case.run()
    assert key not in find_due_jobs(), "its worker may be alive"
    run_job(*key)
    assert case.results() == 0
    case.let_lease_end()
    assert key in find_due_jobs()
    if case.does:
        monkeypatch.setattr(case.fails, case.does)
    for _ in range(2):
        run_job(*key)
    assert case.results() == 1
    assert key not in find_due_jobs()
    assert len(provider.asked) == case.calls


@each_kind
def test_a_job_that_raises_stops_with_the_reason_and_pays_once(
    make: Make,
    provider: Provider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    case = make(provider, tmp_path)
    raised = failing(monkeypatch, case.fails, ZeroDivisionError())
    for _ in range(MAX_TAKES + 2):
        case.run()
    assert len(raised) == MAX_ATTEMPTS
    assert (case.kind, case.job.pk) not in find_due_jobs()
    name = f"{case.job._meta.verbose_name} {case.job.pk}"
    reason = "Attempt 3 failed (ZeroDivisionError), and it was the last. Ask the operator: the worker's log"
    assert f"{name} stopped: {reason}" in caplog.text
    assert f"Attempt 3 of {name} failed" in caplog.text, "the operator finds it under the name in the reason"
    assert caplog.text.count("Traceback") >= MAX_ATTEMPTS
    if case.kind != "account_mail":  # its row is deleted, since it may hold a secret
        stopped = case.declared.rows.get(pk=case.job.pk)
        assert getattr(stopped, case.declared.reason).startswith(reason)
        assert not case.declared.statuses or stopped.status == case.declared.stopped
    assert len(provider.asked) == case.paid
    assert case.results() == 0


@each_kind
def test_a_database_that_was_away_ends_no_job(
    make: Make, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = make(provider, tmp_path)
    with monkeypatch.context() as patch:
        raised = failing(patch, case.fails, OperationalError("away"))
        for _ in range(MAX_ATTEMPTS + 1):
            case.run()
    assert len(raised) == MAX_ATTEMPTS + 1
    if case.does:
        monkeypatch.setattr(case.fails, case.does)
    case.run()
    assert case.results() == 1


def test_job_that_ends_its_workers_is_abandoned(provider: Provider, tmp_path: Path) -> None:
    case = an_export(provider, tmp_path)
    Export.objects.update(attempts=MAX_TAKES)
    case.run()
    assert list(Export.objects.values_list("status", "message")) == [("stopped", GAVE_UP)]


@pytest.mark.parametrize("make", [a_steps_writing, a_drafting])
def test_a_reply_that_cannot_be_read_from_its_response_is_paid_once(
    make: Make, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = make(provider, tmp_path)
    failing(
        monkeypatch, "judges.endpoints.dialects.chat_completions.ChatCompletions.replies", ZeroDivisionError()
    )
    for _ in range(MAX_ATTEMPTS):
        case.run()
    stopped = case.declared.rows.get(pk=case.job.pk)
    assert stopped.status == "stopped"
    assert stopped.reason.startswith("Attempt 1 failed (ZeroDivisionError), and it was the last.")
    assert len(provider.asked) == 1


@pytest.mark.parametrize(
    ("make", "stores"),
    [
        (a_steps_writing, "judges.endpoints.evaluation_steps._keep_reply"),
        (a_drafting, "judges.laboratory.drafting._store_reply"),
    ],
)
def test_a_reply_is_stored_once_the_database_is_back(
    make: Make, stores: str, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = make(provider, tmp_path)
    module, _, name = stores.rpartition(".")
    store = getattr(__import__(module, fromlist=[name]), name)
    away = iter([True])

    def store_later(*args: Any) -> Any:
        if next(away, False):
            raise OperationalError("away")
        return store(*args)

    monkeypatch.setattr(stores, store_later)
    case.run()
    assert case.results() == 1
    assert len(provider.asked) == case.calls


def test_a_stopped_drafting_continues_without_paying(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = a_drafting(provider, tmp_path)
    with monkeypatch.context() as patch:
        failing(patch, case.fails, ZeroDivisionError())
        for _ in range(MAX_ATTEMPTS):
            case.run()
    start_drafting(drafting=Drafting.objects.get(), by=None)
    case.run()
    assert Drafting.objects.get().status == "finished"
    assert case.results() == 1
    assert len(provider.asked) == 1


def test_a_stopped_rereading_starts_again_on_its_page(
    client: Client, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = a_rereading(provider, tmp_path)
    with monkeypatch.context() as patch:
        failing(patch, case.fails, ZeroDivisionError())
        for _ in range(MAX_ATTEMPTS):
            case.run()
    made = Rereading.objects.get()
    assert made.created_by
    client.force_login(made.created_by)
    page = reverse("rereading", args=[made.project.slug, made.pk])
    assert "Attempt 3 failed (ZeroDivisionError)" in client.get(page).content.decode()
    client.post(page, {"restart": "on"})
    case.run()
    made.refresh_from_db()
    assert (made.status, made.reason) == ("previewed", "")


def test_closing_again_finishes_a_round_that_workers_gave_up(
    client: Client, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = a_round(provider, tmp_path)
    with monkeypatch.context() as patch:
        failing(patch, case.fails, ZeroDivisionError())
        for _ in range(MAX_ATTEMPTS):
            case.run()
    round = Round.objects.get()
    admin = round.project.memberships.filter(role=Role.ADMIN)[0].user
    assert admin
    client.force_login(admin)
    page = reverse("project", args=[round.project.slug])
    assert "Attempt 3 failed (ZeroDivisionError)" in client.get(page).content.decode()
    round = close_round_one(project=round.project, by=None)
    assert (round.is_unfinished, round.problem, case.results()) == (False, "", 1)


def test_the_page_people_shows_why_an_invitation_was_not_sent(
    client: Client, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = an_invitation(provider, tmp_path)
    failing(monkeypatch, case.fails, ZeroDivisionError())
    for _ in range(MAX_ATTEMPTS):
        case.run()
    offer = Invitation.objects.get()
    assert offer.created_by
    client.force_login(offer.created_by)
    page = client.get(reverse("people", args=[offer.project.slug])).content.decode()
    assert "not sent: Attempt 3 failed (ZeroDivisionError)" in page


@pytest.mark.parametrize("make", [a_result, a_round])
def test_job_of_the_previous_version_is_detected(make: Make, provider: Provider, tmp_path: Path) -> None:
    case = make(provider, tmp_path)
    case.declared.rows.update(**{case.declared.clock: None, "lease": None})  # it knows neither column
    assert (case.kind, case.job.pk) in find_due_jobs()
    run_job(case.kind, case.job.pk)
    assert case.results() == 1
