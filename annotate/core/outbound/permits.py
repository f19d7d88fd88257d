"""What the operator allows in settings: places in private networks, and variables for hosts and projects.

Knows no settings itself, so that the settings can be read with it.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}
HTTPS = DEFAULT_PORTS["https"]
EVERY_PORT = "*"
# Other variables hold other secrets, such as the password of the database.
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY|HF_TOKEN", re.ASCII)
PLACE = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}|\*))?", re.ASCII)
PROJECT = re.compile(r"[a-z0-9_-]+", re.ASCII)


@dataclass(frozen=True)
class PermittedHost:
    """A host with one of its ports, or with all of them (port None)."""

    host: str
    port: int | None

    def is_at(self, host: str, port: int) -> bool:
        """Return whether an address leads here."""
        return plain_host(host) == self.host and self.port in (port, None)


@dataclass(frozen=True)
class VariablePermit:
    """A variable of the environment, where it may be sent, and for which projects; none named: for all."""

    variable: str
    place: PermittedHost
    projects: frozenset[str] = frozenset()


def plain_host(host: str) -> str:
    """Return a host as hosts are compared: `LLM.example.org.` and `[::1]` are llm.example.org and ::1."""
    return host.lower().strip("[]").rstrip(".")


def place_of(url: str) -> PermittedHost:
    """Return the host and port that a URL leads to; raises ValueError."""
    parts = urlsplit(url)
    return PermittedHost(plain_host(parts.hostname or ""), parts.port or DEFAULT_PORTS.get(parts.scheme, 0))


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL, the port where it is not the usual one; raises ValueError."""
    scheme, place = urlsplit(url).scheme.lower(), place_of(url)
    host = f"[{place.host}]" if ":" in place.host else place.host
    return f"{scheme}://{host}" + ("" if place.port == DEFAULT_PORTS.get(scheme) else f":{place.port}")


def read_place(text: str) -> PermittedHost:
    """Return a place written as HOST:PORT or HOST:*; raises ValueError."""
    host, port = _host_and_port(text)
    if port is None:
        raise ValueError(text)
    return PermittedHost(host, None if port == EVERY_PORT else int(port))


def read_permit(text: str) -> VariablePermit:
    """Return what VARIABLE=HOST, VARIABLE=HOST:PORT or one of them with @PROJECT+PROJECT says.

    Raises ValueError. A host without a port is meant with that of HTTPS, and has a dot in it: what has none
    may be a key that was written in place of a host.
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
    found = PLACE.fullmatch(text.strip().lower())
    if not found or ((found[2] or EVERY_PORT) != EVERY_PORT and not 0 < int(found[2]) < 2**16):
        raise ValueError(text)
    return plain_host(found[1]), found[2]
