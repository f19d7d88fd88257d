"""The key that a call to an endpoint carries, and why there is none."""

from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_variables

from annotate.core.outbound.guard import PrivateAddressError
from annotate.core.outbound.permits import origin_of
from annotate.core.outbound.variables import VariableRefusedError, read_variable
from judges.core.errors import KeyMissingError
from judges.core.models import Endpoint, EndpointKey
from judges.endpoints.addresses import refuse_call
from judges.endpoints.encryption import UnreadableKeyError, decrypt
from judges.endpoints.questions import Server

NO_KEY = "none"  # what servers without keys are sent


@sensitive_variables()
def server_of(endpoint: Endpoint, *, calls_in_flight: int | None = None) -> Server:
    """Return where to ask, with the key that may go there; raises KeyMissingError. Up to two queries."""
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
    """Return the key that was entered for the endpoint's server, else what its variable holds.

    Raises KeyMissingError where it was entered for another server, cannot be decrypted, or where the operator
    does not let this project send the variable there.
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
    if entered.origin != origin:
        sentence = gettext("The key was entered for {origin} and is not sent to {other}. Enter it again.")
        raise KeyMissingError(sentence.format(origin=entered.origin, other=origin))
    try:
        return decrypt(entered.encrypted, endpoint=entered.endpoint_id, origin=origin)
    except UnreadableKeyError:
        sentence = gettext("The key was encrypted with another secret of this installation. Enter it again.")
        raise KeyMissingError(sentence) from None
