"""The shape of every API error: a code for programs, a message for people, and the fields."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import Http404
from rest_framework import exceptions, serializers
from rest_framework.response import Response
from rest_framework.views import set_rollback

from annotate.core.errors import DomainError

TOO_LARGE = "The request is larger than 5 MiB. Send it in parts, or upload a file on the page “Import”."
CODES: dict[type[exceptions.APIException], str] = {
    exceptions.NotAuthenticated: "signed_out",
    exceptions.AuthenticationFailed: "token_unusable",
    exceptions.PermissionDenied: "forbidden",
    exceptions.NotFound: "not_found",
    exceptions.MethodNotAllowed: "method_not_allowed",
    exceptions.NotAcceptable: "not_acceptable",
    exceptions.UnsupportedMediaType: "not_json",
    exceptions.ParseError: "not_json",
    exceptions.Throttled: "too_many_requests",
}


class ErrorAnswer(serializers.Serializer[Any]):
    """The shape of every error."""

    code = serializers.CharField(help_text="For programs; it never changes.")
    message = serializers.CharField(help_text="What happened and what to do next.")
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.CharField(), help_text="Sentences by the field that they are about."
    )


def error_answer(error: Exception, _context: dict[str, Any]) -> Response | None:
    """Return the response for an error; None if the error is a fault of Concord."""
    described = _describe_error(error)
    if described is None:
        return None
    set_rollback()
    status, code, message, fields = described
    headers = {}
    # HTTP requires the header with 401; a throttled program learns how long to wait.
    if isinstance(error, exceptions.APIException) and (challenge := getattr(error, "auth_header", None)):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = f"{wait:.0f}"
    return Response({"code": code, "message": message, "fields": fields}, status=status, headers=headers)


def _describe_error(error: Exception) -> tuple[int, str, str, dict[str, str]] | None:
    match error:
        case DomainError():
            return error.status, error.code, error.message, error.fields
        case Http404():
            return 404, "not_found", str(error) or "There is no such thing here.", {}
        case PermissionDenied():
            return 403, "forbidden", str(error) or "You may not do this.", {}
        case RequestDataTooBig():
            return 413, "too_large", TOO_LARGE, {}
        case exceptions.ValidationError():
            fields = dict(_sentences(error.detail))
            field, sentence = next(iter(fields.items()))
            return 422, "invalid_value", f"{field}: {sentence}" if field else sentence, fields
        case exceptions.APIException():
            return error.status_code, CODES.get(type(error), "refused"), str(error.detail), {}
    return None


def _sentences(detail: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the first message about each field. A field within another is `outer.inner`."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            own = "" if name == "non_field_errors" else str(name)
            yield from _sentences(inner, ".".join(part for part in (path, own) if part))
    elif isinstance(detail, list) and any(isinstance(each, dict | list) for each in detail):
        for number, inner in enumerate(detail):
            yield from _sentences(inner, f"{path}.{number}" if path else str(number))
    elif detail:
        yield path, str(detail[0] if isinstance(detail, list) else detail)
