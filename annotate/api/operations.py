"""Operations of the API: scope, request, response, and their entries in the schema."""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from functools import wraps
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ParseError
from rest_framework.fields import empty
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotate.api.errors import ErrorAnswer
from annotate.api.permissions import HasScope, TokenAuthentication, TokenThrottle
from annotate.core.errors import DomainError, InvalidValueError
from annotate.core.models import ApiToken, KeptAnswer
from annotate.core.strings import read_number

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
    # First, so that a key that is older than a day can be used again.
    KeptAnswer.objects.filter(at__lt=timezone.now() - KEPT).delete()
    sent = request._request
    # The same key with another method, path or body is another request.
    address = f"{sent.method} {sent.get_full_path()}\n".encode()
    asked = hashlib.sha256(address + sent.body).hexdigest()
    kept, is_new = KeptAnswer.objects.select_for_update().get_or_create(
        token=token, key=key, defaults={"request": asked}
    )
    if is_new:
        answer = write()
        # No table stores a secret, so a repeated request gets the response without it.
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


LARGEST_KEY = 2**63 - 1


class PageFilter(serializers.Serializer[Any]):
    """The requested part of a list."""

    cursor = serializers.CharField(required=False, help_text="From the `next` or `previous` of another page.")
    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=500, help_text="Rows on a page; 100 where it is not given."
    )


class CursorPages(CursorPagination):
    """Pages of rows in the order of their keys; a URL stays correct while rows are added or deleted."""

    ordering = "pk"
    page_size = 100
    page_size_query_param = "limit"
    max_page_size = 500

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Return the cursor. Answers 404 for an invalid one."""
        cursor = super().decode_cursor(request)
        # Clients can change a cursor: a position beyond its column would make the query fail.
        if cursor and cursor.position is not None and read_number(str(cursor.position)) is None:
            raise NotFound(self.invalid_cursor_message)
        return cursor


def page_of(rows: type[serializers.BaseSerializer[Any]]) -> type[serializers.Serializer[Any]]:
    fields = {
        "next": serializers.CharField(allow_null=True, help_text="The address of the next page."),
        "previous": serializers.CharField(allow_null=True, help_text="The address of the page before."),
        "results": rows(many=True),
        "__doc__": f"A page of {rows.__name__}.",
    }
    return type(f"{rows.__name__}Page", (serializers.Serializer,), fields)


Serializer = serializers.BaseSerializer[Any]
Handler = Callable[..., Any]
Decorator = Callable[[Handler], Handler]
Shape = TypeVar("Shape", bound=Serializer)

READ_ERRORS = (401, 403, 404, 406, 429)
WRITE_ERRORS = (400, 409, 410, 413, 415, 422)
IDEMPOTENCY_KEY = OpenApiParameter(
    HEADER,
    {"type": "string", "pattern": f"^{KEY}$"},
    OpenApiParameter.HEADER,
    description="The same request again and key within a day is answered the same and does nothing.",
)


class StrictJSONParser(JSONParser):
    """Parses JSON. JSON that is nested too deeply to be read is invalid."""

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().parse(*args, **kwargs)
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None


class ApiView(APIView):
    """A view of the API. It requires a token with a scope and accepts only JSON."""

    about = ""
    steps: Collection[str] = ()  # values of `step`, if its URL has one
    authentication_classes = (TokenAuthentication,)
    permission_classes = (HasScope,)
    throttle_classes = (TokenThrottle,)
    parser_classes = (StrictJSONParser,)
    metadata_class = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the token and the step; then read the body, which Django rejects if it is too large."""
        super().initial(request, *args, **kwargs)
        if self.steps and kwargs["step"] not in self.steps:
            names = ", ".join(self.steps)
            raise Http404(gettext("There is no such step; there are {names}.").format(names=names))
        _ = request._request.body

    def check(self, shape: type[Shape], *, standing: Mapping[str, Any] | None = None, **context: Any) -> Any:
        """Return the checked body. Raises ValidationError with a message for each field.

        standing: present values. A change preserves them; a new row would get defaults.
        """
        given: Any = shape(data=self.request.data, context=context)
        given.is_valid(raise_exception=True)
        # A field with a default would overwrite the present value where the body omits it.
        kept = {
            name: value
            for name, value in (standing or {}).items()
            if name not in given.initial_data
            and name in given.fields
            and given.fields[name].default is not empty
        }
        return {**given.validated_data, **kept} if kept else given.validated_data

    def filters(self, shape: type[Shape]) -> dict[str, Any]:
        given = shape(data=self.request.query_params.dict())
        given.is_valid(raise_exception=True)
        return dict(given.validated_data)

    def page(
        self, rows: "QuerySet[Any, Any]", shape: type[Shape], *, by: str = "pk", **context: Any
    ) -> Response:
        """Return the requested page of rows, ordered by a column of whole numbers."""
        self.filters(PageFilter)
        pages = CursorPages()
        pages.ordering = by
        found = pages.paginate_queryset(rows, self.request, self)
        return pages.get_paginated_response(shape(found, many=True, context=context).data)


def reads(
    answer: type[Serializer],
    *,
    filters: Iterable[type[Serializer]] = (),
    paged: bool = False,
    many: bool = False,
    scopes: tuple[str, ...] = ("read",),
) -> Decorator:
    """Make a method a reading operation. The first line of its docstring is the schema's description."""
    shown = page_of(answer) if paged else answer(many=True) if many else answer
    parameters = [*filters, *([PageFilter] if paged else [])]
    errors = (*READ_ERRORS, *((422,) if parameters else ()))
    return operation({200: shown}, errors, scopes=scopes, parameters=parameters, request=None)


def writes(
    answer: Serializer | type[Serializer] | None,
    *,
    accepts: type[Serializer] | None = None,
    status: int = 200,
    scopes: tuple[str, ...] = ("write",),
) -> Decorator:
    """Make a method a writing operation, which runs once for each Idempotency-Key."""

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def once(view: ApiView, request: Request, *args: Any, **kwargs: Any) -> Response:
            return done_once(request, lambda: handler(view, request, *args, **kwargs))

        described = operation(
            {status: answer},
            (*READ_ERRORS, *WRITE_ERRORS),
            scopes=scopes,
            parameters=[IDEMPOTENCY_KEY],
            request=accepts,
        )
        return described(once)

    return decorate


def operation(
    answers: Mapping[Any, Any], errors: Iterable[int], *, scopes: tuple[str, ...], **how: Any
) -> Decorator:
    """Make a method an operation with these responses and errors. Most operations use `reads` or `writes`."""

    def decorate(handler: Handler) -> Handler:
        summary, _, rest = (handler.__doc__ or "").strip().partition("\n")
        needed = f"Needs the scope {' or '.join(scopes)}." if scopes else ""
        handler.scopes = scopes  # type: ignore[attr-defined]
        described: Handler = extend_schema(
            summary=summary,
            description=f"{' '.join(rest.split())} {needed}".strip(),
            responses={**answers, **dict.fromkeys(errors, ErrorAnswer)},
            **how,
        )(handler)
        return described

    return decorate
