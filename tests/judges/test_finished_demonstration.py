"""The finished demonstration: every part of Concord has something to show in it."""

import json
from collections import Counter
from datetime import timedelta
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from django.db.models import Count
from django.test import Client

from annotate.core.models import (
    Assignment,
    Dispute,
    Export,
    Item,
    ItemTag,
    Post,
    Project,
    Rating,
    Round,
    User,
)
from annotate.management.demonstration import PEOPLE, begin_project, load_demonstration, make_accounts
from annotate.results.commands import compute_page
from annotate.results.queries.agreement_page import alpha_of
from annotate.results.queries.material import default_drawn, rated_rounds
from annotate.results.registry import PAGES, result_of
from annotate.setup.commands import delete_project
from annotate.setup.presets import TEMPLATES
from judges.core.models import Certificate, Judge, Judgment, Proposal, RoutedUnit, Run
from judges.management.demonstration import finished
from judges.management.demonstration.finished import add_recorded_runs
from judges.management.demonstration.material import ARTICLES, SYSTEMS, felt
from judges.management.demonstration.recorded_server import (
    LENIENT,
    MODEL,
    SPREAD,
    UNKNOWN,
    reply_to,
    serve_recorded_replies,
)
from judges.routing.queries.trust import trust_in
from tests.factories import make_project


def make_scene() -> Project:
    return finished.load_finished_demonstration()


@pytest.mark.once
def test_it_has_both_rounds_judges_routing_certificates_and_an_export(cast: Project) -> None:
    project = cast
    assert (Item.objects.count(), Round.objects.filter(status=Round.Status.CLOSED).count()) == (72, 2)
    assert Rating.objects.filter(assignment__round__number=1, value__isnull=False).count() == 63 * 4 * 3
    statuses = set(Dispute.objects.values_list("status", flat=True))
    assert statuses >= {Dispute.Status.SETTLED, Dispute.Status.ADJUDICATED, Dispute.Status.LEFT_OPEN}
    methods = Judgment.objects.values_list("judge__method", flat=True)
    assert set(methods) == {"rts", "mcq", "h2h"}
    expect_numbers_of_the_tutorial(project)
    expect_something_of_every_kind(project)
    chosen_by_lot = RoutedUnit.objects.filter(why="audit")
    assert chosen_by_lot.exists()
    assert RoutedUnit.objects.exclude(pk__in=chosen_by_lot).exists()
    assert Certificate.objects.filter(threshold__isnull=False).exists()
    assert Proposal.objects.count() == 2
    assert Export.objects.get().status == Export.Status.READY
    admin = Client()
    admin.force_login(User.objects.get(email="admin@example.org"))
    for page in (each for each in PAGES.values() if each.is_listed(project)):
        compute_page(project=project, result=result_of(project, page))
        shown = admin.get(f"/projects/{project.slug}/results/{page.name}/", follow=True)
        assert shown.status_code == 200, page.name
    assert "Split the documents" not in admin.get(f"/projects/{project.slug}/judges/align/").content.decode()
    for path in ("judges/prompts", "judges/runs", "judges/endpoints", "webhooks", "webhooks/1", "images"):
        html = admin.get(f"/projects/{project.slug}/{path}/").content.decode()
        assert 'class="empty"' not in html, path
    assert finished.load_finished_demonstration() == project, "it is not made twice"
    assert not finished.is_wanted()


def expect_numbers_of_the_tutorial(project: Project) -> None:
    """The tutorial quotes these numbers, and every installation shows them."""
    counts = Counter(Dispute.objects.values_list("status", flat=True))
    assert counts == {"settled": 36, "left_open": 8, "adjudicated": 6, "irresolvable": 1}
    alphas = [
        {each.key: round(alpha_of(rated, each).value or 0, 3) for each in rated.dimensions}
        for rated in rated_rounds(project, default_drawn(project))
    ]
    assert alphas == [
        {"coherence": 0.719, "consistency": 0.82, "fluency": 0.681, "relevance": 0.762},
        {"coherence": 0.803, "consistency": 0.873, "fluency": 0.813, "relevance": 0.839},
    ]
    uses = {
        judge.name: [
            (each.scored.dimension.key, each.verdict.use.value) for each in trust_in(project, judge, {})
        ]
        for judge in Judge.objects.filter(project=project, method="rts")
    }
    assert uses == {
        "Invented model, reasons first": [
            ("coherence", "refused"),
            ("consistency", "unknown"),
            ("fluency", "unknown"),
            ("relevance", "part"),
        ],
        "Recorded model, reasons first": [
            ("coherence", "unknown"),
            ("consistency", "refused"),
            ("fluency", "refused"),
            ("relevance", "refused"),
        ],
    }


def expect_something_of_every_kind(project: Project) -> None:
    threads = Dispute.objects.annotate(count=Count("posts")).filter(count__gte=2)
    assert threads.count() == 30
    assert Rating.objects.filter(evidence__isnull=False).count() > 100
    runs = Run.objects.order_by("pk").values_list("status", flat=True)
    assert list(runs) == ["finished", "planned"]
    tags = Counter(ItemTag.objects.values_list("name", flat=True))
    assert tags == {"copied from the article": 24, "for the error analysis": 12}
    webhook = project.webhooks.get()
    assert [each.status for each in webhook.deliveries.all()] == ["delivered", "delivered"]


@pytest.mark.django_db
def test_recorded_replies_name_the_summary_and_the_dimension() -> None:
    project = make_finished_material()
    judge = Judge.objects.get(project=project, name="Recorded model, reasons first")
    for judgment in Judgment.objects.filter(judge=judge).select_related("item__system", "item__document"):
        article = next(each for each in ARTICLES if each.key == judgment.item.document.key)
        position = SYSTEMS.index(judgment.item.system.name)
        key = judgment.dimension.key
        assert judgment.value == felt(article, position, key, by=MODEL, leaning=LENIENT, spread=SPREAD)


def make_finished_material() -> Project:
    """Make the texts of the demonstration with the endpoint and its runs, and nothing else."""
    users = make_accounts()
    project, _ = begin_project(finished.NAME, TEMPLATES["news-summaries"], users)
    finished.add_items(project)
    add_recorded_runs(project, users[PEOPLE[0]])
    return project


def test_recorded_replies_are_served_like_completions() -> None:
    article = ARTICLES[0]
    prompt = f"Judge its Coherence.\n{article.sentences[0]}\n<text>\n{article.editor}\n</text>\nScore:"
    server = serve_recorded_replies(0)
    assert server
    try:
        body = json.dumps({"messages": [{"role": "user", "content": prompt}], "n": 2}).encode()
        address = f"http://127.0.0.1:{server.server_port}/v1"
        with urlopen(f"{address}/chat/completions", body) as answer:
            completion = json.load(answer)
        with urlopen(f"{address}/models") as answer:
            assert json.load(answer)["data"][0]["id"] == MODEL
        with pytest.raises(HTTPError, match="400"):
            urlopen(f"{address}/chat/completions", b"no JSON")
        assert serve_recorded_replies(server.server_port) is None
    finally:
        server.shutdown()
        server.server_close()
    texts = [each["message"]["content"] for each in completion["choices"]]
    assert texts == [reply_to(prompt)] * 2
    assert texts[0].splitlines()[-1].startswith("Score: ")
    assert reply_to("What is the capital of France?") == UNKNOWN


def contents(project: Project) -> dict[str, list[tuple[object, ...]]]:
    """Return what people, judges and routing did in a project, without keys and times."""
    unit = ("item__document__key", "item__system__name", "dimension__key")
    of_assignment = ("annotator__alias", "position", "item__document__key", "item__system__name")
    of_rating = ("assignment__round__number", *(f"assignment__{each}" for each in of_assignment))
    rows = {
        "places": Assignment.objects.filter(round__project=project).values_list(
            "round__number", *of_assignment
        ),
        "ratings": Rating.objects.filter(assignment__round__project=project).values_list(
            *of_rating, "dimension__key", "value", "comment"
        ),
        "disputes": Dispute.objects.filter(round__project=project).values_list("number", *unit, "status"),
        "routed": RoutedUnit.objects.filter(policy__project=project).values_list(*unit, "why"),
        "certificates": Certificate.objects.filter(calibration__project=project).values_list(
            "dimension__key", "threshold", "kept", "errors"
        ),
        "posts": Post.objects.filter(dispute__round__project=project).values_list("dispute__number", "text"),
        "judgments": Judgment.objects.filter(judge__project=project).values_list(
            "judge__name", *unit, "status", "value"
        ),
        "proposals": Proposal.objects.filter(judge__project=project).values_list("dimension__key", "text"),
    }
    return {name: sorted(found, key=repr) for name, found in rows.items()}


@pytest.mark.once
def test_every_installation_has_the_same_demonstrations(cast: Project) -> None:
    made = []
    for _ in range(2):
        # The scene's is not made twice; after its deletion, another one is.
        projects = [load_demonstration(), finished.load_finished_demonstration()]
        made.append([contents(each) for each in projects])
        for each in projects:
            delete_project(project=each, name=each.name, by=User.objects.get(email="admin@example.org"))
    assert made[0] == made[1]
    assert all(made[0][1].values())


@pytest.mark.django_db
def test_unfinished_demonstration_is_rebuilt_after_a_while() -> None:
    assert finished.is_wanted()
    half = make_project().project
    Project.objects.filter(pk=half.pk).update(name=finished.NAME)
    assert not finished.is_wanted(), "a worker may be making it"
    Project.objects.filter(pk=half.pk).update(created_at=half.created_at - timedelta(minutes=11))
    assert finished.is_wanted()
    Project.objects.filter(pk=half.pk).update(name="One of ours")
    assert not finished.is_wanted(), "who has begun to work is left alone"
