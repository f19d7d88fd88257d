"""Why a judgment has no value, where the server says so: each kind is marked, with the server's words."""

import pytest

from judges.runs.commands.runs import retry_failed
from tests.api.client import ApiClient
from tests.factories import make_project
from tests.judges.factories import make_endpoint, make_judge, make_judgment
from tests.judges.news import news_project
from tests.judges.pages import address, text_of
from tests.judges.provider import providing
from tests.judges.running import running, worked

pytestmark = pytest.mark.django_db(transaction=True)
TOO_LONG = "This model's maximum context length is 4097 tokens. However, your messages resulted in 5000."
LLAMA = "the request exceeds the available context size. try increasing the context size"
AZURE = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."


def came_of(**says):
    """Return the judgment that a provider's answer came to, and its run."""
    project = news_project(documents=1, systems=1)
    with providing(**says) as provider:
        judge = make_judge(project, endpoint=make_endpoint(project, provider.base_url))
        run = worked(running(project, judge, dimensions=["fluency"]))
    return run.judgments.get(), run


@pytest.mark.parametrize(
    ("says", "problem", "reason"),
    [
        ({"reply": "", "refusal": "I cannot help."}, "refused", "The model refuses: I cannot help."),
        (
            {"reply": "", "finish_reason": "content_filter"},
            "filtered",
            "The provider's content filter ended the reply.",
        ),
        (
            {"reply": "The text", "finish_reason": "length"},
            "truncated",
            "The reply was cut off at the judge's limit of tokens.",
        ),
        ({"reply": "The text"}, "", "No score was found."),
    ],
)
def test_reply_without_a_value_is_marked_by_the_server_reason(says, problem, reason):
    judgment, _ = came_of(**says)
    assert (judgment.status, judgment.problem) == ("unreadable", problem)
    assert judgment.reason.startswith(reason)


@pytest.mark.parametrize(
    ("error", "code", "problem"),
    [
        (TOO_LONG, "context_length_exceeded", "too_long"),
        (TOO_LONG, None, "too_long"),
        (LLAMA, None, "too_long"),
        (AZURE, "content_filter", "filtered"),
        ("temperature must be 1", None, ""),
    ],
)
def test_rejected_request_is_marked_by_code_or_words_and_keeps_them(error, code, problem):
    judgment, _ = came_of(status=400, error=error, code=code)
    assert (judgment.status, judgment.problem) == ("failed", problem)
    assert error in judgment.reason


def test_a_reply_that_was_cut_off_behind_its_score_has_a_value():
    judgment, _ = came_of(reply="Score: 4. The text", finish_reason="length")
    assert (judgment.status, judgment.value, judgment.problem) == ("done", 4, "")


def test_retried_judgment_no_longer_has_a_problem():
    judgment, run = came_of(status=400, error=TOO_LONG)
    retry_failed(run=run)
    judgment.refresh_from_db()
    assert (judgment.status, judgment.problem) == ("planned", "")


def test_pages_and_the_api_show_and_find_what_kind_it_was(client):
    cast = make_project()
    judge = make_judge(cast.project)
    without = {"value": None, "status": "failed", "reason": TOO_LONG, "problem": "too_long"}
    judgment = make_judgment(judge, cast.items[0], cast.dimensions[0], **without)
    client.force_login(cast.admin)
    for page in (f"runs/{judgment.run_id}/", f"runs/{judgment.run_id}/judgments/failed/"):
        shown = text_of(client.get(address(cast, page)))
        assert "too long for the model" in shown
        assert TOO_LONG in shown
    found = ApiClient(cast.admin).get(f"projects/{cast.project.slug}/judgments/?problem=too_long").json()
    assert [(row["id"], row["problem"]) for row in found["results"]] == [(judgment.pk, "too_long")]
    none = ApiClient(cast.admin).get(f"projects/{cast.project.slug}/judgments/?problem=refused").json()
    assert none["results"] == []
