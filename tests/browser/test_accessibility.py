"""axe-core finds nothing on any page of admins, on a screen and a phone, in each theme.

A project has something to show on each page. Annotators' pages are held to more, in test_annotators_pages.py.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import resolve
from playwright.sync_api import BrowserContext, Page

import annotate.urls
import judges.urls
from annotate.additions.commands import add_systems
from annotate.calibration.commands import start_session
from annotate.core.audit import record
from annotate.core.jobs import run_job
from annotate.core.models import (
    Delivery,
    Document,
    GoldItem,
    Project,
    PublicLeaderboard,
    Role,
    Submission,
    User,
    Version,
    Webhook,
)
from annotate.core.rounds import disputes_of
from annotate.disputes.commands.disputes import post_message
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands import start_export
from annotate.leaderboard.queries import leaderboard_of
from annotate.people.commands import invite
from annotate.quality.commands import RightValue, describe_gold, mark_gold, set_practice_bar
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.results.reproduction.papers import BEGUN
from annotate.results.reproduction.summeval_op import SUMMEVAL_OP
from annotate.setup.commands import add_image, create_project
from annotate.webhooks.commands import add_webhook, try_webhook
from annotate.webhooks.events import EXPORT_READY
from judges.core.models import Calibration, DevelopmentDocument, Drafting, Judge, PromptSearch, Proposal
from judges.laboratory.commands.panels import make_panel
from judges.metrics.commands import compute_metrics
from judges.metrics.computing import MEASURES
from judges.routing.commands.certificates import draw_calibration
from judges.routing.commands.policies import make_policy
from judges.runs.commands.corrections import start_rereading
from tests.browser.axe import PHONE, SCREEN, bring_axe, resize, violations_in_any_theme
from tests.browser.people import signed_in
from tests.factories import Cast, make_member, make_outside_rater, make_project, make_user
from tests.judges.certified import calibrated_project, calibration_spec, rate_sample
from tests.judges.factories import make_run
from tests.judges.routing.project import judges_of, spec_of
from tests.material.files import read_uploads
from tests.rating.rounds import opened, rate

# What answers GET without being an admin's page: files, parts of pages, and what annotators see.
NO_PAGES = {
    *("projects_moved", "moved"),
    *("template_file", "project_template", "template_text", "image", "import_refused"),
    *("export_file", "export_one", "audit_download", "reproduction_table", "result_file"),
    "disagreements_file",
    *("judge_comparison", "judge_figures", "judge_reliability", "judge_estimates", "judge_replacement"),
    *("certificate_table", "agreement", "so_far", "pilot", "experiment_new"),
    *(
        "rate",
        "my_work",
        "my_values",
        "how_rating_works",
        "guideline",
        "rate_progress",
        "rate_item",
    ),
    *("practice", "practice_item", "practice_feedback"),
    *("public_json", "public_csv", "public_documents"),
    *("keys", "preferences", "own_data", "digest_stop", "invitation", "join", "outside_end"),
    *(
        "address",
        "address_confirm",
        "signup_address",
        "first_account",
        "installation_erase",
        "template_steps",
    ),
}
ANYWHERE = (
    "",
    "account/tokens/",
    "account/sessions/",
    "account/again/",
    "accounts/2fa/",
    "installation/people/",
    "installation/people/{person}/",
    "projects/new/",
    "projects/new/from-export/",
    "templates/",
    "api/v1/",
)
OF_PEOPLE = """
preview/ settings/ as-template/ rounds/1/ items/ items/{item}/
dimensions/ dimensions/fluency/ comparisons/ parts/ guideline-versions/ images/ imports/
imports/{upload}/ annotator-quality/ annotator-quality/{rater}/ assignment-plan/
people/ people/{rater}/ people/outside/ results/so-far/
rounds/1/deadline/ versions/ export/ export/datasheet/ export/{export}/ audit/ delete/
webhooks/ webhooks/{webhook}/
results/ results/agreement/ results/agreement/?part=severity results/systems/ results/systems/means/
results/metadata/ results/questions/ results/disagreements/
results/leaderboard/ public-page/ submissions/ submissions/{submission}/
results/disagreements/{item}/fluency/
disputes/ adjudication/ dispute-rules/ disputes/{dispute}/
"""
OF_JUDGES = """
additions/ additions/{addition}/
judges/ judges/new/ judges/{judge}/ judges/{judge}/?part=self-consistency judges/{judge}/watch/
judges/{judge}/judgments/failed/ judges/judgment/{judgment}/
judges/judgments/ judges/read-again/ judges/read-again/{rereading}/
judges/import/ judges/import/{judgments}/
judges/metrics/ judges/metrics/{metrics}/ results/metrics/
results/judges/ results/reliability/ judges/of-unit/{item}/fluency/
results/estimates/ results/replacement/ results/compare/ results/trust/ results/verdicts/ results/routes/
results/biases/
results/experiments/ judges/align/ results/alignment/
judges/align/drafts/{drafting}/ judges/align/search/{search}/
judges/certificates/ judges/certificates/new/ judges/certificates/{calibration}/
judges/routing/ judges/routing/new/ judges/routing/{policy}/
judges/endpoints/ judges/endpoints/new/ judges/endpoints/{endpoint}/ judges/panels/new/
judges/panels/{panel}/
judges/prompts/ judges/prompts/new/rts/ judges/prompts/{prompt}/
judges/runs/ judges/runs/new/ judges/runs/{run}/ judges/runs/{run}/judgments/failed/
"""
BEFORE_ROUND_ONE = (
    "",
    "review/",
    "settings/",
    "dimensions/new/",
    "dimensions/fluency/",
    "comparisons/",
    "parts/",
    "gold/",
    "gold/{gold}/",
    "calibration/",
    "calibration/{session}/",
)
REPRODUCTION = "reproduction/"
PUBLIC = ("", "embed/", "submit/")
WHILE_RATED = ("", "results/so-far/", "annotator-quality/")


@dataclass(frozen=True)
class Scene:
    """Pages, and an admin who may see them all."""

    admin: User
    addresses: list[str]


def people_at_work() -> Scene:
    """Set a project in Round II, one in Round I, and one before it with practice."""
    discussed, rated, fresh = make_project(), make_project(), make_project()
    admin = discussed.admin
    User.objects.filter(pk=admin.pk).update(is_staff=True)
    for other in (rated, fresh):
        make_member(other.project, Role.ADMIN, user=admin)
    add_image(project=discussed.project, by=admin, name="scale.png", content=b"\x89PNG\r\n\x1a\n a picture")
    invite(project=discussed.project, by=admin, role=Role.ANNOTATOR, membership=None)
    Document.objects.filter(project=discussed.project).update(metadata={"genre": "news"})
    round = opened(discussed)
    for annotator, value in zip(discussed.annotators, (1, 3, 5), strict=True):
        rate(discussed, round, annotator, discussed.items[0], value, comment="Because.")
    close_round_one(project=discussed.project, by=admin)
    open_round_two(project=discussed.project, by=admin)
    rater = discussed.annotators[0]
    make_outside_rater(rater)
    dispute = disputes_of(rater)[0]
    post_message(dispute=dispute, author=rater, text="Is it an error?")
    export = start_export(project=discussed.project, choice=ExportChoice(Format.CSV), by=admin)
    run_job("export", export.pk)
    gold = mark_gold(project=fresh.project, item=fresh.items[-1], use=GoldItem.Use.PRACTICE)
    right = {fresh.dimensions[0].pk: RightValue(5, "It deserves 5.")}
    describe_gold(project=fresh.project, gold=gold, explanation="Read it slowly.", values=right)
    set_practice_bar(project=fresh.project, bar=100)
    rate(rated, opened(rated), rated.annotators[0], rated.items[0], 3)
    session = start_session(
        project=fresh.project,
        documents=[fresh.items[0].document_id],
        annotators=[each.pk for each in fresh.annotators],
        by=admin,
    )
    keys = {
        "upload": uploaded(admin, home(discussed, "imports/"), b'{"document_id": "d", "text": "Fine."}\n'),
        "rater": rater.pk,
        "dispute": dispute.number,
        "item": discussed.items[0].pk,
        "export": export.pk,
        "webhook": failing_webhook(discussed),
        "submission": Submission.objects.create(
            project=discussed.project,
            system="New",
            contact="team@example.org",
            outputs={"product-1": "Fine."},
            digest="0" * 64,
        ).pk,
    }
    return Scene(
        admin,
        [
            *(f"/{each.format(person=admin.pk)}" for each in ANYWHERE),
            home(discussed),
            *(home(discussed, each.format(**keys)) for each in OF_PEOPLE.split()),
            *public_pages(discussed),
            *(home(rated, each) for each in WHILE_RATED),
            f"/projects/{paper_project(admin).slug}/{REPRODUCTION}",
            *(home(fresh, each.format(gold=gold.pk, session=session.pk)) for each in BEFORE_ROUND_ONE),
        ],
    )


def public_pages(cast: Cast) -> list[str]:
    """Publish a version of the leaderboard."""
    standings = leaderboard_of(cast.project).to_dict()
    Version.objects.create(project=cast.project, major=1, minor=0, content_hash="0", leaderboard=standings)
    key = PublicLeaderboard.objects.create(
        project=cast.project, is_public=True, takes_submissions=True, metadata_names=["genre"]
    ).key
    return [f"/benchmarks/{key}/{each}" for each in PUBLIC]


def judges_with_people() -> Scene:
    """Set a project after Round I with two judges, a certificate, a policy, a run and imported judgments."""
    cast = calibrated_project(documents=20, annotators=3, raters=3)
    brought = b'{"document": "product-1", "system": "system-1", "value": 3}\n'
    judgments = uploaded(cast.admin, home(cast, "judges/import/"), brought)
    numbers = b'{"document": "product-1", "system": "system-1", "ROUGE-1": 0.34}\n'
    metrics = uploaded(cast.admin, home(cast, "judges/metrics/"), numbers)
    compute_metrics(project=cast.project, measures=[MEASURES["words"]])
    opened(cast)
    draw_calibration(project=cast.project, spec=calibration_spec(cast, size=20), by=cast.admin)
    calibration = Calibration.objects.get()
    rate_sample(cast, calibration)
    policy = make_policy(project=cast.project, spec=spec_of(cast), by=cast.admin)
    judge, *others = judges_of(cast)
    run = make_run(cast.project, judge, *others)
    close_round_one(project=cast.project, by=cast.admin)
    panel = make_panel(project=cast.project, name="All", members=[judge, *others], rule="mean", by=cast.admin)
    keys = {
        "item": cast.items[0].pk,
        "judge": judge.pk,
        "panel": panel.judge_id,
        "judgments": judgments,
        "metrics": metrics,
        "rereading": start_rereading(project=cast.project, judge=None, by=cast.admin).pk,
        "calibration": calibration.pk,
        "policy": policy.pk,
        "endpoint": judge.endpoint_id,
        "prompt": judge.template_id,
        "run": run.pk,
        "addition": add_systems(
            project=cast.project, outputs={"new": {"product-1": "A text."}}, bridging=2, by=cast.admin
        ).number,
        "judgment": judge.judgments.order_by("pk")[0].pk,
        **learning_of(cast, judge),
    }
    inside = ["", "results/agreement/", "results/so-far/", *OF_JUDGES.split()]
    return Scene(cast.admin, [home(cast, each.format(**keys)) for each in inside])


def learning_of(cast: Cast, judge: Judge) -> dict[str, int]:
    """Set a document apart, and plan drafts and a search; return their keys."""
    DevelopmentDocument.objects.create(document=cast.items[-1].document)
    about = {"judge": judge, "dimension": cast.dimensions[0]}
    drafting = Drafting.objects.create(
        **about, drafter=judge, status="stopped", reason="The server gave no answer."
    )
    drafts = {**about, "kind": "clarification", "drafting": drafting, "request": "Write one clarification."}
    proposal = Proposal.objects.create(**drafts, text="Rumours count.", about="too high, disputed: source")
    proposal.items.set(cast.items[-1:])
    Proposal.objects.create(**drafts, status="failed", problem="The reply is empty.")
    Proposal.objects.create(**drafts, status="drafting")
    search = PromptSearch.objects.create(**about, stages=[[1, 2]], documents=[], planned_calls=40)
    tried = Proposal.objects.create(
        **about, kind="wording", status="tried", text="Rate it.", about="clarification 1", search=search
    )
    tried.parts.set([proposal])
    return {"drafting": drafting.pk, "search": search.pk}


def home(cast: Cast, rest: str = "") -> str:
    return f"/projects/{cast.project.slug}/{rest}"


def failing_webhook(cast: Cast) -> int:
    """Add a webhook that was disabled, with a delivery in its log."""
    made, _ = add_webhook(
        project=cast.project, url="https://example.org/", events=[EXPORT_READY], by=cast.admin
    )
    Delivery.objects.filter(pk=try_webhook(webhook=made).pk).update(
        attempts=3, answer_status=503, answer="No."
    )
    Webhook.objects.update(disabled_at=made.created_at, disabled_because="Nothing was taken for 5 days.")
    return made.pk


def paper_project(admin: User) -> Project:
    """Make the project of a paper whose release has not been imported yet."""
    project = create_project(user=admin, name=SUMMEVAL_OP.name)
    record(project, BEGUN, SUMMEVAL_OP.key)
    return project


def uploaded(admin: User, address: str, content: bytes) -> int:
    client = Client()
    client.force_login(admin)
    response = client.post(address, {"file": SimpleUploadedFile("file.jsonl", content)})
    read_uploads()
    return int(response["Location"].rstrip("/").rsplit("/", 1)[1])


@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("scene", [people_at_work, judges_with_people])
def test_no_page_has_a_violation_in_any_look(
    context: BrowserContext, transactional_db: None, scene: Callable[[], Scene], part: int
) -> None:
    made = scene()
    bring_axe(context)
    page = signed_in(context, made.admin)
    seen: set[int] = set()
    found = [each for address in made.addresses[part::2] for each in violations(page, address, seen)]
    assert not found, "\n\n".join(found)


def violations(page: Page, address: str, seen: set[int]) -> Iterator[str]:
    """Yield "page: size, theme: rule: element" for each violation, on a screen and on a phone."""
    page.set_viewport_size(SCREEN)
    response = page.goto(address)
    assert response
    assert response.ok, f"{address} answers {response.status}"
    assert not response.request.redirected_from, f"{address} leads to {page.url}"
    for size in (SCREEN, PHONE):
        resize(page, size)
        yield from (f"{address}: {each}" for each in violations_in_any_theme(page, seen))


@pytest.mark.django_db
def test_new_page_needs_a_visit(client: Client) -> None:
    """Fail for a route that answers GET and is neither visited nor known to be no page."""
    client.force_login(make_user())
    inside = [*OF_PEOPLE.split(), *OF_JUDGES.split(), *BEFORE_ROUND_ONE, *WHILE_RATED, REPRODUCTION]
    named = [
        *ANYWHERE,
        *(f"projects/x/{each}" for each in inside),
        *(f"benchmarks/x/{each}" for each in PUBLIC),
    ]
    paths = [re.sub(r"\{\w+\}", "1", f"/{each}").partition("?")[0] for each in named]
    visited = {resolve(path).route for path in paths}
    routes = [(str(each.pattern), each.name) for each in annotate.urls.urlpatterns + judges.urls.urlpatterns]
    missing = [
        route
        for route, name in routes
        if not route.endswith(
            "<path:rest>"
        )  # leads from an address of before to the page that took its place
        and route not in visited
        and name not in NO_PAGES
        and client.get(filled(route)).status_code != 405
    ]
    assert not missing, f"add these to the table of pages: {missing}"


def filled(route: str) -> str:
    """Return an address of a route; what it is about need not exist, for a wrong method is refused first."""
    parts = route.replace("<step:step>", "open-1").replace("<image:key>", "1.png").split("/")
    return "/" + "/".join("1" if part.startswith("<") else part for part in parts)
