"""Tutorials as their readers follow them: what a page names is what a test clicks, types or runs."""

import re
from pathlib import Path

from playwright.sync_api import Page

DOCS = Path(__file__).resolve().parents[2] / "docs"
TUTORIALS, HOW_TO = DOCS / "tutorials", DOCS / "how-to"


def read_tutorial(name: str) -> str:
    return (TUTORIALS / f"{name}.md").read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    """Return a tutorial's blocks of code in a language."""
    return blocks_of(TUTORIALS / f"{name}.md", language)


def blocks_of(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


class Reader:
    """Someone who follows a tutorial in a browser, and finds no control there that they have not used."""

    def __init__(self, name: str, page: Page) -> None:
        self.page = page
        self.controls = re.findall(r"\*\*(.+?)\*\*", read_tutorial(name))
        self.keys = set(re.findall(r"(?<=[Pp]ress )`(.+?)`", read_tutorial(name)))
        self.used: list[str] = []
        self.pressed: set[str] = set()

    def click(self, name: str, page: Page | None = None) -> None:
        """Click the button or link of this name, once for each time."""
        page = page or self.page
        shown = re.compile(rf"^{re.escape(name)}( ›)?$")
        page.get_by_role("button", name=shown).or_(page.get_by_role("link", name=shown)).first.click()
        self.note(name)

    def note(self, name: str) -> None:
        if name not in self.used:
            self.used.append(name)

    def press(self, key: str, page: Page | None = None) -> None:
        (page or self.page).keyboard.press(key.lower() if len(key) == 1 else key)
        self.pressed.add(key)

    def has_followed_every_step(self) -> bool:
        """Return whether each control was used, in the page's order, and each key pressed."""
        return self.used == list(dict.fromkeys(self.controls)) and self.keys <= self.pressed
