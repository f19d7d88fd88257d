"""What assistive technology is told on the rating page, read from Chromium's accessibility tree."""

from collections.abc import Iterator
from dataclasses import dataclass

from playwright.sync_api import BrowserContext, Page

from tests.browser.annotators_pages import while_rating
from tests.browser.dock import turn_to
from tests.browser.people import signed_in


@dataclass(frozen=True)
class Node:
    """One element as it is announced."""

    role: str
    name: str
    description: str
    is_checked: bool


def announced(page: Page) -> Iterator[Node]:
    """Yield what is announced, in the order of the page."""
    session = page.context.new_cdp_session(page)
    for node in session.send("Accessibility.getFullAXTree")["nodes"]:
        if node["ignored"]:
            continue
        role, name, description = (
            node.get(key, {}).get("value", "") for key in ("role", "name", "description")
        )
        properties = {each["name"]: each["value"].get("value") for each in node.get("properties", [])}
        yield Node(role, name, description, properties.get("checked") == "true")


def test_scale_announces_its_dimension_its_points_and_their_meaning(
    context: BrowserContext, transactional_db: None
) -> None:
    visit = while_rating()
    page = signed_in(context, visit.user)
    page.goto(visit.addresses[1])
    seen = []
    for key in ("fluency", "coherence", "relevance"):
        turn_to(page, key)
        seen.append(list(announced(page)))
    groups = [(each.name, each.description) for part in seen for each in part if each.role == "radiogroup"]
    assert groups == [
        ("Fluency", "How good the fluency is."),
        ("Relevance", "How good the relevance is."),
    ]
    nodes = [node for part in seen for node in part]
    points = [each for each in nodes if each.role == "radio"][:5]
    assert [(each.name, each.description) for each in points] == [
        ("1 fluency 1", "What 1 means."),
        ("2", ""),
        ("3", ""),
        ("4", ""),
        ("5 fluency 5", "What 5 means."),
    ]
    assert [each.is_checked for each in points] == [False, False, False, True, False]
    assert [each.name for each in nodes if each.role == "spinbutton"] == ["Coherence, 1 to 100"]
    assert [each.name for each in nodes if each.role == "radio"][-1] == "Not applicable"
    assert "Remarks on Coherence" in [each.name for each in nodes if each.role == "group"]
    assert "Saved" in [each.name for each in nodes if each.role == "StaticText"]
    assert {each.role for each in nodes} >= {"alert", "status", "main", "navigation", "heading"}
