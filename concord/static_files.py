"""Static files from the web server, including files added after its start."""

import os
from typing import cast

from django.http import HttpRequest, HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import IsDirectoryError, MissingFileError


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """Serves files added by `collectstatic` since the start: pages of a new version use them.

    Two hosts are upgraded one after the other, and a page of one requests its files from the other.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        url = request.path_info
        if url not in self.files and url.startswith(self.static_prefix) and self.url_is_canonical(url):
            path = os.path.join(self.static_root, url.removeprefix(self.static_prefix))
            try:
                return cast("HttpResponseBase", self.serve(self.find_file_at_path(path, url), request))
            except (MissingFileError, IsDirectoryError):
                pass
        return cast("HttpResponseBase", super().__call__(request))
