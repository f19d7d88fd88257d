"""How a delivery is signed, after Standard Webhooks (standardwebhooks.com), and where its secret comes from.

A secret is made from the installation's secret key and the webhook's salt whenever it is needed. So it can
sign, and who reads the database, or a copy of it, does not have it.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import datetime

from django.utils.crypto import salted_hmac

from annotate.core.models import Delivery, Webhook
from annotate.core.version import VERSION

PREFIX = "whsec_"
SALT_BYTES = 24


def new_salt() -> str:
    """Return a salt for a secret that nobody has had."""
    return secrets.token_urlsafe(SALT_BYTES)


def secret_from(salt: str) -> str:
    """Return the secret that belongs to a salt in this installation."""
    made = salted_hmac("annotate.webhooks", salt, algorithm="sha256").digest()
    return PREFIX + base64.b64encode(made).decode()


def digest_of(secret: str) -> str:
    """Return the SHA-256 of a secret; it is random enough that no salt is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def secret_of(webhook: Webhook) -> str | None:
    """Return the secret that its admin was shown, None if the installation's key is another since."""
    secret = secret_from(webhook.salt)
    return secret if digest_of(secret) == webhook.digest else None


def signature(secret: str, *, key: str, timestamp: int, body: str) -> str:
    """Return HMAC-SHA256 over `KEY.TIMESTAMP.BODY`, in base64, after the version of the scheme."""
    signed = f"{key}.{timestamp}.{body}".encode()
    made = hmac.digest(base64.b64decode(secret.removeprefix(PREFIX)), signed, "sha256")
    return f"v1,{base64.b64encode(made).decode()}"


def headers_of(delivery: Delivery, secret: str, *, at: datetime) -> Mapping[str, str]:
    """Return the headers by which a receiver knows that a delivery is from here, and new."""
    key, timestamp = str(delivery.key), int(at.timestamp())
    return {
        "Content-Type": "application/json",
        "User-Agent": f"Concord/{VERSION}",
        "webhook-id": key,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(secret, key=key, timestamp=timestamp, body=delivery.body),
    }
