"""The navigation of a project: each page stands in one place of it, and says where one is."""

import pytest
from django.urls import reverse

from annotate.core.models import Role
from annotate.core.page import GROUPS, Navigation, Page, navigation

SLUG = "benchmark"
HOME = f"/projects/{SLUG}/"


def at(path: str, *roles: Role, hides: bool = False) -> Navigation:
    return navigation(HOME + path, SLUG, frozenset(roles), hides=hides)


def current(found: Navigation) -> list[str]:
    rows = (found.groups, found.pages, found.beside)
    return [tab.name for row in rows for tab in row if tab.is_current]


def names(tabs) -> list[str]:
    return [tab.name for tab in tabs]


def test_the_groups_follow_the_work():
    assert names(at("", Role.ADMIN).groups) == [
        *("Overview", "Items", "People", "Rounds", "Judges", "Results", "Settings")
    ]


def test_each_page_has_one_navigation_entry():
    pages: list[Page] = [page for group in GROUPS for page in group.pages]
    pages += [other for page in pages for other in page.beside[1:]]  # the first is the page's own
    addresses = [reverse(page.route, args=[SLUG, *page.args]) for page in pages]
    assert len(set(addresses)) == len(addresses)


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("", ["Overview"]),
        ("delete/", ["Settings", "Settings"]),
        ("review/", ["Settings"]),
        ("dimensions/fluency/", ["Settings", "Dimensions"]),
        ("disputes/12/", ["Rounds", "Disputes"]),
        ("dispute-rules/", ["Settings", "Dispute rules"]),
        ("results/metadata/", ["Results", "Results"]),
        ("results/judges/", ["Results", "Judges and people"]),
        ("judges/endpoints/3/", ["Judges", "Endpoints"]),
        ("judges/3/", ["Judges", "Judges"]),
        ("results/verdicts/", ["Judges", "Trust", "Judges by dimension"]),
        ("results/trust/", ["Judges", "Trust", "Verdicts"]),
        ("results/reliability/", ["Judges", "Trust", "Reliability"]),
        ("results/replacement/", ["Judges", "Trust", "Replacement"]),
        ("judges/certificates/3/", ["Judges", "Trust", "Certificates"]),
        ("results/biases/", ["Judges", "Laboratory", "Biases"]),
        ("results/experiments/", ["Judges", "Laboratory", "Experiments"]),
        ("judges/align/", ["Judges", "Align"]),
    ],
)
def test_page_marks_its_navigation_entry(path, where):
    assert current(at(path, Role.ADMIN)) == where


def test_who_only_rates_has_one_row():
    found = at("rate/mine/", Role.ANNOTATOR)
    assert names(found.groups) == ["Overview", "Rate", "My work", "Guidelines", "Disputes"]
    assert (found.pages, current(found)) == ([], ["My work"])


def test_open_round_hides_other_ratings_in_the_navigation_of_raters():
    found = at("judges/", Role.RESEARCHER, Role.ANNOTATOR, hides=True)
    assert names(found.groups) == ["Overview", "Rate", "Rounds", "Judges"]
    assert names(found.pages) == ["Endpoints", "Prompts", "Judges", "Runs"]
