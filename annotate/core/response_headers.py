"""What every answer tells browsers: what a page may load, and that nothing of it is kept.

No script and no style stands in a page, and none is made from a text, so the policy has no exception. What an
answer says itself stays: a picture of the guidelines may be kept by the browser of who may see it.
"""

from collections.abc import Callable, Mapping
from functools import cache
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse

PERMISSIONS = (
    *("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "magnetometer"),
    *("microphone", "midi", "payment", "serial", "usb", "xr-spatial-tracking"),
)


@cache
def content_policy(providers: tuple[str, ...] = (), *, framed: bool = False) -> str:
    """Return the Content-Security-Policy of all pages.

    providers: addresses of those by which people sign in. The form that begins it is answered by a redirect
    to wherever they sign in, which only they know; browsers hold the policy of forms against that, too.
    framed: whether a page of Concord may show this one in a frame, as it does the annotator's screen.
    """
    plain = {f"http://{urlsplit(each).netloc}" for each in providers if each.startswith("http://")}
    forms = " ".join(["'self'", *(["https:"] if providers else []), *sorted(plain)])
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "frame-src 'self'",
            "frame-ancestors 'self'" if framed else "frame-ancestors 'none'",
            f"form-action {forms}",
        )
    )


def fixed_headers(*, framed: bool = False) -> Mapping[str, str]:
    """Return the headers of every answer that does not say otherwise."""
    apps = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]
    return {
        "Content-Security-Policy": content_policy(
            tuple(app["settings"]["server_url"] for app in apps), framed=framed
        ),
        "Permissions-Policy": ", ".join(f"{each}=()" for each in PERMISSIONS),
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


class ResponseHeadersMiddleware:
    """Adds them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        response = self.get_response(request)
        framed = response.headers.get("X-Frame-Options") == "SAMEORIGIN"
        for name, value in fixed_headers(framed=framed).items():
            response.headers.setdefault(name, value)
        return response
