"""Compresses pages and replies of the API; files keep their length and stream as they are."""

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

TYPES = ("text/", "application/json", "image/svg+xml")
PACKET = 1400  # bytes, which travel together in any case


class CompressionMiddleware(GZipMiddleware):
    """Compresses what is made whole and is text.

    Nobody can guess a CSRF token from the compressed length: Django masks it anew in each page and adds a
    random number of bytes (BREACH).
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress the response if the browser accepts that."""
        is_text = not response.streaming and response.get("Content-Type", "").startswith(TYPES)
        if not is_text or len(response.content) < PACKET:  # type: ignore[attr-defined]
            return response
        return super().process_response(request, response)
