"""Errors for programs, such as the pages' own scripts."""

from collections.abc import Callable
from functools import wraps

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse

from annotate.core.errors import DomainError, NotFoundError

View = Callable[..., HttpResponse]


def refusals_as_json(view: View) -> View:
    """Return every possible error of a save as JSON, so that the page can preserve the answer."""

    @wraps(view)
    def inner(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except Http404 as error:
            return error_as_json(NotFoundError(str(error)))
        except DomainError as error:
            return error_as_json(error)

    return inner


def error_as_json(error: DomainError) -> JsonResponse:
    """Return an error in the only shape of errors for programs."""
    return JsonResponse(error_content(error), status=error.status)


def error_content(error: DomainError) -> dict[str, object]:
    """Return the content of that shape, for one of several answers in a response."""
    return {"code": error.code, "message": error.message, "fields": error.fields}
