"""The sender of a request and its subject, read in one round trip to the database instead of three."""

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
    """Send these questions together with the session query, if this process has seen the owner of the
    session.

    questions: gets the likely owner's key and the view's arguments; returns the view's likely queries.

    The usual code decides on the session's validity, its owner and the owner's rights, from the rows found.
    If the session now belongs to another person, the queries run again for that person.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def inner(request: HttpRequest, **arguments: Any) -> HttpResponse:
            key = request.session.session_key or ""
            holder = None if is_off() else likely_holder(key)
            # The first request of a session in this process sends the queries individually, and so learns the
            # owner.
            if holder is None:
                return view(request, **arguments)
            # Only the same question with the same values finds the rows, each once. So a wrong guess costs
            # unused rows, and reading after a write reads again.
            with prefetch_queries((SESSION, (key,)), *questions(holder, **arguments)):
                return view(request, **arguments)

        return inner

    return decorate
