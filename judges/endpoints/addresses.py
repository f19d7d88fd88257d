"""Which addresses endpoints may have: those of the internet, and what the operator lists."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import validate_host
from django.utils.translation import gettext

from annotate.core.errors import InvalidValueError
from annotate.core.outbound.guard import Guard, PrivateAddressError

LOOPBACK = frozenset({"localhost", ".localhost", "127.0.0.1", "[::1]"})


def is_listed(host: str, port: int) -> bool:
    """Return whether CONCORD_LOCAL_ENDPOINTS has a host and port."""
    return any(place.is_at(host, port) for place in settings.LOCAL_ENDPOINTS)


ENDPOINT_GUARD = Guard(
    allows=is_listed,
    advice=lambda: gettext(
        "{host} is a private host. Ask the operator to add it with its port to CONCORD_LOCAL_ENDPOINTS."
    ),
)


def refuse_address(url: str) -> None:
    """Raise InvalidValueError for what no endpoint can have, as far as the text tells."""
    if sentence := ENDPOINT_GUARD.problem_of(url) or problem_of_own(url):
        raise InvalidValueError(sentence, fields={"base_url": sentence})


def refuse_call(url: str) -> None:
    """Raise PrivateAddressError unless an endpoint may be asked: settings change after it was saved."""
    if sentence := ENDPOINT_GUARD.problem_of(url) or problem_of_own(url):
        raise PrivateAddressError(sentence)


def problem_of_own(url: str) -> str:
    """Return why a URL that leads to Concord itself is no endpoint; empty for others.

    Whatever is sent there may reach its logs. Loopback is left to CONCORD_LOCAL_ENDPOINTS: other servers
    answer there too.
    """
    parts = urlsplit(url)
    host, names = parts.hostname or "", [name for name in _own_names() if name not in LOOPBACK | {"*"}]
    if not validate_host(f"[{host}]" if ":" in host else host.rstrip("."), names):
        return ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if is_listed(host, port):
        return ""
    return gettext("{host} is Concord's own host. Enter the URL of a server that runs a model.").format(
        host=host
    )


def _own_names() -> list[str]:
    trusted = (urlsplit(origin).hostname or "" for origin in settings.CSRF_TRUSTED_ORIGINS)
    return [*settings.ALLOWED_HOSTS, *(name for name in trusted if name)]
