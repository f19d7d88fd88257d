"""People rate, discuss and agree without judges: the app can be left out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.factories import make_project

ROOT = Path(__file__).resolve().parents[3]


def test_without_judges_every_other_page_is_there_and_no_tab_leads_to_them():
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.judges.alone_settings"}
    ended = subprocess.run(
        [sys.executable, "-m", "tests.judges.alone"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    installed, *pages = ended.stdout.splitlines()
    assert installed == "False"
    assert pages.pop().split() == ["judges/", "404", "False"]
    assert [page.split()[-2:] for page in pages] == [["200", "False"]] * 8


@pytest.mark.django_db
def test_with_judges_admins_and_researchers_have_a_tab_for_them(client):
    cast = make_project()
    shown = []
    for user in (cast.admin, cast.researcher, cast.annotators[0].user):
        client.force_login(user)
        shown.append(b">Judges</a>" in client.get(f"/projects/{cast.project.slug}/").content)
    assert shown == [True, True, False]
