"""The documentation builds as a site, with every link checked."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.catalog import ROOT
from tests.made_once import make_once

pytestmark = pytest.mark.once
pytest.importorskip("sphinx", reason="Sphinx is not installed: make .venv/installed-dev")
IN_ROOT = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "client/README.md")]
LINK = re.compile(r"\]\(([^)#\s]+)")


@pytest.fixture(scope="module")
def site(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build as `make docs` does; a warning, such as of a link that leads nowhere, fails the build."""

    def build(folder: Path) -> None:
        command = [sys.executable, "-m", "sphinx", "-q", "-n", "-W", "--keep-going", "-b", "html"]
        built = subprocess.run([*command, "docs", str(folder)], cwd=ROOT, capture_output=True, text=True)
        assert built.returncode == 0, built.stderr

    return make_once(pytestconfig, tmp_path_factory, "site", build)


def test_site_can_be_searched_offline(site: Path) -> None:
    assert (site / "searchindex.js").stat().st_size > 10_000
    page = (site / "search.html").read_text()
    assert not re.search(r'<(script|link)[^>]+(src|href)="https?://', page)


def test_llms_txt_lists_every_page_with_its_subject(site: Path) -> None:
    listed = re.findall(r"^- \[.+?\]\((.+?)\.html\): .+", (site / "llms.txt").read_text(), re.MULTILINE)
    pages = {str(path.relative_to(site).with_suffix("")) for path in site.rglob("*.html")}
    assert set(listed) == pages - {"genindex", "search"}


def test_llms_full_txt_contains_every_page(site: Path) -> None:
    text = (site / "llms-full.txt").read_text()
    for page in (ROOT / "docs").rglob("*.md"):
        assert page.read_text().strip() in text


@pytest.mark.parametrize("page", IN_ROOT, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_outside_the_site_lead_somewhere(page: Path) -> None:
    targets = [each for each in LINK.findall(page.read_text()) if not re.match(r"[a-z]+:", each)]
    assert not [each for each in targets if not (page.parent / each).exists()]
