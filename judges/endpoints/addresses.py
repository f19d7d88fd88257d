"""Permitted endpoint hosts: public internet hosts and hosts that the operator lists."""

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import validate_host
from django.utils.translation import gettext

from annotate.core.errors import InvalidValueError
from annotate.core.outbound import Guard, PermittedHost, PrivateAddressError, read_host

LOOPBACK = frozenset({"localhost", ".localhost", "127.0.0.1", "[::1]"})


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
