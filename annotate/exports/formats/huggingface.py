"""A data set's folder as Hugging Face reads it: data card, Croissant metadata, draft of a datasheet."""

import json
from pathlib import Path
from typing import Any

import yaml

from annotate.core.models import Project
from annotate.core.version import VERSION
from annotate.exports.choice import ExportChoice
from annotate.exports.formats.cards import plain, plain_line
from annotate.exports.formats.croissant import croissant
from annotate.exports.formats.datasheet import datasheet
from annotate.exports.manifest import Passed
from annotate.exports.registry import ExportTable

DEFAULT = "ratings"


def write_data_set(project: Project, choice: ExportChoice, folder: Path, passed: Passed) -> None:
    """Write what belongs beside the Parquet files; tables without rows have no configuration."""
    tables = [table for table in choice.tables if passed.rows[table.name]]
    described = _description(project, choice, passed)
    _write(folder / "README.md", data_card(project, choice, tables, passed))
    _write(folder / "DATASHEET.md", datasheet(project, choice))
    metadata = croissant(described, tables, folder)
    _write(folder / "croissant.json", json.dumps(metadata, ensure_ascii=False, indent=1) + "\n")


def data_card(project: Project, choice: ExportChoice, tables: list[ExportTable], passed: Passed) -> str:
    """Return the card: YAML that says which files are which configuration, and what each one holds."""
    head = {
        **({"license": choice.licence} if choice.licence else {}),
        "pretty_name": project.name,
        "annotations_creators": ["expert-generated"],
        "tags": ["human-evaluation", "inter-annotator-agreement", "croissant"],
        "configs": [
            {
                "config_name": table.name,
                "data_files": [{"split": "train", "path": f"data/{table.name}/*.parquet"}],
                **({"default": True} if table.name == DEFAULT else {}),
            }
            for table in tables
        ],
    }
    rows = "\n".join(f"| `{table.name}` | {passed.rows[table.name]:,} | {table.says} |" for table in tables)
    return (
        f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---\n\n"
        f"# {plain_line(project.name)}\n\n"
        f"{plain(project.description)}\n\n"
        "| configuration | rows | what it holds |\n|---|---|---|\n"
        f"{rows}\n\n"
        "`document`, `system` and `dimension` together are a unit and join the tables. Only ratings of "
        "round 1 are independent of each other. People appear under pseudonyms. Lists and objects are "
        "JSON in a text.\n\n"
        "How it was made and with what agreement: [DATASHEET.md](DATASHEET.md). Exported by Concord "
        f"{VERSION}; `manifest.json` has the content hash.\n"
    )


def _description(project: Project, choice: ExportChoice, passed: Passed) -> dict[str, Any]:
    return {
        "name": project.slug,
        "description": project.description or project.name,
        "url": f"urn:concord:{project.slug}",
        "version": "1.0.0",
        **({"license": choice.licence} if choice.licence else {}),
        **({"datePublished": f"{passed.latest:%Y-%m-%d}"} if passed.latest else {}),
    }


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
