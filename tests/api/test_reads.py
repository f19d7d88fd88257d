"""What is read is what was given, under aliases, a fixed number of queries for any number of rows."""

import pytest
from django.core.cache import caches

from annotate.core.jobs import run_job
from annotate.core.models import ComputedResult
from annotate.core.rounds import disputes_of
from annotate.disputes.commands.disputes import post_message
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.results import figures
from tests.api.client import ApiClient
from tests.factories import make_project
from tests.judges.factories import make_metric
from tests.rating.rounds import opened, rate
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def disputed():
    """A project in Round II, whose first item was rated 1, 3 and 5."""
    caches["process"].clear()
    cast = make_project()
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value, comment="Because.")
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    return cast


def test_everything_of_a_project_is_read_by_a_researcher(disputed):
    program, home = ApiClient(disputed.researcher), f"projects/{disputed.project.slug}/"
    documents = program.get(f"{home}documents/").json()["results"]
    assert [row["document"] for row in documents] == ["product-1", "product-2"]
    assert documents[0]["parts"][0] == {"label": "Review 1", "text": "Review 1 of product 1."}
    assert len(program.get(f"{home}items/").json()["results"]) == 4
    (item,) = program.get(f"{home}items/?document=product-2&system=system-1").json()["results"]
    assert item["text"] == "What system-1 wrote about product 2."
    ratings = program.get(f"{home}ratings/").json()["results"]
    assert [(row["rater"], row["value"]) for row in ratings] == [
        (rater.pseudonym, value) for rater, value in zip(disputed.annotators, (1, 3, 5), strict=True)
    ]
    assert [
        row["value"]
        for row in program.get(f"{home}ratings/?rater={disputed.annotators[1].pseudonym}").json()["results"]
    ] == [3]
    history = program.get(f"{home}ratings/history/").json()["results"]
    assert [row["value_after"] for row in history] == [1, 3, 5]
    assert [row["number"] for row in program.get(f"{home}rounds/").json()] == [1, 2]
    assert [row["key"] for row in program.get(f"{home}dimensions/").json()] == ["fluency"]
    assert {row["rater"] for row in program.get(f"{home}raters/").json()["results"]} == {
        rater.pseudonym for rater in disputed.annotators
    }


def test_results_match_their_pages(disputed):
    program, home = ApiClient(disputed.researcher), f"projects/{disputed.project.slug}/results/"
    listed = {each["name"]: each["parameters"] for each in program.get(home).json()}
    assert listed["agreement"] == ["drawn"]
    found = program.get(f"{home}agreement/").json()
    assert (found["current"], found["chosen"]) == (True, {"drawn": "documents"})
    tables = {table["key"]: table for section in found["sections"] for table in section["tables"]}
    (row,) = tables["rounds"]["rows"]
    (own,) = cells_of(disputed.project, "agreement", "rounds")
    # One unit with values 1, 3, 5: observed and expected disagreement are the same, so alpha is 0.
    assert row[2]["value"] == own["round_1_alpha"].value == pytest.approx(0)
    assert row[2]["count"] == own["round_1_alpha"].count == 1


def test_result_can_be_downloaded_as_a_file(disputed):
    program, home = ApiClient(disputed.researcher), f"projects/{disputed.project.slug}/results/"
    table = program.get(f"{home}agreement/rounds.csv")
    assert table["Content-Type"].startswith("text/csv")
    assert table.content.decode().startswith("dimension,")
    plot = program.get(f"{home}agreement/alpha.svg")
    assert plot["Content-Type"].startswith("image/svg+xml")
    for nothing in ("agreement/rounds.svg", "agreement/nothing.csv", "nothing/", "agreement/?drawn=raters"):
        answer = program.get(f"{home}{nothing}")
        assert answer.status_code == 404
        assert answer.json()["message"]


def test_a_dispute_tells_its_values_thread_and_history_but_not_the_system(disputed):
    rater = disputed.annotators[0]
    dispute = disputes_of(rater).get()
    post_message(dispute=dispute, author=rater, text="Is it an error?")
    address = f"projects/{disputed.project.slug}/disputes/{dispute.number}/"
    for user in (rater.user, disputed.researcher):
        found = ApiClient(user).get(address).json()
        assert [each["value_before"] for each in found["standpoints"]] == [1, 3, 5]
        assert [(each["rater"], each["text"]) for each in found["thread"]] == [("Rater A", "Is it an error?")]
        assert [each["kind"] for each in found["history"]] == ["opened"]
        assert "system-1" not in str({**found, "text": ""})
    (row,) = ApiClient(rater.user).get(f"projects/{disputed.project.slug}/disputes/").json()["results"]
    assert (row["number"], row["document"], row["system"]) == (dispute.number, None, None)


def test_an_annotator_reads_nothing_of_others_while_round_one_is_open():
    cast = make_project()
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 5, comment="A secret reason.")
    program, home = ApiClient(cast.annotators[1].user), f"projects/{cast.project.slug}/"
    for path in (
        "ratings/",
        "ratings/history/",
        "assignments/",
        "documents/",
        "items/",
        "systems/",
        "raters/",
    ):
        assert program.get(home + path).status_code == 404
    for path in ("", "rounds/", "dimensions/", "work/", "disputes/"):
        answer = program.get(home + path)
        assert answer.status_code == 200
        assert "secret" not in answer.content.decode()
    assert program.get(f"{home}disputes/").json()["results"] == []


def test_queries_do_not_grow_with_rows(django_assert_max_num_queries):
    small, large = make_project(documents=1), make_project(documents=6, dimensions=("fluency", "style"))
    counts = []
    for cast in (small, large):
        round = opened(cast)
        for annotator in cast.annotators:
            for item in cast.items:
                rate(cast, round, annotator, item, 3)
        program, home = ApiClient(cast.researcher), f"projects/{cast.project.slug}/"
        program.get("me/")
        with django_assert_max_num_queries(40) as asked:
            for path in ("items/", "ratings/", "ratings/history/", "assignments/"):
                assert program.get(home + path).status_code == 200
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_undefined_result_has_its_reason_until_data_come(disputed, monkeypatch):
    monkeypatch.setattr(figures, "AT_ONCE", 0)  # a worker computes it
    program, address = ApiClient(disputed.researcher), f"projects/{disputed.project.slug}/results/metrics/"
    reason = "There is no metric yet; an admin imports or computes some: Judges, Import metrics."

    def computed_by_a_worker():
        found = program.get(address).json()
        assert (found["current"], found["problem"]) == (False, "")
        run_job("result", ComputedResult.objects.get().pk)
        return program.get(address)

    answer = computed_by_a_worker()
    assert (answer.status_code, answer.json()["code"], answer.json()["message"]) == (
        422,
        "undefined_result",
        reason,
    )
    make_metric(disputed, [1, 2, 3, 4])
    assert computed_by_a_worker().json()["current"]
