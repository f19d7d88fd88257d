"""A person's preferences on every page: its language, and what base.html says to the stylesheet."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

from annotate.core.keys import keys_of, values_of
from annotate.core.languages import use_english_unless_translated
from annotate.core.models import Preferences, User
from annotate.core.sentences import translated_sentences
from annotate.fastpath.queries import NUMBERS, Prepared

A_YEAR = 60 * 60 * 24 * 365  # seconds
# Every request reads the person with what they prefer.
PERSON = Prepared(
    lambda key: User.objects.select_related("preferences").defer("date_joined", "last_login").filter(pk=key),
    NUMBERS[0],
)


def preferences_of(user: Any) -> Preferences:
    """Return what this person chose, which came with the account, or the defaults. No query."""
    return getattr(user, "preferences", None) or Preferences()


def key_map_of(user: Any) -> dict[str, object]:
    """Return what the rating page is told of this person's keys. No query."""
    chosen = preferences_of(user)
    return {
        "values": values_of(chosen.own_keys),
        "keys": keys_of(chosen.key_set, chosen.own_keys),
        "advance": chosen.goes_on,
    }


def preferences(request: HttpRequest) -> dict[str, Any]:
    """Give every template what the person who looks at it chose."""
    return {
        "preferences": preferences_of(getattr(request, "user", None)),
        "language": translation.get_language(),
        "sentences": translated_sentences,
    }


class LanguageMiddleware:
    """Answers in the language that the person chose, else in one that the browser asks for.

    Pages that are not translated as a whole are English (see `annotate.core.languages`).
    A page's language is kept in a cookie, which the door and whatever a page sends follow: a save need not
    ask what its sender prefers.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        kept = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
        chosen = kept
        if request.method == "GET" and request.user.is_authenticated:
            chosen = preferences_of(request.user).language
            request.COOKIES[settings.LANGUAGE_COOKIE_NAME] = chosen
        with translation.override(translation.get_language_from_request(request)):
            response = self.get_response(request)
            response.headers.setdefault("Content-Language", translation.get_language() or "")
        patch_vary_headers(response, ["Accept-Language"])
        keep_language(response, chosen, kept)
        return response

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        """Choose English for a page that is not translated as a whole."""
        use_english_unless_translated(request)


def keep_language(response: HttpResponse, chosen: str, kept: str) -> None:
    """Let the browser remember a language, or forget the one it remembers."""
    if chosen and chosen != kept:
        response.set_cookie(settings.LANGUAGE_COOKIE_NAME, chosen, max_age=A_YEAR, samesite="Lax")
    elif kept and not chosen:
        response.delete_cookie(settings.LANGUAGE_COOKIE_NAME)
