"""The key for calls to an endpoint, stored encrypted (annotate.core.encryption).

A key is encrypted together with its endpoint and server, so a row copied to another endpoint cannot be
decrypted.
"""

import json
from typing import TYPE_CHECKING

from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_variables

from annotate.core.lazy_module import LazyModule
from annotate.core.outbound import PrivateAddressError, VariableRefusedError, origin_of, read_variable
from judges.core.errors import KeyMissingError
from judges.core.models import Endpoint, EndpointKey
from judges.endpoints.connections import refuse_call
from judges.endpoints.questions import Server

if TYPE_CHECKING:
    from cryptography import fernet

    from annotate.core import encryption
else:
    encryption = LazyModule("annotate.core.encryption")
    fernet = LazyModule("cryptography.fernet")

# The purpose separates these ciphers from others that derive from the same secrets.
PURPOSE = b"concord: keys of endpoints"
NO_KEY = "none"  # sent to servers that need no key


class UnreadableKeyError(Exception):
    """An encrypted key of other secrets, of another endpoint, or damaged."""


@sensitive_variables()
def encrypt(key: str, *, endpoint: int, origin: str) -> str:
    bound = json.dumps([endpoint, origin, key]).encode()
    return encryption.cipher_for(PURPOSE).encrypt(bound).decode()


@sensitive_variables()
def decrypt(encrypted: str, *, endpoint: int, origin: str) -> str:
    """Return the key; raises UnreadableKeyError."""
    try:
        bound = json.loads(encryption.cipher_for(PURPOSE).decrypt(encrypted.encode()))
    except (fernet.InvalidToken, ValueError) as error:
        raise UnreadableKeyError from error
    # The row was copied from another endpoint or server.
    if bound[:2] != [endpoint, origin]:
        raise UnreadableKeyError
    return str(bound[2])


def encrypt_again(encrypted: str) -> str:
    """Encrypt a key again with the first secret; raises UnreadableKeyError."""
    try:
        return encryption.cipher_for(PURPOSE).rotate(encrypted.encode()).decode()
    except fernet.InvalidToken as error:
        raise UnreadableKeyError from error


@sensitive_variables()
def server_of(endpoint: Endpoint, *, calls_in_flight: int | None = None) -> Server:
    """Return the server of the endpoint, with the key permitted for it; raises KeyMissingError.

    Up to two queries.
    """
    try:
        refuse_call(endpoint.base_url)
    except PrivateAddressError as error:
        raise KeyMissingError(str(error)) from None
    return Server(
        base_url=endpoint.base_url,
        key=key_of(endpoint),
        timeout_seconds=endpoint.timeout_seconds,
        calls_in_flight=calls_in_flight or endpoint.calls_in_flight,
        dialect=endpoint.dialect,
    )


@sensitive_variables()
def key_of(endpoint: Endpoint) -> str:
    """Return the key entered for the endpoint's server, or else the value of its variable.

    Raises KeyMissingError if the key was entered for another server or cannot be decrypted, or if the
    operator does not let this project send the variable there.
    """
    entered = EndpointKey.objects.filter(endpoint=endpoint).first()
    if entered is not None:
        return _decrypt_for(entered, origin_of(endpoint.base_url))
    if not endpoint.key_variable:
        return NO_KEY
    try:
        return read_variable(endpoint.key_variable, url=endpoint.base_url, project=endpoint.project.slug)
    except VariableRefusedError as error:
        raise KeyMissingError(error.message) from None


@sensitive_variables()
def _decrypt_for(entered: EndpointKey, origin: str) -> str:
    # Otherwise an admin could change the URL and receive the key at another server.
    if entered.origin != origin:
        sentence = gettext("The key was entered for {origin} and is not sent to {other}. Enter it again.")
        raise KeyMissingError(sentence.format(origin=entered.origin, other=origin))
    try:
        return decrypt(entered.encrypted, endpoint=entered.endpoint_id, origin=origin)
    except UnreadableKeyError:
        sentence = gettext("The key was encrypted with another secret of this installation. Enter it again.")
        raise KeyMissingError(sentence) from None
