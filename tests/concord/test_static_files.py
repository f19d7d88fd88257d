"""Static files of a new version are served by a web server that was started with the one before."""

from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from concord.middleware import StaticFilesMiddleware


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/static/there.0a1b.css", 200),
        ("/static/new.2c3d.css", 200),
        ("/static/none.css", 404),
        ("/static/../secret", 404),
        ("/static/", 404),
        ("/static/folder", 404),
        ("/elsewhere/new.2c3d.css", 404),
    ],
)
def test_files_that_came_later_are_served_and_no_others(
    tmp_path: Path, settings: Any, path: str, status: int
) -> None:
    def not_found(_request: HttpRequest) -> HttpResponse:
        return HttpResponse(status=404)

    settings.STATIC_ROOT = tmp_path / "static"
    (settings.STATIC_ROOT / "folder").mkdir(parents=True)
    (settings.STATIC_ROOT / "there.0a1b.css").write_text("there")
    middleware = StaticFilesMiddleware(not_found)
    (settings.STATIC_ROOT / "new.2c3d.css").write_text("new")
    (tmp_path / "secret").write_text("secret")
    request = RequestFactory().get("/")
    request.path_info = path
    answer = middleware(request)
    assert answer.status_code == status
    answer.close()
