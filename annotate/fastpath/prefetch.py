"""Who sends a request, and what it is about: read in one round trip to the database instead of three."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse

from annotate.fastpath import is_off
from annotate.fastpath.queries import Prepared, Value, prefetch_queries
from annotate.fastpath.sessions import SESSION, likely_holder

View = Callable[..., HttpResponse]
Question = tuple[Prepared[Any], tuple[Value, ...]]


def prefetch_request(questions: Callable[..., tuple[Question, ...]]) -> Callable[[View], View]:
    """Ask these questions together with the session, where this process has seen whose session it is.

    questions: given the likely holder's key and the view's arguments, what the view is going to ask.

    Whether the session lasts, whose it is, and what that person may do is decided as everywhere, by the rows
    that are found; where it is someone else's by now, they are asked for again, for that person.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def inner(request: HttpRequest, **arguments: Any) -> HttpResponse:
            key = request.session.session_key or ""
            holder = None if is_off() else likely_holder(key)
            # The first request of a session in this process asks one by one, and so learns whose session it
            # is.
            if holder is None:
                return view(request, **arguments)
            # Rows are found again only by the same question with the same values, each once. So a wrong
            # guess costs rows that nobody asks for, and what is read again after a write is read anew.
            with prefetch_queries((SESSION, (key,)), *questions(holder, **arguments)):
                return view(request, **arguments)

        return inner

    return decorate
