"""HTTP clients that reach only a permitted endpoint: no redirects, no proxies, no variables of the host.

Permitted are public internet hosts and hosts that the operator lists. Every request goes to an IP of the
endpoint's host that was checked just before. So a name cannot lead into the installation's own network. The
certificate still belongs to the name.
"""

import asyncio
import os
import shlex
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_address
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import validate_host
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_variables

from annotate.core.errors import InvalidValueError
from annotate.core.lazy_module import LazyModule
from annotate.core.outbound import Guard, PermittedHost, PrivateAddressError, read_host
from judges.endpoints.questions import Server

if TYPE_CHECKING:
    import httpx2
    import openai
else:
    httpx2, openai = LazyModule("httpx2"), LazyModule("openai")

LOOPBACK = frozenset({"localhost", ".localhost", "127.0.0.1", "[::1]"})
RESOLVED_FOR = 30.0  # seconds
# The openai package adds what variables of the host say, such as OPENAI_ORG_ID and OPENAI_CUSTOM_HEADERS:
# of another lab's account, or another key. Only these headers leave.
SENT = frozenset(
    {
        *("accept", "accept-encoding", "anthropic-version", "connection", "content-length", "content-type"),
        *("host", "idempotency-key", "transfer-encoding", "user-agent"),
        *(f"x-goog-upload-{each}" for each in ("protocol", "command", "offset")),
        *(f"x-goog-upload-header-content-{each}" for each in ("length", "type")),
    }
)


def is_listed(host: str, port: int) -> bool:
    """Return True if the operator lists a host and port, in the setting or in the file."""
    hosts = chain(settings.LOCAL_ENDPOINTS, _hosts_in_file())
    return any(permitted_host.is_at(host, port) for permitted_host in hosts)


def _hosts_in_file() -> Iterator[PermittedHost]:
    """Yield the hosts and ports of CONCORD_LOCAL_ENDPOINTS_FILE, read at each use: a change needs no restart.

    No page writes to the file: only the operator of this machine does. Lines without a single port permit no
    server.
    """
    try:
        text = Path(settings.LOCAL_ENDPOINTS_FILE or os.devnull).read_text(errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        with suppress(ValueError):
            permitted_host = read_host(line)
            if permitted_host.port is not None:
                yield permitted_host


def _advise(host: str, port: int) -> str:
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if not settings.LOCAL_ENDPOINTS_FILE:
        return gettext(
            "{host} is a private host. Ask the operator to add it with its port to CONCORD_LOCAL_ENDPOINTS."
        ).format(host=host)
    line = f"echo {shlex.quote(address)} >> {shlex.quote(settings.LOCAL_ENDPOINTS_FILE)}"
    return gettext(
        "{host} is a private host. To permit it, run this line on the machine of Concord, then try again: "
        "{line}"
    ).format(host=host, line=line)


ENDPOINT_GUARD = Guard(allows=is_listed, advice=_advise)


def refuse_address(url: str) -> None:
    """Raise InvalidValueError for a URL that no endpoint can have, without resolving its host."""
    if sentence := ENDPOINT_GUARD.problem_of(url) or problem_of_own(url):
        raise InvalidValueError(sentence, fields={"base_url": sentence})


def refuse_call(url: str) -> None:
    """Raise PrivateAddressError unless the endpoint may be called: settings change after it was saved."""
    if sentence := ENDPOINT_GUARD.problem_of(url) or problem_of_own(url):
        raise PrivateAddressError(sentence)


def problem_of_own(url: str) -> str:
    """Return the reason why a URL of Concord itself is no endpoint; empty for others.

    Keys in such calls may reach its logs. Only the lists decide about loopback, because other servers answer
    there, too.
    """
    parts = urlsplit(url)
    host, names = parts.hostname or "", [name for name in _own_names() if name not in LOOPBACK | {"*"}]
    # Django's own rule for hosts, with its wildcards; a final dot names the same host.
    if not validate_host(f"[{host}]" if ":" in host else host.rstrip("."), names):
        return ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    # The operator permits a model server that runs on Concord's own host.
    if is_listed(host, port):
        return ""
    return gettext("{host} is Concord's own host. Enter the URL of a server that runs a model.").format(
        host=host
    )


def _own_names() -> list[str]:
    trusted = (urlsplit(origin).hostname or "" for origin in settings.CSRF_TRUSTED_ORIGINS)
    return [*settings.ALLOWED_HOSTS, *(name for name in trusted if name)]


class Destination:
    """The server of a client, and the headers with its key."""

    def __init__(self, url: str, key_headers: Mapping[str, str]) -> None:
        self._url = url
        self._origin = _origin(httpx2.URL(url))
        self._key_headers = key_headers
        self._address = ""
        self._asked: httpx2.URL | None = None
        self._pointed: httpx2.URL | None = None
        # The clock may start at 0, and the first request must resolve the host.
        self._resolved_at = -RESOLVED_FOR
        self._resolving = asyncio.Lock()

    def send_there(self, request: "httpx2.Request") -> None:
        """Point a request at a checked IP of its host; raises OSError."""
        self._refuse_other_hosts(request)
        if self._is_due():
            self._resolve(request)
        self._point(request)

    async def send_there_later(self, request: "httpx2.Request") -> None:
        """Do the same as `send_there` without blocking other requests."""
        self._refuse_other_hosts(request)
        if self._is_due():
            async with self._resolving:
                # Another request may have resolved the host while this one waited for the lock.
                if self._is_due():
                    await asyncio.to_thread(self._resolve, request)
        self._point(request)

    def _refuse_other_hosts(self, request: "httpx2.Request") -> None:
        if _origin(request.url) != self._origin:  # a link in an answer; only this server gets the key
            raise PrivateAddressError(
                gettext("The server sent a link to {url}, where its key is not sent.").format(
                    url=f"{request.url.scheme}://{request.url.netloc.decode()}"
                )
            )

    def _is_due(self) -> bool:
        return time.monotonic() - self._resolved_at >= RESOLVED_FOR

    def _resolve(self, request: "httpx2.Request") -> None:
        # At each resolution, because the lists of the operator may have changed since.
        refuse_call(self._url)
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        addresses = ENDPOINT_GUARD.resolve(request.url.host, port)
        # IPv4 first: model servers on this machine often listen there alone, and not every host has IPv6.
        self._address = min(addresses, key=lambda address: ip_address(address).version)
        # The stored URL has the address of the previous resolution.
        self._asked, self._resolved_at = None, time.monotonic()

    @sensitive_variables()
    def _point(self, request: "httpx2.Request") -> None:
        for name in set(request.headers) - SENT:
            del request.headers[name]
        request.headers.update(self._key_headers)
        # The certificate is checked against the name, although the connection goes to an address.
        if request.url.scheme == "https":
            request.extensions = {**request.extensions, "sni_hostname": request.url.host}
        if request.url != self._asked:  # usually the host of the previous request
            self._asked, self._pointed = request.url, request.url.copy_with(host=self._address)
        assert self._pointed is not None
        request.url = self._pointed


def _origin(url: "httpx2.URL") -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


@sensitive_variables()
def client_of_many(server: Server, key_headers: Mapping[str, str]) -> "httpx2.AsyncClient":
    limits = openai.DEFAULT_CONNECTION_LIMITS
    hook = Destination(server.base_url, key_headers).send_there_later
    client: httpx2.AsyncClient = openai.DefaultAioHttpClient(
        limits=limits, **_options(hook, server.timeout_seconds)
    )
    return client


@sensitive_variables()
def client_of_one(server: Server, key_headers: Mapping[str, str]) -> "httpx2.Client":
    """Return a client for sequential requests."""
    hook = Destination(server.base_url, key_headers).send_there
    return httpx2.Client(**_options(hook, server.timeout_seconds))


def _options(hook: Callable[..., Any], seconds: float) -> dict[str, Any]:
    return {
        "event_hooks": {"request": [hook]},
        # A redirect would send prompts to an unchecked host.
        "follow_redirects": False,
        "timeout": seconds,
        "trust_env": False,  # neither proxies, which would receive the name, nor .netrc
        "verify": _authorities(*(os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))),
    }


@lru_cache(maxsize=4)
def _authorities(file: str | None, folder: str | None) -> ssl.SSLContext:  # noqa: ARG001
    """Return the trusted certificate authorities, a university's own included, read once: it takes 20 ms."""
    # Both arguments only key the cache: changed variables make a new context.
    context: ssl.SSLContext = httpx2.create_ssl_context()
    return context
