"""Judgments with an answer are asked again, or excluded: one, or all that a filter finds."""

from decimal import Decimal

import pytest
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse

from annotate.core.errors import InvalidValueError
from annotate.rating.commands.rounds import freeze_guideline
from judges.core.errors import JudgmentStandsError, RunRefusedError
from judges.core.models import Endpoint, Judge, Judgment, Run
from judges.runs.commands import corrections, outcomes
from judges.runs.commands.corrections import ask_again, exclude_all, set_value
from judges.runs.commands.runs import cancel_run
from judges.runs.queries.judgments import AnswerSelection, Selection, answers_of, plan_of_asking, rereadings
from judges.runs.queries.samples import among
from tests.api.client import ApiClient
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_judgment, make_priced_endpoint
from tests.judges.provider import providing
from tests.judges.running import statuses, worked
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db(transaction=True)

USED = {"input_tokens": 1000, "output_tokens": 100, "cost": Decimal("0.0028"), "seconds": 1.5}


def judged(cast: Cast) -> Judge:
    """Give each item a judgment of 3 about fluency; the second one cannot be read."""
    judge = make_judge(cast.project, name="Reasoner", endpoint=make_priced_endpoint(cast.project))
    for item in cast.items:
        make_judgment(judge, item, cast.dimensions[0], **USED)
    second = Judgment.objects.order_by("pk")[1]
    Judgment.objects.filter(pk=second.pk).update(status="unreadable", value=None, reason="No score.")
    return judge


def keys() -> list[int]:
    return list(Judgment.objects.order_by("pk").values_list("pk", flat=True))


def state(pk: int) -> dict[str, object]:
    return Judgment.objects.values().get(pk=pk) | {"run_id": None}


def these(*judgments: int) -> QuerySet[Judgment]:
    return Judgment.objects.filter(pk__in=judgments)


def found(cast: Cast, **selection: object) -> list[int]:
    answers = answers_of(cast.project, Selection(**selection))  # type: ignore[arg-type]
    return list(answers.order_by("pk").values_list("pk", flat=True))


def test_retry_has_a_separate_run_and_history_keeps_the_earlier_reply() -> None:
    cast = make_project(documents=1)
    judged(cast)
    first, second = keys()
    with providing(reply="Better. Score: 5") as provider:
        Endpoint.objects.update(base_url=provider.base_url)
        run = ask_again(project=cast.project, judgments=these(first), by=cast.admin)
        with pytest.raises(JudgmentStandsError):
            ask_again(project=cast.project, judgments=these(first), by=cast.admin)
        assert worked(run).status == "finished"
    judgment = Judgment.objects.get(pk=first)
    assert (judgment.status, judgment.value, judgment.attempts, judgment.run_id) == ("done", 5, 1, run.pk)
    assert (judgment.input_tokens, judgment.cost) == (100, Decimal("0.0006"))
    (change,) = judgment.changes.all()
    assert (change.kind, change.value_before, change.status_after) == ("asked_again", 3, "planned")
    assert change.answer_before["reply"] == "Score: 3"
    assert (change.answer_before["input_tokens"], change.answer_before["cost"]) == (1000, "0.00280000")
    assert not Judgment.objects.get(pk=second).changes.exists()


def test_earlier_answer_stays_if_the_run_is_cancelled_first() -> None:
    cast = make_project(documents=1)
    judged(cast)
    first, second = keys()
    set_value(judgment=Judgment.objects.get(pk=first), value=2, note="It says two.", by=cast.admin)
    before = [state(pk) for pk in (first, second)]
    run = ask_again(project=cast.project, judgments=these(first, second), by=cast.admin)
    assert set(Judgment.objects.values_list("status", "value", "reply", "is_corrected")) == {
        ("planned", None, "", False)
    }
    cancel_run(run=run)
    assert [state(pk) for pk in (first, second)] == before
    kinds = Judgment.objects.get(pk=first).changes.order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["set", "asked_again", "given_back"]


def test_any_number_is_retried_and_restored_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    cast = make_project(documents=2)
    judged(cast)
    before = [state(pk) for pk in keys()]
    for module in (corrections, outcomes):
        monkeypatch.setattr(module, "AT_ONCE", 1)
    Judgment.objects.update(
        run=Run.objects.create(
            project=cast.project, guideline=freeze_guideline(cast.project), keeps_messages=True
        )
    )
    run = ask_again(project=cast.project, judgments=answers_of(cast.project, Selection()), by=cast.admin)
    assert (run.status, run.keeps_messages, statuses(run)) == ("running", True, {"planned": 4})
    cancel_run(run=run)
    assert [state(pk) for pk in keys()] == before


def test_lookup_exceeds_the_parameter_limit_of_a_statement() -> None:
    assert not Judgment.objects.filter(pk__in=among(range(300_000))).exists()


def test_earlier_answer_stays_if_the_retry_fails() -> None:
    cast = make_project(documents=1)
    judged(cast)
    Judgment.objects.update(attempts=7)
    before = [state(pk) for pk in keys()]
    with providing(status=400, error="Not this one.") as provider:
        Endpoint.objects.update(base_url=provider.base_url)
        run = worked(ask_again(project=cast.project, judgments=these(*keys()), by=cast.admin))
    assert run.status == "finished"
    assert [state(pk) for pk in keys()] == before
    change = Judgment.objects.get(pk=keys()[0]).changes.latest("pk")
    assert (change.kind, change.status_before, change.status_after) == ("given_back", "failed", "done")
    assert "Not this one." in change.reason_before


def test_calls_before_a_retry_do_not_count() -> None:
    cast = make_project(documents=1)
    judged(cast)
    Judgment.objects.update(attempts=7)
    first, _ = keys()
    ask_again(project=cast.project, judgments=these(first), by=cast.admin)
    assert Judgment.objects.get(pk=first).attempts == 0, "all eight calls are left to it"


def test_corrected_judgment_is_retried_and_then_read_as_any_other() -> None:
    cast = make_project(documents=1)
    judge = judged(cast)
    first, _ = keys()
    set_value(judgment=Judgment.objects.get(pk=first), value=2, note="It says two.", by=cast.admin)
    with providing(reply="Score: 4") as provider:
        Endpoint.objects.update(base_url=provider.base_url)
        worked(ask_again(project=cast.project, judgments=these(first), by=cast.admin))
    Judgment.objects.filter(pk=first).update(value=1)  # as if earlier rules had read it
    assert [each.value for each in rereadings([judge]) if each.judgment.pk == first] == [4]


def test_a_selection_is_by_judge_dimension_and_what_answers_are() -> None:
    cast = make_project(dimensions=("fluency", "coherence"), documents=2)
    judge = judged(cast)
    other = make_judgment(make_judge(cast.project), cast.items[0], cast.dimensions[1], value=1)
    one, two, three, four = (key for key in keys() if key != other.pk)
    round = opened(cast)
    for annotator in cast.annotators[:2]:  # the judge says 3: the mean of the third is 5, of the fourth 4
        rate(cast, round, annotator, cast.items[2], 5)
    for annotator, value in zip(cast.annotators, (3, 5), strict=False):
        rate(cast, round, annotator, cast.items[3], value)
    assert found(cast) == [one, two, three, four, other.pk]
    assert found(cast, judge=judge.pk) == [one, two, three, four]
    assert found(cast, dimension="coherence") == [other.pk]
    assert found(cast, which=AnswerSelection.UNREADABLE) == [two]
    assert found(cast, which=AnswerSelection.FAR) == [three]
    set_value(judgment=Judgment.objects.get(pk=three), value=4, note="Four.", by=cast.admin)
    assert found(cast, judge=judge.pk) == [one, two, four]
    assert found(cast, only=three) == [three]
    # 1,000 tokens at 2 and 100 at 8 for a million, twice, and once more for the judge without a price.
    assert plan_of_asking(answers_of(cast.project, Selection(judge=judge.pk))).cost == Decimal("0.0084")
    assert plan_of_asking(answers_of(cast.project, Selection())).calls == 4


def test_imported_judges_are_not_asked() -> None:
    cast = make_project(documents=1)
    judged(cast)
    Judge.objects.update(endpoint=None, template=None)
    with pytest.raises(RunRefusedError, match="imported"):
        ask_again(project=cast.project, judgments=these(*keys()), by=cast.admin)
    assert not Judgment.objects.filter(status="planned").exists()
    assert plan_of_asking(Judgment.objects.all()).calls == 0


def test_several_are_excluded_together_and_restored_individually(client: Client) -> None:
    cast = make_project(documents=1)
    judged(cast)
    first, second = keys()
    with pytest.raises(InvalidValueError):
        exclude_all(project=cast.project, judgments=[first], note=" ", by=cast.admin)
    assert (
        exclude_all(project=cast.project, judgments=[first, second], note="Wrong prompt.", by=cast.admin) == 2
    )
    assert exclude_all(project=cast.project, judgments=[first, second], note="Twice.", by=cast.admin) == 0
    client.force_login(cast.admin)
    client.post(reverse("judgment", args=[cast.project.slug, second]), {"include": "on", "note": "Right."})
    assert Judgment.objects.get(pk=first).reason == "Wrong prompt."
    assert (Judgment.objects.get(pk=second).status, Judgment.objects.get(pk=second).reason) == (
        "unreadable", "No score."
    )  # fmt: skip


def test_the_page_shows_count_and_cost_before_it_acts(client: Client) -> None:
    cast = make_project(documents=1)
    judge = judged(cast)
    page = reverse("find_judgments", args=[cast.project.slug])
    client.force_login(cast.researcher)
    html = client.get(page, {"judge": judge.pk}).content.decode()
    assert "2 judgments" in html
    assert "Ask all of them again" not in html
    client.force_login(cast.admin)
    assert page in client.get(reverse("runs", args=[cast.project.slug])).content.decode()
    html = client.get(page, {"judge": judge.pk}).content.decode()
    assert "2 calls; expected cost: 0.0056 USD" in html
    assert client.get(page, {"judge": 10**9}).status_code == 422
    chosen = {"judge": judge.pk, "which": "unreadable"}
    stale = client.post(page, {**chosen, "act": "ask", "shown": 2})
    assert stale.status_code == 409
    assert "there are 1 now" in stale.content.decode()
    refused = client.post(page, {**chosen, "act": "exclude", "shown": 1})
    assert "Give a reason." in refused.content.decode()
    asked = client.post(page, {**chosen, "act": "ask", "shown": 1})
    run = Run.objects.latest("pk")
    assert asked.headers["Location"] == reverse("run", args=[cast.project.slug, run.pk])
    assert (run.status, run.judgments.count()) == ("running", 1)
    excluded = client.post(
        page, {"judge": judge.pk, "act": "exclude", "shown": 1, "note": "Off."}, follow=True
    )
    assert "Judgments excluded: 1." in excluded.content.decode()


def test_retry_starts_from_the_page_which_then_shows_the_earlier_reply(client: Client) -> None:
    cast = make_project(documents=1)
    judged(cast)
    first, _ = keys()
    page = reverse("judgment", args=[cast.project.slug, first])
    client.force_login(cast.admin)
    assert "One call in a separate run; expected cost: 0.0028 USD" in client.get(page).content.decode()
    client.post(reverse("judgment_ask", args=[cast.project.slug, first]))
    assert Judgment.objects.get(pk=first).status == "planned"
    html = client.get(page).content.decode()
    assert "The earlier reply" in html
    assert "Score: 3" in html
    again = client.post(reverse("judgment_ask", args=[cast.project.slug, first]), follow=True)
    assert "There is no answer to request again" in again.content.decode()


def test_the_api_counts_asks_and_excludes() -> None:
    cast = make_project(documents=1)
    judge = judged(cast)
    first, second = keys()
    program = ApiClient(cast.admin)

    def posted(what: str, **sent: object) -> tuple[int, dict[str, object]]:
        answer = program.post(f"projects/{cast.project.slug}/judgments/{what}/", sent)
        return answer.status_code, answer.json()

    assert posted("found", judge=judge.pk) == (200, {"judgments": 2, "calls": 2, "cost": "0.00560000"})
    assert posted("ask-again", judge=judge.pk, shown=1)[0] == 409
    status, run = posted("ask-again", judgment=second)
    assert (status, run["planned"]) == (201, 1)
    assert posted("exclude", dimension="fluency", note="Off.") == (200, {"excluded": 1})
    assert Judgment.objects.get(pk=first).status == "excluded"
