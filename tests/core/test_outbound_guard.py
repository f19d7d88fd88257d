"""The guard of outgoing connections rejects networks that only Concord's own network reaches."""

import socket
from ipaddress import ip_address, ip_network

import pytest

from annotate.core.outbound import Guard, PrivateAddressError, is_public

SPECIAL = [
    *("64:ff9b:1::/48", "::ffff:0:0:0/96", "::/96"),
    *("192.0.0.0/24", "192.88.99.0/24"),
    *("100::/64", "3fff::/20", "5f00::/16", "fec0::/10"),
]
PUBLIC = [
    *("93.184.215.14", "192.0.1.1", "192.88.98.255", "192.88.100.0"),
    *(
        "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
        "2002:5db8:d70e::",
        "64:ff9b::5db8:d70e",
        "::ffff:93.184.215.14",
    ),
]
GUARD = Guard(lambda _host, _port: False, lambda host, _port: f"{host} is private.")


@pytest.mark.parametrize("network", SPECIAL)
def test_special_networks_are_private_to_their_ends(network: str) -> None:
    found = ip_network(network)
    assert not any(is_public(found[index]) for index in (0, 1, found.num_addresses // 2, -1))


@pytest.mark.parametrize("network", ["192.0.0.0/24", "192.88.99.0/24"])
@pytest.mark.parametrize("embedding", ["::ffff:0:0", "64:ff9b::", "2002::"])
def test_special_networks_are_private_inside_ipv6(network: str, embedding: str) -> None:
    within = int(ip_network(network)[1])
    shift = 80 if embedding == "2002::" else 0
    assert not is_public(ip_address(int(ip_address(embedding)) | within << shift))


@pytest.mark.parametrize("address", PUBLIC)
def test_neighbours_of_special_networks_stay_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "address", ["64:ff9b:1::a00:1", "::ffff:0:a00:1", "::a00:1", "192.0.0.8", "192.88.99.1"]
)
def test_a_url_or_name_that_leads_there_is_rejected(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    host = f"[{address}]" if ":" in address else address
    assert GUARD.problem_of(f"https://{host}/v1") == f"{address} is private."
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(PrivateAddressError):
        GUARD.resolve("rebound.example.org", 443)
