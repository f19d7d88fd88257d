"""Which addresses webhooks may have."""

from django.conf import settings
from django.utils.translation import gettext

from annotate.core.errors import InvalidValueError
from annotate.core.outbound.guard import Guard

WEBHOOK_GUARD = Guard(
    allows=lambda _host, _port: settings.PRIVATE_WEBHOOKS,
    advice=lambda host, _port: gettext(
        "{host} is a private host. Set CONCORD_PRIVATE_WEBHOOKS=1 to allow webhooks to it."
    ).format(host=host),
)


def refuse_url(url: str) -> None:
    """Raise InvalidValueError for what no webhook can have, as far as the text tells: asks no name server."""
    if sentence := WEBHOOK_GUARD.problem_of(url):
        raise InvalidValueError(sentence, fields={"url": sentence})
