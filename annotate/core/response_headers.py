"""The response headers: the content policy of pages, and no caching by browsers.

Pages have no inline script or style, and none comes from user content, so the policy has no exception.
Headers that a response sets itself are unchanged: the browser of an authorised user may cache an image of the
guidelines.
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

    providers: the URLs of sign-in providers. The response to the sign-in form redirects to a URL that only
    the provider knows, and browsers apply the policy of forms to that URL too. framed: True if a page of
    Concord may show this page in a frame, as it does with the annotator's screen.
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
    """Return the default headers of every response."""
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
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        framed = response.headers.get("X-Frame-Options") == "SAMEORIGIN"
        for name, value in fixed_headers(framed=framed).items():
            response.headers.setdefault(name, value)
        return response
