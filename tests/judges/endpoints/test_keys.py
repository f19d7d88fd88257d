"""A key is planted in the environment; then all that Concord keeps, shows or writes is searched for it."""

import io
import logging
import zipfile

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import RequestFactory
from django.urls import get_resolver
from django.views.debug import ExceptionReporter

from annotate.exports.choice import ExportChoice, Format
from annotate.exports.files import write_file
from judges.core.models import Run
from judges.endpoints.client import Client
from judges.endpoints.commands import enter_key
from judges.endpoints.questions import Server
from judges.runs.commands.collecting import collect
from judges.runs.commands.runs import start_run
from tests.factories import make_project
from tests.judges.factories import make_endpoint, make_judge, make_permit, make_run
from tests.judges.pages import address

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "sk-planted-4f1d9c7a2b"


@pytest.fixture
def environment(provider, monkeypatch, settings):
    """A key in the environment that the operator lists for the provider."""
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    settings.ENVIRONMENT_KEYS = (make_permit("PLANTED_API_KEY", provider.base_url),)


@pytest.fixture(params=["environment", "browser"])
def scene(request, client, provider, environment):
    """A provider that says the key back in its refusals, and a judge that asks it."""
    provider.status, provider.error = 400, f"Bad request of {KEY}."
    cast = make_project()
    variable = "PLANTED_API_KEY" if request.param == "environment" else ""
    endpoint = make_endpoint(cast.project, provider.base_url, key_variable=variable)
    if not variable:
        enter_key(endpoint=endpoint, key=KEY, by=cast.admin)
    judge = make_judge(cast.project, endpoint=endpoint)
    client.force_login(cast.admin)
    return cast, endpoint, judge


def try_out(client, cast, endpoint):
    sent = {"model": "m", "message": "Hello"}
    return client.post(address(cast, f"endpoints/{endpoint.pk}/test/"), sent)


def judged(cast, judge):
    run = start_run(run=make_run(cast.project, judge))
    collect(run=run.pk, seconds=20)
    return Run.objects.get(pk=run.pk)


def kept():
    """Return all that the database holds, as text."""
    with connection.cursor() as cursor:
        rows = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            rows += cursor.fetchall()
    return "\n".join(map(repr, rows))


def test_the_key_was_really_sent(client, scene, provider):
    cast, endpoint, _ = scene
    try_out(client, cast, endpoint)
    assert provider.keys == [KEY]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 500])
def test_no_page_no_log_and_no_row_has_the_key(client, scene, provider, status, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    cast, endpoint, judge = scene
    provider.status = status
    pages = [try_out(client, cast, endpoint)]
    if status != 500:  # it would be asked again for minutes
        run = judged(cast, judge)
        paths = [f"runs/{run.pk}/", f"runs/{run.pk}/judgments/failed/", "runs/"]
        pages += [client.get(address(cast, path)) for path in paths]
    for path in ("", "endpoints/", f"endpoints/{endpoint.pk}/", f"{judge.pk}/"):
        pages.append(client.get(address(cast, path)))
    assert all(page.status_code == 200 for page in pages)
    assert KEY not in "".join(page.content.decode() for page in pages)
    assert "[key]" in pages[0].content.decode()
    assert KEY not in caplog.text
    assert KEY not in "".join(capfd.readouterr())
    assert KEY not in kept()


def test_no_export_has_the_key(scene, tmp_path):
    cast, _, judge = scene
    judged(cast, judge)
    for format in (Format.CSV, Format.JSONL):
        write_file(cast.project, ExportChoice(format), tmp_path / format)
        with zipfile.ZipFile(tmp_path / format) as archive:
            texts = [archive.read(name).decode() for name in archive.namelist()]
        assert any(judge.name in text for text in texts)
        assert KEY not in "".join(texts)


def test_no_dump_of_the_database_has_the_key(scene):
    cast, _, judge = scene
    judged(cast, judge)
    dump = io.StringIO()
    call_command("dumpdata", stdout=dump)
    assert judge.name in dump.getvalue()
    assert KEY not in dump.getvalue()


def test_no_error_report_has_the_key(scene, monkeypatch):
    """Whatever fails inside a call, the report that Django makes of it hides what the frames held."""
    cast, endpoint, _ = scene

    async def fails(self, question):
        raise RuntimeError("Something nobody thought of.")

    monkeypatch.setattr(Client, "ask", fails)
    request = RequestFactory().post(address(cast), {"model": "m", "message": "Hello"})
    request.user, request.htmx = cast.admin, False  # type: ignore[attr-defined]
    view = get_resolver().resolve(address(cast, f"endpoints/{endpoint.pk}/test/")).func
    with pytest.raises(RuntimeError) as caught:
        view(request, slug=cast.project.slug, pk=endpoint.pk)
    reporter = ExceptionReporter(request, caught.type, caught.value, caught.tb)
    report = reporter.get_traceback_html() + reporter.get_traceback_text()
    assert "Something nobody thought of." in report
    assert KEY not in report


def test_what_holds_the_key_does_not_show_it():
    assert KEY not in repr(Server("http://127.0.0.1:9/v1", KEY, 1, 1))
