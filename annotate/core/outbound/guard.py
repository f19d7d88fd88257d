"""Guarding connections to user-supplied hosts: users cannot reach the private network of the server."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from django.utils.translation import gettext

from annotate.core.outbound.permits import DEFAULT_PORTS

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
        if not self.allows(host, port) and not all(is_public(ip_address(each)) for each in addresses):
            raise PrivateAddressError(self.advice(host, port))
        return addresses

    def connect(self, host: str, port: int, *, timeout: float) -> socket.socket:
        """Return a connection to a checked IP of a host. Raises OSError."""
        return socket.create_connection((self.resolve(host, port)[0], port), timeout)


def is_public(address: Address) -> bool:
    """Return True if an IP is reachable over the internet, and not only within a private network."""
    if isinstance(address, IPv6Address):
        within = _embedded_ipv4(address)
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


def _embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)
