"""A finished benchmark lives on: a stranger submits a system, people rate it, the leaderboard lists it."""

import json
from collections.abc import Callable

from playwright.sync_api import BrowserContext, FilePayload, Page, expect

from annotate.core.models import Addition, PublicLeaderboard
from annotate.rating.commands.rounds import close_round_one, open_round_one
from tests.additions.scenes import make_benchmark, make_new_raters, rate_all
from tests.browser.people import signed_in


def make_version(admin: Page, slug: str, number: str, changelog: str) -> None:
    admin.goto(f"/projects/{slug}/versions/")
    expect(admin.get_by_role("heading", name=f"Make version {number}")).to_be_visible()
    admin.get_by_label("Changes since the last version").fill(changelog)
    admin.get_by_role("button", name="Make the version").click()
    admin.goto(f"/projects/{slug}/versions/")
    expect(admin.get_by_role("heading", name=number, exact=False).first).to_be_visible()


def test_a_submitted_system_reaches_the_leaderboard(
    page: Page, context: BrowserContext, new_context: Callable[..., BrowserContext]
) -> None:
    cast = make_benchmark()
    slug = cast.project.slug
    admin = signed_in(context, cast.admin)
    make_version(admin, slug, "1.0", "The first six documents.")
    admin.goto(f"/projects/{slug}/public-page/")
    admin.get_by_label("Publish the leaderboard").check()
    admin.get_by_label("Take submissions").check()
    admin.get_by_role("button", name="Save").click()
    address = f"/benchmarks/{PublicLeaderboard.objects.get().key}/"

    stranger = new_context().new_page()
    stranger.goto(address)
    expect(stranger.get_by_role("table")).not_to_contain_text("newcomer")
    stranger.get_by_role("link", name="Submit outputs").click()
    stranger.get_by_label("Name of the system").fill("newcomer")
    stranger.get_by_label("E-mail").fill("stranger@example.org")
    keys = cast.project.documents.order_by("pk").values_list("key", flat=True)
    lines = "\n".join(json.dumps({"document": key, "output": f"A new text about {key}."}) for key in keys)
    file = FilePayload(name="outputs.jsonl", mimeType="application/jsonl", buffer=lines.encode())
    stranger.locator("input[type=file]").set_input_files(files=[file])
    stranger.get_by_role("button", name="Submit").click()
    expect(stranger.get_by_role("status")).to_contain_text("Received 6 outputs of newcomer")
    assert stranger.context.cookies() == []

    admin.goto(f"/projects/{slug}/submissions/")
    admin.get_by_role("link", name="newcomer").click()
    admin.get_by_role("button", name="Accept").click()
    addition = Addition.objects.get()
    expect(admin.get_by_role("link", name=cast.project.name).first).to_be_visible()

    raters = make_new_raters(addition)
    round = open_round_one(project=addition.project, by=cast.admin)
    for rater in raters:  # in the browser of test_rating.py, and by the same commands here
        rate_all(round, rater, lambda assignment, _: 5 if assignment.round.number == 1 else 3)
    close_round_one(project=addition.project, by=cast.admin)

    admin.goto(f"/projects/{slug}/")
    expect(admin.get_by_text("1 finished addition is in no version.")).to_be_visible()
    make_version(admin, slug, "1.1", "With the newcomer.")
    reader = new_context().new_page()  # the stranger's browser keeps the page for some minutes
    reader.goto(address)
    expect(reader.get_by_text("Version 1.1 of")).to_be_visible()
    expect(reader.get_by_role("table").first).to_contain_text("newcomer")
