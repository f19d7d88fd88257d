"""The notebook of the documentation, run as it is against a server with the demonstration."""

import csv
import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django.live_server_helper import LiveServer

from annotate.management.demonstration import load_demonstration
from tests.results.reading import cells_of

CLIENT = Path(__file__).parents[2] / "client"
NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebooks" / "paper_table.ipynb"

Cell = dict[str, Any]


def cells() -> list[Cell]:
    content = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert content["nbformat"] == 4
    return [cell for cell in content["cells"] if cell["cell_type"] == "code"]


def said(*arguments: str) -> Any:
    out = StringIO()
    call_command(*arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_notebook_is_stored_without_outputs() -> None:
    assert [(cell["outputs"], cell["execution_count"]) for cell in cells()] == [([], None)] * len(cells())


@pytest.mark.django_db(transaction=True)
def test_it_goes_from_the_api_to_the_table_of_a_paper(live_server: LiveServer, tmp_path: Path) -> None:
    project = load_demonstration()
    (token,) = said("token", "make", "researcher@example.org", "--name", "notebook")
    program = "\n\n".join("".join(cell["source"]) for cell in cells())
    known = {
        "CONCORD_ADDRESS": live_server.url,
        "CONCORD_TOKEN": token["token"],
        "CONCORD_PROJECT": project.slug,
    }
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(CLIENT), **known},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    rows = {row["system"]: row for row in csv.DictReader(StringIO((tmp_path / "table.csv").read_text()))}
    assert set(rows) == {*project.systems.values_list("name", flat=True), "alpha"}
    for each in cells_of(project, "agreement", "rounds"):
        assert rows["alpha"][each["dimension"].key] == f"{each['round_1_alpha'].value:.2f}"
    assert r"\label{tab:systems}" in (tmp_path / "table.tex").read_text(encoding="utf-8")
