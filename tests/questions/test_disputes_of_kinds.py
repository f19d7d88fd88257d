"""Disputes of other kinds of question: shown, answered, taken over and decided, on pages and by API."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotate.core.models import Assignment, ComputedResult, Dispute, Membership, Rating, RatingChange
from annotate.disputes.queries.page import DisputePage, dispute_page
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.results.queries.disagreements import Disagreement, UnitsApart, spread_sections
from annotate.results.queries.kept import KeptPage
from tests.api.client import ApiClient
from tests.factories import Cast
from tests.questions.asking import give, open_questions

pytestmark = pytest.mark.django_db

SPAN = {"part": 0, "start": 0, "end": 4, "category": "fluency", "severity": "minor"}
OTHER_SPAN = {"part": 0, "start": 5, "end": 11, "category": "accuracy", "severity": "major"}
ANSWERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "labels": ({"labels": ["grammar"]}, {"labels": ["grammar", "spelling", "wrong-word"]}),
    "parts": ({"parts": ["yes", "no", "yes"]}, {"parts": ["yes", "no", "no"]}),
    "ranking": ({"ranks": [1, 2, 3]}, {"ranks": [2, 1, 3]}),
    "spans": ({"spans": [SPAN]}, {"spans": [OTHER_SPAN]}),
}


@dataclass(frozen=True)
class Scene:
    """A dispute between two raters, in an open Round II."""

    cast: Cast
    dispute: Dispute

    @property
    def raters(self) -> tuple[Membership, Membership]:
        one, other = self.cast.annotators
        return one, other

    def page(self, reader: Membership | None) -> DisputePage:
        return dispute_page(Dispute.objects.get(), reader=reader)

    def url(self, name: str) -> str:
        return reverse(name, args=[self.cast.project.slug, self.dispute.number])

    def html(self, client: Client, user: Any) -> str:
        client.force_login(user)
        return client.get(self.url("dispute")).content.decode()

    def send(self, client: Client, rater: Membership, **sent: Any) -> HttpResponse:
        """Send the page's fields for a rater who has not answered yet."""
        assert rater.user
        client.force_login(rater.user)
        sent = {"seen_revision": 0, "rater": rater.alias, **sent}
        return client.post(self.url("dispute_answer"), sent)  # type: ignore[return-value]


def disputed(kind: str) -> Scene:
    """Return a dispute of a kind; the values of a preference are -2 and 1."""
    cast = open_questions(kind, documents=1)
    item = Assignment.objects.filter(annotator=cast.annotators[0]).order_by("item")[0].item_id
    for index, annotator in enumerate(cast.annotators):
        if kind == "preference":
            give(annotator, item, kind, value=(-2, 1)[index])
        else:
            give(annotator, item, kind, data=ANSWERS[kind][index])
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    return Scene(cast, Dispute.objects.get())


def held(rater: Membership) -> tuple[float | None, Any]:
    rating = Rating.objects.get(assignment__round__number=2, assignment__annotator=rater)
    return rating.value, rating.data


def test_outputs_have_the_numbers_of_the_reader() -> None:
    scene = disputed("preference")
    for reader in (*scene.raters, None):
        page = scene.page(reader)
        order = page.content.order
        assert [each.marked.text for each in page.sides] == [page.content.sides[side] for side in order]
        winner = page.sides[0].number if order[0] == 0 else page.sides[1].number
        assert page.standpoints[0].says == f"Output {winner} is better"
        assert page.standpoints[1].says == f"Output {3 - winner} is slightly better"
        held_by = {each.name: [one.rater.alias for one in each.raters] for each in page.categories}
        assert held_by[f"Output {winner} is better"] == [scene.raters[0].alias]
    # The page names raters who saw another order next to the output: their reasons use other numbers.
    decider = scene.page(None)
    for standpoint in decider.standpoints:
        differs = list((standpoint.data or {})["order"]) != list(decider.content.order)
        named = {name for side in decider.sides for name, _ in side.elsewhere}
        assert (standpoint.name in named) == differs


def test_labels_appear_with_their_raters() -> None:
    page = disputed("labels").page(None)
    assert [(each.name, [one.name for one in each.raters]) for each in page.categories] == [
        ("Grammar", ["Rater A", "Rater B"]),
        ("Spelling", ["Rater B"]),
        ("Wrong word", ["Rater B"]),
    ]


def test_parts_that_differ_come_first() -> None:
    page = disputed("parts").page(None)
    assert [(each.number, each.differs) for each in page.part_answers] == [(3, True), (1, False), (2, False)]
    labels = [(each.name, [one.name for one in each.raters]) for each in page.part_answers[0].labels]
    assert labels == [("Yes", ["Rater A"]), ("No", ["Rater B"])]


def test_ranks_are_listed_by_output_in_the_order_of_the_reader() -> None:
    scene = disputed("ranking")
    page = scene.page(scene.raters[1])
    ranks = [[1, 2], [2, 1], [3, 3]]
    expected = [[str(each) for each in ranks[side]] for side in page.content.order]
    assert [ranks for _, ranks, _ in page.rank_answers] == expected


def test_spans_have_a_colour_for_each_of_two_raters() -> None:
    page = disputed("spans").page(None)
    assert [(each.text, each.by, each.colour) for each in page.rated.segments[:3]] == [
        ("What", ("A",), "1"),
        (" ", (), ""),
        ("system", ("B",), "2"),
    ]
    assert [(each.words, each.category, each.severity) for each in page.span_answers] == [
        ("What", "Fluency", "minor"),
        ("system", "Accuracy", "major"),
    ]


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("preference", "The raters prefer different outputs."),
        ("labels", "The sets of labels differ by 0.67."),
        ("parts", "33 % of the parts have different labels."),
        ("ranking", "The raters rank different outputs first."),
        ("spans", "The raters mark different words, or give the same words different severities."),
    ],
)
def test_each_kind_reports_the_distance_between_answers(client: Client, kind: str, sentence: str) -> None:
    scene = disputed(kind)
    assert scene.page(None).apart == sentence
    for user in (scene.raters[0].user, scene.cast.admin):
        html = scene.html(client, user)
        assert html.count(f"{sentence}") >= 2
        assert "apart in Round I" not in html
    client.force_login(scene.cast.admin)
    listing = client.get(reverse("disputes", args=[scene.cast.project.slug]), {"all": 1})
    assert listing.status_code == 200
    client.force_login(scene.raters[0].user)  # type: ignore[arg-type]
    work = client.get(reverse("disputes", args=[scene.cast.project.slug])).content.decode()
    assert sentence in work
    assert scene.page(scene.raters[0]).standpoints[0].says in work.replace("&gt;", ">")


@pytest.mark.parametrize("kind", ANSWERS)
def test_answer_is_adopted_confirmed_or_replaced(client: Client, kind: str) -> None:
    scene = disputed(kind)
    one, other = scene.raters
    page = scene.page(one)
    assert page.mine
    sent = {"keep": page.mine.value, "kept_data": page.mine.data_as_sent, "comment": "I am sure."}
    assert scene.send(client, one, **sent).status_code == 302
    assert held(one) == (page.mine.value, page.mine.data)
    assert RatingChange.objects.get(rating__assignment__round__number=2).cause == "kept"
    taken = scene.page(other).others[0]
    response = scene.send(client, other, take_over=taken.data_as_sent)
    assert response.status_code == 302
    value, data = held(other)
    name = next(iter(ANSWERS[kind][0]))
    assert (value, data[name]) == (page.mine.value, ANSWERS[kind][0][name])
    assert Dispute.objects.get().status == "settled"
    new = ANSWERS[kind][1]
    scene.send(client, one, data=json.dumps(new), seen_revision=1, seen_status="settled")
    assert held(one)[1][name] == new[name]
    assert Dispute.objects.get().status == "open"


def test_a_preference_is_changed_by_a_button_in_the_readers_order(client: Client) -> None:
    scene = disputed("preference")
    one, other = scene.raters
    html = scene.html(client, one.user)
    assert 'name="keep" value="-2"' in html
    assert scene.send(client, one, value="1").status_code == 302
    value, data = held(one)
    assert (value, data["order"]) == (1, list(scene.page(one).content.order))
    assert Dispute.objects.get().status == "settled"
    assert other.pk not in Rating.objects.filter(assignment__round__number=2).values_list(
        "assignment__annotator", flat=True
    )


def test_incomplete_answer_is_rejected_and_stays_on_the_page(client: Client) -> None:
    scene = disputed("parts")
    begun = json.dumps({"parts": ["yes", None, None]})
    response = scene.send(client, scene.raters[0], data=begun)
    assert response.status_code == 422
    html = response.content.decode()
    assert "This answer is not complete" in html
    assert "[&quot;yes&quot;, null, null]" in html
    assert not Rating.objects.filter(assignment__round__number=2).exists()


@pytest.mark.parametrize("kind", [*ANSWERS, "preference"])
def test_an_admin_decides_and_the_raters_read_it(client: Client, kind: str) -> None:
    scene = disputed(kind)
    html = scene.html(client, scene.cast.admin)
    sent: dict[str, Any] = {"value": "1"}
    if kind != "preference":
        assert "Use the answer of Rater B" in html
        sent = {"data": json.dumps(ANSWERS[kind][1])}
    refused = client.post(scene.url("dispute_decide"), {"note": "Without an answer."})
    assert refused.status_code == 422
    assert client.post(scene.url("dispute_decide"), {**sent, "note": "So it is."}).status_code == 302
    decided = Dispute.objects.get()
    assert decided.status == "adjudicated"
    for reader in scene.raters:
        page = scene.page(reader)
        holds = next(each for each in page.standpoints if each.rater == scene.raters[1])
        assert page.decided_says == holds.says
        html = scene.html(client, reader.user).replace("&gt;", ">")
        assert f"Adjudicated as {page.decided_says}" in html
        assert f"Decided by adjudication: {page.decided_says}." in html


def test_a_program_answers_and_decides_with_data() -> None:
    scene = disputed("labels")
    home = f"projects/{scene.cast.project.slug}/disputes/{scene.dispute.number}/"
    rater = ApiClient(scene.raters[0].user, "rate")
    said = rater.get(home).json()["standpoints"]
    assert [each["data"] for each in said] == list(ANSWERS["labels"])
    sent = {"value": None, "data": {"labels": ["spelling"]}, "revision": 0}
    answered = rater.post(f"{home}answer/", sent).json()
    mine = next(each for each in answered["standpoints"] if each["is_me"])
    assert (mine["value"], mine["data"]) == (1, {"labels": ["spelling"]})
    admin = ApiClient(scene.cast.admin, "read", "write")
    decision: dict[str, Any] = {"value": None, "data": {"labels": []}, "note": "None of them."}
    decided = admin.post(f"{home}decision/", decision).json()
    assert (decided["adjudicated_value"], decided["adjudicated_data"]) == (0, {"labels": []})
    assert decided["history"][-1]["data"] == {"labels": []}


def test_a_program_rates_with_data() -> None:
    cast = open_questions("labels", documents=1)
    one = cast.annotators[0]
    rater = ApiClient(one.user, "rate")
    home = f"projects/{cast.project.slug}/work/1/"
    asked = rater.get(home).json()["dimensions"][0]
    assert (asked["kind"], asked["options"]["labels"][0]["key"]) == ("labels", "grammar")
    saved = rater.put(f"{home}labels/", {"data": {"labels": ["spelling", "grammar"]}}).json()
    assert saved["assignment_complete"]
    assert rater.get(home).json()["dimensions"][0]["rating"]["data"] == {"labels": ["grammar", "spelling"]}


@pytest.mark.parametrize("kind", [*ANSWERS, "preference"])
def test_lists_say_answers_in_words(client: Client, kind: str) -> None:
    scene = disputed(kind)
    one = scene.raters[0]
    slug, item = scene.cast.project.slug, scene.dispute.item_id
    client.force_login(one.user)  # type: ignore[arg-type]
    work = client.get(reverse("my_work", args=[slug])).content.decode().replace("&gt;", ">")
    assert scene.page(one).standpoints[0].says in work
    client.force_login(scene.cast.admin)
    facts = client.get(reverse("item", args=[slug, item])).content.decode().replace("&gt;", ">")
    # Outputs have the numbers of the list on this page, for all raters.
    said = {"preference": "Output 1 is better", "ranking": "1 > 2 > 3", "labels": "Grammar"}
    assert f">{said.get(kind, scene.page(None).standpoints[0].says)}</strong>" in facts
    if kind in ("preference", "ranking"):
        assert facts.count("sides-listed") == 1
        assert "What system-" in facts


def test_the_rules_page_takes_distances_and_counts_disputes(client: Client) -> None:
    cast = open_questions("labels", "text", documents=1)
    item = cast.items[0].pk
    for annotator, data in zip(cast.annotators, ANSWERS["labels"], strict=True):
        give(annotator, item, "labels", data=data)
    dimension = cast.project.dimensions.get(key="labels")
    client.force_login(cast.admin)
    url = reverse("dispute_rules", args=[cast.project.slug])
    html = client.get(url).content.decode()
    assert f'name="threshold_{dimension.pk}"' in html
    assert "Texts have no distance" in html
    sent = {"threshold": 1, "tolerance": 0, f"threshold_{dimension.pk}": 0.9}
    assert client.post(url, {**sent, f"tolerance_{dimension.pk}": 0.95}).status_code == 422
    assert client.post(url, {**sent, f"threshold_{dimension.pk}": 1.5}).status_code == 422
    assert client.post(url, sent).status_code == 302
    dimension.refresh_from_db()
    assert dimension.dispute_threshold == 0.9
    close_round_one(project=cast.project, by=cast.admin)
    assert not Dispute.objects.exists()  # the sets differ by 0.67


def test_spreads_of_sets_are_their_distance() -> None:
    cast = open_questions("labels", documents=1)
    for annotator, data in zip(cast.annotators, ANSWERS["labels"], strict=True):
        give(annotator, cast.items[0].pk, "labels", data=data)
    (section,) = spread_sections(cast.project, {})
    dimension = cast.project.dimensions.get()
    rows = [[each.value for each in row[1:]] for row in section.tables[0].rows]
    assert (section.tables[0].rows[0][0].key, rows) == (str(dimension.pk), [[0.67, 1]])


@pytest.mark.parametrize(("kind", "said"), [("labels", "Grammar"), ("preference", "Output 1 is better")])
def test_disagreements_have_answers_in_words(client: Client, kind: str, said: str) -> None:
    scene = disputed(kind)
    kept = KeptPage(ComputedResult(), "", spread_sections(scene.cast.project, {}))
    (unit,) = UnitsApart(scene.cast.project, Disagreement(), kept)[:10]
    assert (unit.item.pk, unit.apart) == (scene.dispute.item_id, scene.dispute.spread)
    assert (unit.given[0].name, unit.given[0].says) == ("Rater A", said)
    client.force_login(scene.cast.admin)
    url = reverse("disagreement", args=[scene.cast.project.slug, scene.dispute.item_id, kind])
    assert f"<strong>{said}</strong>" in client.get(url).content.decode()
