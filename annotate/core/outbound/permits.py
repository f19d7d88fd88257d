"""The operator's permits: hosts in private networks, and variables for hosts and projects.

This module does not use the settings, so the settings can import it.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

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
