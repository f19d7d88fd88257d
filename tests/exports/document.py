"""Writes the part of docs/reference/export.md that lists tables and columns (make docs)."""

import os
from collections.abc import Iterator
from pathlib import Path

import django

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reference" / "export.md"
FIELDS_WORDS = {"text": "string"}  # for kinds of columns
BELOW = "<!-- Below this line the text is generated: make docs -->\n"


def describe_tables() -> Iterator[str]:
    """Yield a section of Markdown for each table."""
    from annotate.exports.registry import TABLES

    for table in TABLES.values():
        yield f"\n### {table.name}\n{table.says[0].upper()}{table.says[1:]}.\n"
        if table.is_computed:
            yield "Computed from the other tables.\n"
        if table.lost:
            yield f"Not imported: {table.lost}\n"
        yield "\n| column | type | meaning |\n|---|---|---|\n"
        for column in table.columns:
            lost = f" Not imported: {column.lost}" if column.lost else ""
            kind = FIELDS_WORDS.get(column.kind, column.kind)
            yield f"| `{column.name}` | {kind} | {column.meaning}{lost} |\n"


def described_document() -> str:
    """Return the document: its hand-written part, then the generated one."""
    written, below, _ = DOCUMENT.read_text(encoding="utf-8").partition(BELOW)
    return written + below + "".join(describe_tables())


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "concord.settings")
    django.setup()
    DOCUMENT.write_text(described_document(), encoding="utf-8")
