"""What is read is what was given, under aliases, a fixed number of queries for any number of rows."""

import pytest
from django.core.cache import cache

from annotate.commands.disputes import post_message
from annotate.commands.rounds import close_round_one, open_round_two
from annotate.queries.raters import disputes_of
from tests.annotate.rounds import opened, rate
from tests.api.client import ApiClient
from tests.factories import make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def disputed():
    """A project in Round II, whose first item was rated 1, 3 and 5."""
    cache.clear()
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


def test_coefficients_are_those_of_the_agreement_page(disputed):
    program, home = ApiClient(disputed.researcher), f"projects/{disputed.project.slug}/"
    (figures,) = program.get(f"{home}rounds/1/coefficients/").json()
    # One unit with values 1, 3, 5: observed and expected disagreement are the same, so alpha is 0.
    alpha = figures["krippendorff_alpha"]["interval"]
    assert alpha["value"] == pytest.approx(0)
    assert (figures["measures"], alpha["counts"]["pairable_units"]) == ("reliability", 1)
    assert program.get(f"{home}rounds/1/coefficients/?dimension=nothing").json() == []
    assert program.get(f"{home}rounds/3/coefficients/").status_code == 404


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
