"""How pages tell programs, such as their own scripts, that something was refused."""

from django.http import JsonResponse

from annotate.errors import DomainError


def error_as_json(error: DomainError) -> JsonResponse:
    """Return an error in the one shape that programs get errors in."""
    content = {"code": error.code, "message": error.message, "fields": error.fields}
    return JsonResponse(content, status=error.status)
