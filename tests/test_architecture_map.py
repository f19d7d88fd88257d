"""Paths, names, links and commands in docs/explanation/architecture.md and CONTRIBUTING.md exist."""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAP = "docs/explanation/architecture.md"
PAGES = (MAP, "CONTRIBUTING.md")
TOPS = ("agreement", "annotate", "judges", "concord")
# A made file, and folders outside the repository.
ELSEWHERE = {"var/site", "../shared/data", "sdist/"}


@cache
def text_of(page: str) -> str:
    """Return a page without its blocks of shell commands, which `blocks_of` has."""
    return re.sub(r"(?ms)^```.*?^```", "", (ROOT / page).read_text())


def lines_with_code() -> Iterator[tuple[str, str, str]]:
    for page in PAGES:
        for line in text_of(page).splitlines():
            yield from ((page, line, each) for each in re.findall(r"`([^`]+)`", line))


def is_path(code: str) -> bool:
    return bool(re.fullmatch(r"[\w.*/-]+", code)) and (
        "/" in code or bool(re.fullmatch(r"[\w-]+\.(py|js|css|csv|toml|md|html|yml)", code))
    )


def memberships_of(page: str, line: str, path: str) -> Iterator[Path]:
    """Yield where a path can be: at the root, in the room of its row in a table, at the top of an app."""
    yield ROOT / path
    room = re.match(r"\| (`[^|]+`) \|", line)
    for name in re.findall(r"`([\w/]+?)/`", room[1]) if room else ():
        yield from (ROOT / app / name / path for app in ("", *TOPS[1:3]))
    if page == MAP:
        yield from (ROOT / app / path for app in TOPS[1:3])
    if line.startswith(f"| `{path}` |"):  # a file of every room
        yield from ROOT.glob(f"annotate/*/{path}")


PATHS = sorted({each for each in lines_with_code() if is_path(each[2]) and each[2] not in ELSEWHERE})
NAMES = sorted({c for *_, c in lines_with_code() if re.fullmatch(rf"({'|'.join(TOPS)})(\.\w+)+", c)})
CLASSES = sorted({c for *_, c in lines_with_code() if re.fullmatch(r"[A-Z]\w*[a-z]\w*(\.\w+)?", c)})
LINKS = sorted({(page, link) for page in PAGES for link in re.findall(r"\]\(([^)\s]+)\)", text_of(page))})
TARGETS = {c for page in PAGES for c in re.findall(r"\bmake ([a-z][a-z-]*)", (ROOT / page).read_text())}


def test_there_are_four_flows() -> None:
    flows = text_of(MAP).partition("\n## Four flows\n")[2].partition("\n## ")[0]
    assert flows.count("\n### ") == 4
    assert len(NAMES) > 30


def test_readme_leads_to_the_file_of_each_behaviour() -> None:
    assert f"({MAP}#where-is)" in (ROOT / "README.md").read_text()
    table = text_of(MAP).partition("\n## Where is\n")[2].partition("\n## ")[0]
    rows = re.findall(r"(?m)^\| .* \| \[.*\]\((.*)\) \| `(.*)` \|$", table)
    assert len(rows) >= 7
    for link, name in rows:
        module, _, attribute = name.rpartition(".")
        file = (ROOT / MAP).parent / link
        assert file.resolve() == ROOT.joinpath(*module.split(".")).with_suffix(".py")
        assert re.search(rf"(?m)^(def|class) {attribute}\b", file.read_text())


def test_something_of_each_kind_is_checked() -> None:
    assert min(len(PATHS), len(CLASSES), len(LINKS), len(TARGETS)) > 8


@pytest.mark.parametrize(("page", "line", "path"), PATHS, ids=[path for *_, path in PATHS])
def test_path_exists(page: str, line: str, path: str) -> None:
    found = memberships_of(page, line, path)
    assert any(list(each.parent.glob(each.name)) for each in found if each.parent.exists()), f"{page}: {path}"


@pytest.mark.parametrize("name", NAMES)
def test_name_can_be_imported(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    try:
        found = import_module(module)
    except ModuleNotFoundError:  # a method of a class
        module, _, owner = module.rpartition(".")
        found = getattr(import_module(module), owner)
    if not hasattr(found, attribute):
        import_module(name)


@pytest.mark.parametrize("name", CLASSES)
def test_class_exists(name: str) -> None:
    owner, _, attribute = name.partition(".")
    modules = ("annotate.core.models", "judges.core.models", "annotate.core.configuration")
    candidates = [import_module(each) for each in (*modules, "annotate.core.migrating")]
    (found,) = {getattr(candidate, owner) for candidate in candidates if hasattr(candidate, owner)}
    fields = {each.name for each in found._meta.get_fields()} if hasattr(found, "_meta") else set()
    assert not attribute or attribute in fields or hasattr(found, attribute)


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_link_leads_to_a_file_and_heading(page: str, link: str) -> None:
    target, _, anchor = link.partition("#")
    if "://" in target:
        return
    file = (ROOT / page).parent / target if target else ROOT / page
    assert file.exists()
    if anchor:
        heads = re.findall(r"(?m)^#+ (.+)$", file.read_text())
        slugs = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
        assert anchor in slugs


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_make_target_exists(target: str) -> None:
    assert re.search(rf"(?m)^{target}:", (ROOT / "Makefile").read_text())


@pytest.mark.parametrize(
    ("app", "heading"), [("annotate", "room of `annotate`"), ("judges", "room of `judges`")]
)
def test_every_room_is_on_the_map(app: str, heading: str) -> None:
    table = text_of(MAP).partition(f"| {heading} |")[2].partition("\n\n")[0]
    first = "".join(re.findall(r"(?m)^\| (.*?) \|", table))
    listed = set(re.findall(r"`(\w+)/`", first))
    top = {"management", "migrations", "templatetags", "__pycache__"}
    assert listed == {path.name for path in (ROOT / app).iterdir() if path.is_dir()} - top
