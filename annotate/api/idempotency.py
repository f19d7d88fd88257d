"""Idempotent writes: repeating a write with the same Idempotency-Key returns the first response and writes
nothing.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.core.errors import DomainError, InvalidValueError
from annotate.core.models import ApiToken, KeptAnswer

HEADER = "Idempotency-Key"
KEPT = timedelta(days=1)
KEY = r"[A-Za-z0-9_.:-]{1,200}"


class KeyUsedError(DomainError):
    """An Idempotency-Key that came with another request before."""

    code = "idempotency_key_used"


class ShownOnce(Response):
    """A response with a secret.

    The secret is stored nowhere, so the stored response does not have it either.
    """

    def __init__(self, data: Mapping[str, Any], *, secret: str, status: int = 200) -> None:
        super().__init__({**data, "secret": secret}, status=status)


@transaction.atomic
def done_once(request: Request, write: Callable[[], Response]) -> Response:
    """Run a write and store its response, or return the stored response to the same request of the last day.

    Both are one transaction. A second request blocks on the unique key until the first ends, and a rejected
    write stores nothing. Raises KeyUsedError for another request with the same key.
    """
    key = request.headers.get(HEADER)
    if key is None:
        return write()
    if not re.fullmatch(KEY, key):
        raise InvalidValueError(
            gettext("{header} has 1 to 200 letters, digits or any of _ . : -.").format(header=HEADER)
        )
    token = request.auth
    assert isinstance(token, ApiToken)
    KeptAnswer.objects.filter(at__lt=timezone.now() - KEPT).delete()
    sent = request._request
    address = f"{sent.method} {sent.get_full_path()}\n".encode()
    asked = hashlib.sha256(address + sent.body).hexdigest()
    kept, is_new = KeptAnswer.objects.select_for_update().get_or_create(
        token=token, key=key, defaults={"request": asked}
    )
    if is_new:
        answer = write()
        data = {**answer.data, "secret": ""} if isinstance(answer, ShownOnce) else answer.data
        kept.status, kept.content = answer.status_code, JSONRenderer().render(data).decode() or "null"
        kept.save(update_fields=["status", "content"])
        return answer
    if kept.request != asked:
        raise KeyUsedError(
            gettext(
                "This {header} came with another request within the last day; use a new key for each write."
            ).format(header=HEADER)
        )
    return Response(json.loads(kept.content), status=kept.status, headers={"Idempotent-Replayed": "true"})
