"""What is found out of a server by one short call before a run asks it."""

import pytest

from judges.core.models import Judge
from tests.judges.factories import make_endpoint, make_judge, make_priced_endpoint
from tests.judges.news import news_project
from tests.judges.provider import providing
from tests.judges.running import running, statuses, worked

pytestmark = pytest.mark.django_db(transaction=True)
OLD_NAME = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."


def test_one_call_finds_out_the_name_of_the_longest_reply_and_no_judgment_is_refused():
    project = news_project(documents=2, systems=4)
    with providing(refuses="max_tokens", error=OLD_NAME) as provider:
        endpoint = make_priced_endpoint(project, provider.base_url)
        judge = make_judge(project, endpoint=endpoint, max_tokens_name="")
        twin = make_judge(project, endpoint=endpoint, max_tokens_name="")
        run = worked(running(project, judge, dimensions=["fluency"]))
        assert statuses(run) == {"done": 8}
        refused, probe, *asked = provider.asked
        assert (refused["max_tokens"], probe["max_completion_tokens"]) == (16, 16)
        assert [each["max_completion_tokens"] for each in asked] == [256] * 8
        assert "temperature" not in probe, "which these models refuse"
        assert set(Judge.objects.values_list("max_tokens_name", flat=True)) == {"max_completion_tokens"}
        worked(running(project, twin, dimensions=["fluency"]))
        assert len(provider.asked) == 18, "it is known of the model"
    assert float(run.spent) == pytest.approx(9 * 0.0006), "the answered probe is paid too"


def test_a_server_that_takes_the_usual_name_is_asked_once():
    project = news_project(documents=1, systems=1)
    with providing() as provider:
        judge = make_judge(project, endpoint=make_endpoint(project, provider.base_url), max_tokens_name="")
        worked(running(project, judge))
    assert [asked["max_tokens"] for asked in provider.asked] == [16, 256, 256, 256, 256]
    judge.refresh_from_db()
    assert judge.max_tokens_name == "max_tokens"


def test_a_name_that_an_admin_chose_is_sent_without_a_probe():
    project = news_project(documents=1, systems=1)
    with providing() as provider:
        endpoint = make_endpoint(project, provider.base_url)
        judge = make_judge(project, endpoint=endpoint, max_tokens_name="max_completion_tokens")
        worked(running(project, judge))
    assert [asked["max_completion_tokens"] for asked in provider.asked] == [256] * 4


@pytest.mark.parametrize(("status", "error"), [(401, "bad key"), (404, "no such model")])
def test_what_refuses_the_probe_for_good_stops_the_run_before_any_judgment_is_asked(status, error):
    project = news_project(documents=1, systems=1)
    with providing(status=status, error=error) as provider:
        judge = make_judge(project, endpoint=make_endpoint(project, provider.base_url), max_tokens_name="")
        run = worked(running(project, judge))
    assert (run.status, len(provider.asked)) == ("stopped", 1)
    assert error in run.reason


def test_nothing_is_asked_for_a_run_that_does_not_go_on():
    project = news_project(documents=1, systems=1)
    with providing() as provider:
        judge = make_judge(project, endpoint=make_endpoint(project, provider.base_url), max_tokens_name="")
        run = running(project, judge)
        type(run).objects.update(status="paused")
        worked(run)
    assert provider.asked == []
