"""From judging to routing to an audit that contradicts, in a real browser.

A model judges over HTTP; an admin looks at R, moves r and routes; an annotator rates just that; intervals
tighten, and the page warns that what stays with the judge is wrong.
"""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from agreement import Stream
from agreement.reliability import uniform_numbers
from annotate.core.models import Assignment, Membership, Project, Rating, Role, User
from annotate.setup.commands import create_project
from annotate.setup.presets import TEMPLATES
from judges.core.models import Judgment, RoutedUnit, RoutingPolicy
from tests.browser.dock import start_rating
from tests.browser.people import signed_in
from tests.browser.waiting import expect_stored
from tests.factories import make_member, make_user
from tests.judges.factories import make_endpoint, make_judge
from tests.judges.news import make_items
from tests.judges.replay import Replay, replay
from tests.results.reading import cells_of

__all__ = ["replay"]
KEPT, SENT, DOCUMENTS, SHARE = "M20", "M22", 4, 0.5
GIVEN = [2, 3, 4, 2]  # by document; no three of them lie on a line with the judge's values


@pytest.fixture
def admin(live_server: LiveServer) -> User:
    return make_user()


@pytest.fixture
def project(admin: User, replay: Callable[..., Replay]) -> Project:
    """Four articles, two systems, two dimensions, two judges that have not judged; R will be 1 in one cell.

    The seed is one with which three of that system's four units are audited.
    """
    project = create_project(user=admin, name="News", template=TEMPLATES["news-summaries"])
    project.dimensions.exclude(key__in=["consistency", "fluency"]).delete()
    items = make_items(project, documents=DOCUMENTS, systems=(KEPT, SENT))
    names = [(item.document.key, KEPT) for item in items if item.system.name == KEPT]
    kept = [f"{len(key)}:{key}/{len(system)}:{system}/consistency" for key, system in names]
    project.seed = next(seed for seed in range(10_000) if audited(kept, seed) == DOCUMENTS - 1)
    project.raters_per_item = 1
    project.save()
    endpoint = make_endpoint(project, replay().base_url)
    for method in ("rts", "mcq"):
        make_judge(project, method, endpoint=endpoint, name=method.upper())
    return project


def audited(units: list[str], seed: int) -> int:
    policy = Stream(seed).of("routing", 1).shuffler().randrange(2**31)
    return int((uniform_numbers(units, seed=policy) < SHARE).sum())


@pytest.fixture
def annotator(project: Project) -> Membership:
    return make_member(project, Role.ANNOTATOR)


@pytest.fixture
def theirs(context: BrowserContext, live_server: LiveServer) -> Iterator[BrowserContext]:
    """Give the annotator's own browser."""
    assert context.browser is not None
    other = context.browser.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 800})
    yield other
    other.close()


def test_from_judging_to_an_audit_that_contradicts(
    context: BrowserContext, theirs: BrowserContext, project: Project, admin: User, annotator: Membership
) -> None:
    page = signed_in(context, admin)
    page.on("dialog", lambda dialog: dialog.accept())
    collect(page, project)
    page.get_by_role("link", name="Trust", exact=True).click()
    page.get_by_role("link", name="Reliability", exact=True).click()
    expect(page.locator("main")).to_contain_text("No person has rated these items yet")
    page.get_by_role("link", name="R by system").click()
    expect(page.get_by_role("row", name=KEPT).locator("td").first).to_contain_text("1.00")
    route(page)
    sent = RoutedUnit.objects.exclude(why=RoutedUnit.Why.AUDIT)
    assert (sent.count(), RoutedUnit.objects.count()) == (3 * DOCUMENTS, 4 * DOCUMENTS - 1)
    rating = signed_in(theirs, annotator.user)
    start_rating(rating, project.slug)
    before = None
    for position in range(1, 2 * DOCUMENTS + 1):
        rate(rating, annotator, position)
        if before is None and rated_of(SENT) == DOCUMENTS - 1:
            before = interval_of(page, project)
    assert before is not None
    low, high = interval_of(page, project)
    assert before[1] - before[0] > 0.5
    assert low == high
    page.goto(f"/projects/{project.slug}/judges/routing/{RoutingPolicy.objects.get().pk}/")
    expect(page.get_by_role("alert").filter(has_not_text="must not decide")).to_contain_text(
        "The audit contradicts this policy: on 3 of 3 audited units the judge is more than a point away"
    )
    expect(page.get_by_role("button", name="Withdraw")).to_have_count(0)


def collect(page: Page, project: Project) -> None:
    """Let both judges judge everything."""
    page.goto(f"/projects/{project.slug}/judges/")
    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_role("link", name="Plan a run").click()
    page.get_by_label("RTS").check()
    expect(page.locator("#plan dd").first).to_have_text("32")
    page.get_by_role("button", name="Start the run").click()
    expect(page.locator("#run")).to_contain_text("finished")
    assert Judgment.objects.filter(status=Judgment.Status.DONE).count() == 32


def route(page: Page) -> None:
    """Move r until only what R is sure of stays, and route the rest."""
    page.get_by_role("link", name="Judges", exact=True).first.click()
    page.get_by_role("link", name="Routing", exact=True).click()
    page.get_by_role("link", name="New policy").click()
    preview, slider = page.locator("#preview"), page.get_by_label("Threshold r, as a slider")
    expect(preview).to_contain_text("people 1.000 no interval")
    page.get_by_label("Statistic that must exceed r").select_option("R itself")
    expect(preview).to_contain_text("judge 1.000 no interval")
    slider.fill("1")
    expect(page.get_by_label("Threshold r", exact=True)).to_have_value("1")
    expect(preview).to_contain_text("Nothing stays with the judge.")
    page.get_by_label("Threshold r", exact=True).fill("0.8")
    expect(slider).to_have_value("0.8")
    expect(preview.locator("td.routing-judge")).to_have_count(1)
    on_a_phone_r_stays_beside_its_preview(page)
    page.get_by_label("Audit share").fill(str(SHARE))
    page.get_by_label("Audited units of each system at least").fill("0")
    page.get_by_role("button", name="Save the policy").click()
    expect(page.get_by_text("Policy 1 is saved.")).to_be_visible()
    RoutingPolicy.objects.update(risk=0.1)  # three errors of three audited units contradict it at any look
    page.reload()
    expect(preview).to_contain_text("time of people")
    page.get_by_role("button", name="Route these units").click()
    expect(page.get_by_text("into Round I, which is open")).to_be_visible()


def on_a_phone_r_stays_beside_its_preview(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator("#preview .routing-table").scroll_into_view_if_needed()
    expect(page.locator("#preview .routing-table")).to_be_in_viewport()
    expect(page.get_by_label("Threshold r, as a slider")).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 1280, "height": 800})


def rate(page: Page, annotator: Membership, position: int) -> None:
    """Rate the dimensions that stand there, only the routed ones, by keys; far from the judge in an audit."""
    page.wait_for_url(f"**/rate/{position}/")
    assignment = Assignment.objects.get(annotator=annotator, position=position)
    units = assignment.units.select_related("dimension").order_by("dimension__position")
    expect(page.locator(".row")).to_have_count(len(units))
    for unit in units:
        expect(page.locator(f".row.focused[data-key={unit.dimension.key}]")).to_have_count(1)
        page.keyboard.press(str(answer(assignment, unit.dimension_id)))
    expect_stored(page, Rating.objects.filter(assignment=assignment).count, len(units))
    for word in (KEPT, SENT, "policy", "RTS", "audit"):
        assert word not in page.content().replace(assignment.item.text, "")
    page.keyboard.press("Enter")


def answer(assignment: Assignment, dimension: int) -> int:
    judged = Judgment.objects.get(judge__method="rts", item=assignment.item, dimension=dimension).value
    if RoutedUnit.objects.get(item=assignment.item, dimension=dimension).why == RoutedUnit.Why.AUDIT:
        return 1 if judged is not None and judged >= 3 else 5
    documents = assignment.item.document.project.documents.order_by("pk").values_list("pk", flat=True)
    return GIVEN[list(documents).index(assignment.item.document_id)]


def rated_of(system: str) -> int:
    ratings = Rating.objects.filter(assignment__item__system__name=system, dimension__key="fluency")
    return ratings.count()


def interval_of(page: Page, project: Project) -> tuple[float, float]:
    """Return the combined interval of the system that was sent, for fluency."""
    judge = str(project.judges.get(method="rts").pk)
    address = f"/projects/{project.slug}/judges/estimates/?judge={judge}&about=texts&table=means"
    page.goto(address)
    expect(page.get_by_role("heading", name="Mean scores from people and a judge")).to_be_visible()
    rows = cells_of(project, "estimates", "means", judge=judge, about="texts")
    sent = [row for row in rows if (row["system"].value, row["dimension"].key) == (SENT, "fluency")]
    cell = sent[0]["combined"]
    assert cell.low is not None
    assert cell.high is not None
    return cell.low, cell.high
