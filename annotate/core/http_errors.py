"""How pages tell programs, such as their own scripts, that something was refused."""

from django.http import JsonResponse

from annotate.core.errors import DomainError


def error_as_json(error: DomainError) -> JsonResponse:
    """Return an error in the one shape that programs get errors in."""
    return JsonResponse(error_content(error), status=error.status)


def error_content(error: DomainError) -> dict[str, object]:
    """Return what that shape holds, for one of several answers in a reply."""
    return {"code": error.code, "message": error.message, "fields": error.fields}
