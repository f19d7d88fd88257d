"""Which addresses webhooks may have: nobody reaches through Concord what only its own network can."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext

from annotate.errors import InvalidValueError

Address = IPv4Address | IPv6Address
NAT64 = ip_network("64:ff9b::/96")


class PrivateAddressError(OSError):
    """A host that leads into a network of its own, where webhooks may not go."""


def refuse_url(url: str) -> None:
    """Raise InvalidValueError for what no webhook can have, as far as the text tells: asks no name server."""
    sentence = _problem(url)
    if sentence:
        raise InvalidValueError(sentence, fields={"url": sentence})


def _problem(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return gettext("This is not an address.")
    if not host or not url.isascii() or any(letter.isspace() for letter in url):
        return gettext("This is not an address.")
    if parts.scheme != "https" and not (parts.scheme == "http" and settings.PRIVATE_WEBHOOKS):
        return gettext("The address must begin with https://.")
    if parts.username is not None or parts.fragment:
        return gettext("The address holds a name, a password or a part after #, which cannot be sent.")
    try:
        literal = ip_address(host)
    except ValueError:
        return _not_public(host) if host == "localhost" and not settings.PRIVATE_WEBHOOKS else ""
    return "" if _is_allowed(literal) else _not_public(host)


def opened(host: str, port: int, *, timeout: float) -> socket.socket:
    """Return a connection to a host, all of whose addresses were checked first; raises OSError.

    The address that was checked is the one that is connected to, whatever the name leads to a moment later.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    places = [str(address[0]) for *_, address in found]
    if not all(_is_allowed(ip_address(place)) for place in places):
        raise PrivateAddressError(_not_public(host))
    return socket.create_connection((places[0], port), timeout)


def _is_allowed(address: Address) -> bool:
    return settings.PRIVATE_WEBHOOKS or is_public(address)


def is_public(address: Address) -> bool:
    """Return whether an address is reached over the internet, and not within some network only."""
    within = _carried(address) if isinstance(address, IPv6Address) else None
    if within is not None:
        return is_public(within)
    return address.is_global and not address.is_multicast


def _carried(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address stands for, if it stands for one."""
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)


def _not_public(host: str) -> str:
    return gettext(
        "{host} is not reached over the internet; CONCORD_PRIVATE_WEBHOOKS=1 lets webhooks go there."
    ).format(host=host)
