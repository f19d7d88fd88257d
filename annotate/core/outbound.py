"""Connections to hosts that users enter: permitted hosts, and variables that may be sent to each.

The settings import this module while they are read, so it reads no setting when it is imported."""

import os
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_variables

from annotate.core.errors import DomainError

DEFAULT_PORTS = {"http": 80, "https": 443}
HTTPS = DEFAULT_PORTS["https"]
EVERY_PORT = "*"
# Other variables hold other secrets, such as the password of the database.
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY|HF_TOKEN", re.ASCII)
HOST_AND_PORT = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}|\*))?", re.ASCII)
PROJECT = re.compile(r"[a-z0-9_-]+", re.ASCII)


@dataclass(frozen=True)
class PermittedHost:
    """A host with one of its ports, or with all of them (port None)."""

    host: str
    port: int | None

    def is_at(self, host: str, port: int) -> bool:
        return plain_host(host) == self.host and self.port in (port, None)


@dataclass(frozen=True)
class VariablePermit:
    """An environment variable, its permitted hosts, and its permitted projects; without any project: all."""

    variable: str
    permitted_host: PermittedHost
    projects: frozenset[str] = frozenset()


def plain_host(host: str) -> str:
    """Return a host in normal form: `LLM.example.org.` and `[::1]` become llm.example.org and ::1."""
    return host.lower().strip("[]").rstrip(".")


def host_of(url: str) -> PermittedHost:
    """Return the host and port of a URL. Raises ValueError."""
    parts = urlsplit(url)
    return PermittedHost(plain_host(parts.hostname or ""), parts.port or DEFAULT_PORTS.get(parts.scheme, 0))


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL, the port only if it is not the default. Raises ValueError."""
    scheme, permitted_host = urlsplit(url).scheme.lower(), host_of(url)
    host = f"[{permitted_host.host}]" if ":" in permitted_host.host else permitted_host.host
    return f"{scheme}://{host}" + (
        "" if permitted_host.port == DEFAULT_PORTS.get(scheme) else f":{permitted_host.port}"
    )


def read_host(text: str) -> PermittedHost:
    """Return a host written as HOST:PORT or HOST:*. Raises ValueError."""
    host, port = _host_and_port(text)
    if port is None:
        raise ValueError(text)
    return PermittedHost(host, None if port == EVERY_PORT else int(port))


def read_permit(text: str) -> VariablePermit:
    """Parse VARIABLE=HOST or VARIABLE=HOST:PORT, optionally followed by @PROJECT+PROJECT.

    Raises ValueError. Without a port, the port of HTTPS applies. A host has a dot: a value without one may be
    a key written there by mistake.
    """
    variable, _, rest = text.strip().partition("=")
    where, at, named = rest.partition("@")
    host, port = _host_and_port(where)
    projects = frozenset(named.split("+")) if at else frozenset()
    is_named = bool(port) or "." in host or ":" in host
    if not VARIABLE.fullmatch(variable) or not is_named or port == EVERY_PORT:
        raise ValueError(variable)
    if not all(PROJECT.fullmatch(project) for project in projects):
        raise ValueError(variable)
    return VariablePermit(variable, PermittedHost(host, int(port) if port else HTTPS), projects)


def _host_and_port(text: str) -> tuple[str, str | None]:
    found = HOST_AND_PORT.fullmatch(text.strip().lower())
    if not found or ((found[2] or EVERY_PORT) != EVERY_PORT and not 0 < int(found[2]) < 2**16):
        raise ValueError(text)
    return plain_host(found[1]), found[2]


class VariableRefusedError(DomainError):
    """An environment variable that is not set, or not permitted for a host."""

    code = "key_missing"


def may_send(variable: str, *, url: str, project: str) -> bool:
    """Return True if the operator permits a project (its slug) to send a variable to the host of a URL."""
    permitted_host = host_of(url)
    return any(
        permit.variable == variable
        and permit.permitted_host == permitted_host
        and (not permit.projects or project in permit.projects)
        for permit in settings.ENVIRONMENT_KEYS
    )


def refuse_variable(variable: str, *, url: str, project: str) -> None:
    """Raise VariableRefusedError if `may_send` is false."""
    if not may_send(variable, url=url, project=project):
        sentence = gettext(
            "This project may not send {variable} to {host}. Ask the operator to list it in "
            "CONCORD_ENVIRONMENT_KEYS."
        )
        raise VariableRefusedError(sentence.format(variable=variable, host=host_of(url).host))


# Reports of an error list local variables, and this one holds a key.
@sensitive_variables()
def read_variable(variable: str, *, url: str, project: str) -> str:
    """Return the value of a variable. Raises VariableRefusedError if it is not set or not permitted there."""
    refuse_variable(variable, url=url, project=project)
    value = os.environ.get(variable, "").strip()
    if not value:
        sentence = gettext(
            "The environment variable {variable} is not set on this server. Set it and restart."
        )
        raise VariableRefusedError(sentence.format(variable=variable))
    return value


Address = IPv4Address | IPv6Address
NAT64 = ip_network("64:ff9b::/96")
# All public IPv6 ranges are in here. Outside are prefixes of translators in a network.
GLOBAL_UNICAST = ip_network("2000::/3")
# Networks for protocols, relays and examples, which `is_global` takes for public in some versions of Python.
NOT_PUBLIC = tuple(map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")))
LOCALHOST = "localhost"


class PrivateAddressError(OSError):
    """A host in a private network, which user-supplied URLs may not reach."""


@dataclass(frozen=True)
class Guard:
    """The rules for one kind of URL.

    allows: True if the operator permits this host and port to be in a private network, and without HTTPS.
    advice: the message for a private host and port.
    """

    allows: Callable[[str, int], bool]
    advice: Callable[[str, int], str]

    def problem_of(self, url: str) -> str:
        """Return the reason for which a URL is invalid, as far as its syntax shows; empty if it is valid."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
        except ValueError:
            return gettext("Enter a valid URL.")
        if not host or not url.isascii() or any(letter.isspace() for letter in url):
            return gettext("Enter a valid URL.")
        # Plain HTTP is only for hosts that the operator permits.
        is_allowed = self.allows(host, port)
        if parts.scheme != "https" and not (parts.scheme == "http" and is_allowed):
            if parts.scheme == "http" and _is_private_by_name(host):
                return self.advice(host, port)
            return gettext("The URL must start with https://.")
        if parts.username is not None or parts.fragment:
            return gettext(
                "The URL contains a user name, a password or a part after #, which Concord cannot send."
            )
        return self.advice(host, port) if _is_private_by_name(host) and not is_allowed else ""

    def resolve(self, host: str, port: int) -> list[str]:
        """Return a host's IPs after checking all of them. Raises OSError.

        Connect to one of them and not to the name, which may resolve differently a moment later.
        """
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
        # A single private IP is enough to reject the host, which could otherwise hide it among public ones.
        if not self.allows(host, port) and not all(is_public(ip_address(each)) for each in addresses):
            raise PrivateAddressError(self.advice(host, port))
        return addresses

    def connect(self, host: str, port: int, *, timeout: float) -> socket.socket:
        """Return a connection to a checked IP of a host. Raises OSError."""
        return socket.create_connection((self.resolve(host, port)[0], port), timeout)


def is_public(address: Address) -> bool:
    """Return True if an IP is reachable over the internet, and not only within a private network."""
    if isinstance(address, IPv6Address):
        # IPv6 can wrap an IPv4 address, and then a connection leads to the wrapped one.
        teredo = address.teredo
        within = address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)
        if address in NAT64:
            within = IPv4Address(int(address) & 0xFFFFFFFF)
        if within is not None:
            return is_public(within)
        if address not in GLOBAL_UNICAST:
            return False
    return address.is_global and not address.is_multicast and not any(address in each for each in NOT_PUBLIC)


def _is_private_by_name(host: str) -> bool:
    try:
        return not is_public(ip_address(host))
    except ValueError:
        return host.rstrip(".") == LOCALHOST or host.rstrip(".").endswith(f".{LOCALHOST}")
