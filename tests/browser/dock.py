"""The dock of the rating page, as a person uses it: one question at a time, and the trail to the others."""

from playwright.sync_api import FrameLocator, Locator, Page


def turn_to(page: Page | FrameLocator, key: str) -> None:
    """Bring the question of a dimension into the dock."""
    page.locator(f'[data-go="{key}"]').click()


def point(page: Page | FrameLocator, key: str, value: float) -> Locator:
    """Return the point of a question; it can be hit if the question is in the dock."""
    return page.locator(f'.row[data-key="{key}"] input[type=radio][value="{value}"]')


def start_rating(page: Page, slug: str) -> None:
    """Go to the first item, past the guidelines on a first visit."""
    page.goto(f"/projects/{slug}/rate/")
    if "/guideline/" in page.url:
        page.get_by_role("button", name="I have read them").click()
    page.wait_for_url("**/rate/*/")
