"""The documentation as a site, built by `make docs`: Markdown by MyST, theme Furo, offline search."""

import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))

project = "Concord"
author = "The Concord contributors"
version = release = re.findall(r'"(.+?)"', (ROOT / "annotate/core/version.py").read_text())[-1]

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "api", "notebooks"]
myst_heading_anchors = 4
myst_enable_extensions = ["deflist", "colon_fence"]
suppress_warnings = ["myst.header"]  # generated tables start at the third level
nitpicky = True

html_theme = "furo"
html_title = f"Concord {version}"
html_copy_source = False
html_show_sphinx = False

LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def point_to_pages(app: Any, name: str, content: list[str]) -> None:
    """Name what a site does not have: folders, and pages outside of docs."""
    page = Path(app.env.doc2path(name))

    def rewrite(match: re.Match[str]) -> str:
        target = (page.parent / match[2]).resolve()
        outside = target.suffix == ".md" and not target.is_relative_to(DOCS)
        if re.match(r"[a-z]+:", match[2]) or not target.exists() or not (outside or target.is_dir()):
            return match[0]
        return f"{match[1]} (`{target.relative_to(ROOT)}`)"

    content[0] = LINK.sub(rewrite, content[0])


def write_for_models(app: Any, error: Exception | None) -> None:
    """Write llms.txt, a list of all pages, and llms-full.txt, their text (https://llmstxt.org)."""
    if error or app.builder.name != "html":
        return
    entries, texts = [], []
    for name in sorted(app.env.found_docs):
        text = Path(app.env.doc2path(name)).read_text(encoding="utf-8")
        title = app.env.titles[name].astext()
        entries.append(f"- [{title}]({name}.html): {summarise(text)}")
        texts.append(f"<!-- {name}.md -->\n\n{text.strip()}\n")
    head = "# Concord\n\n> Find out where an LLM judge can replace your experts.\n\n## Pages\n\n"
    folder = Path(app.outdir)
    (folder / "llms.txt").write_text(head + "\n".join(entries) + "\n", encoding="utf-8")
    (folder / "llms-full.txt").write_text("\n".join(texts), encoding="utf-8")


def summarise(text: str) -> str:
    """Return the first sentence of a page that is neither a heading, a table nor a directive."""
    without_fences = re.sub(r"^(```|:::).*?^\1", "", text, flags=re.DOTALL | re.MULTILINE)
    for block in re.split(r"\n\s*\n|(?<=\n)(?=#)|(?<=^# .)\n", without_fences):
        lines = [line for line in block.strip().splitlines() if not line.startswith("#")]
        if lines and not lines[0].startswith(("|", "!", "<", "-")):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(lines))
            return re.split(r"(?<=[.!?])\s", plain, maxsplit=1)[0]
    return ""


def setup(app: Any) -> None:
    """Register the steps above."""
    app.connect("source-read", point_to_pages)
    app.connect("build-finished", write_for_models)
