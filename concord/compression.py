"""Compresses pages and replies of the API; files keep their length and stream unchanged."""

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

TYPES = ("text/", "application/json", "image/svg+xml")
PACKET = 1400  # bytes, which travel together in any case


class CompressionMiddleware(GZipMiddleware):
    """Compresses complete responses with a textual type.

    The compressed length does not reveal a CSRF token: Django masks it again in each page and adds a random
    number of bytes (BREACH).
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_text = not response.streaming and response.get("Content-Type", "").startswith(TYPES)
        if not is_text or len(response.content) < PACKET:  # type: ignore[attr-defined]
            return response
        return super().process_response(request, response)
