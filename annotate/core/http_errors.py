"""How pages tell programs, such as their own scripts, that something was refused."""

from collections.abc import Callable
from functools import wraps

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse

from annotate.core.errors import DomainError, NotFoundError

View = Callable[..., HttpResponse]


def refusals_as_json(view: View) -> View:
    """Tell in JSON everything that can go wrong with a save, so that the page can keep the answer."""

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
    """Return an error in the one shape that programs get errors in."""
    return JsonResponse(error_content(error), status=error.status)


def error_content(error: DomainError) -> dict[str, object]:
    """Return what that shape holds, for one of several answers in a reply."""
    return {"code": error.code, "message": error.message, "fields": error.fields}
