"""Who sends an answer, and for which place: read in one journey to the database instead of three."""

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse

from annotate.access import PLACES
from annotate.accounts import PERSON
from annotate.queries.prepared import asked_ahead
from annotate.sessions import SESSION, likely_holder

View = Callable[..., HttpResponse]


def sender_read_at_once(view: View) -> View:
    """Ask for session, person and place together, where this process has seen whose session it is.

    Whether the session lasts, whose it is, and what that person may do is decided as everywhere, by the rows
    that are found; where it is someone else's by now, they are asked for again.
    """

    @wraps(view)
    def inner(request: HttpRequest, slug: str, position: int, **rest: str) -> HttpResponse:
        key = request.session.session_key or ""
        holder = likely_holder(key)
        if holder is None:
            return view(request, slug, position, **rest)
        with asked_ahead((SESSION, (key,)), (PERSON, (holder,)), (PLACES, (holder, slug, position))):
            return view(request, slug, position, **rest)

    return inner
