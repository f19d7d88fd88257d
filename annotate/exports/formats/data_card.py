"""The data card: the content of a data set, code to load it, the meaning of each column, and the citation."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from annotate.core.models import Project
from annotate.core.version import VERSION
from annotate.exports.choice import ExportChoice
from annotate.exports.citation import Datasheet, bibtex
from annotate.exports.formats.datasheet import agreement, plain, plain_line
from annotate.exports.manifest import Passed
from annotate.exports.registry import ExportTable

DEFAULT = "benchmark"
_KEYS = (
    "`document`, `system` and `dimension` together are a unit and join the tables. Only ratings of round 1 "
    "are independent of each other. People appear under pseudonyms. Lists are lists in `benchmark`; "
    "elsewhere lists and objects are JSON in a text."
)
_MOST_SIGNS = 300  # Maximum length of a string in the example row.


def data_card(project: Project, choice: ExportChoice, tables: Sequence[ExportTable], passed: Passed) -> str:
    """Return the card as Markdown below its YAML, which assigns files to configurations."""
    head = yaml.safe_dump(_head(project, choice, tables, passed), sort_keys=False, allow_unicode=True)
    rows = "\n".join(f"| `{table.name}` | {passed.rows[table.name]:,} | {table.says} |" for table in tables)
    configurations = f"| configuration | rows | what it holds |\n|---|---|---|\n{rows}"
    sections = [
        f"# {plain_line(project.name)}",
        plain(project.description),
        configurations,
        _KEYS,
        *(["## Agreement", *measured] if (measured := agreement(project)) else []),
        *_loading(project, choice, tables),
        *_licences(choice),
        *_citation(project, choice, passed),
        "How it was made: [DATASHEET.md](DATASHEET.md) and [CHECKLIST.md](CHECKLIST.md). Exported by Concord "
        f"{VERSION}; `manifest.json` has the content hash.",
        *_columns(tables),
    ]
    return f"---\n{head}---\n\n" + "\n\n".join(filter(None, sections)) + "\n"


def cite(project: Project, choice: ExportChoice, passed: Passed) -> str:
    """Return the BibTeX entry of the data set, empty without authors."""
    return bibtex(project.slug, project.name, choice.card, passed.latest)


def _head(
    project: Project, choice: ExportChoice, tables: Sequence[ExportTable], passed: Passed
) -> dict[str, Any]:
    written = Datasheet.from_dict(project.datasheet)
    return {
        **({"language": list(written.languages)} if written.languages else {}),
        **({"task_categories": list(written.task_categories)} if written.task_categories else {}),
        "size_categories": [size_category(passed.rows.get(DEFAULT, 0))],
        **({"license": choice.licence} if choice.licence else {}),
        "pretty_name": project.name,
        "annotations_creators": ["expert-generated"],
        "tags": ["human-evaluation", "inter-annotator-agreement", "croissant"],
        "configs": [
            {
                "config_name": table.name,
                "data_files": [
                    {"split": choice.card.split.value, "path": f"data/{table.name}/*.parquet"},
                ],
                **({"default": True} if table.name == DEFAULT else {}),
            }
            for table in tables
        ],
    }


def size_category(rows: int) -> str:
    """Return the Hub's name for data sets of this size."""
    ends = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")
    index = next((index for index in range(len(ends)) if rows < 10 ** (index + 3)), len(ends))
    if index == 0:
        return f"n<{ends[0]}"
    return f"{ends[index - 1]}<n<{ends[index]}" if index < len(ends) else f"n>{ends[-1]}"


def _loading(project: Project, choice: ExportChoice, tables: Sequence[ExportTable]) -> Iterator[str]:
    default = next((table for table in tables if table.name == DEFAULT), None)
    if default is None:  # there are no items
        return
    name, split = DEFAULT, choice.card.split
    yield "## Loading it"
    loaded = f'load_dataset("{project.slug}", split="{split}")'
    yield "Its name is that of this folder, or `name/data-set` on the Hub:"
    yield f"```python\nfrom datasets import load_dataset\n\n{name} = {loaded}\n```"
    first = {column: _shorten(value) for column, value in _first_row(project, default).items()}
    yield f"A row of `{name}`:"
    yield f"```json\n{json.dumps(first, ensure_ascii=False, indent=1, default=str)}\n```"


def _first_row(project: Project, table: ExportTable) -> dict[str, Any]:
    row = next(iter(table.rows(project)))
    return {name: row[name] for name in table.names}


def _shorten(value: Any) -> Any:
    if isinstance(value, list):
        return [_shorten(each) for each in value]
    if isinstance(value, dict):
        return {name: _shorten(each) for name, each in value.items()}
    return f"{value[:_MOST_SIGNS]}…" if isinstance(value, str) and len(value) > _MOST_SIGNS else value


def _licences(choice: ExportChoice) -> Iterator[str]:
    sources = choice.card.text_licences
    rows = [("ratings and all else that is not named here", choice.licence)] if choice.licence else []
    if rows or sources:
        yield "## Licences"
        listed = "\n".join(
            f"| {plain_line(what)} | {plain_line(licence)} |" for what, licence in [*sources, *rows]
        )
        yield f"| of | licence |\n|---|---|\n{listed}"


def _citation(project: Project, choice: ExportChoice, passed: Passed) -> Iterator[str]:
    if entry := cite(project, choice, passed):
        yield "## Citing it"
        yield f"```bibtex\n{entry}\n```"


def _columns(tables: Sequence[ExportTable]) -> Iterator[str]:
    yield "## Columns"
    for table in tables:
        rows = "\n".join(f"| `{column.name}` | {column.meaning} |" for column in table.columns)
        yield f"### {table.name}"
        yield f"| column | meaning |\n|---|---|\n{rows}"
