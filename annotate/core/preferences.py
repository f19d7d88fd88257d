"""A person's preferences on every page: the language, and the attributes in base.html for the stylesheet."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

from annotate.core.access import memberships_of
from annotate.core.keys import keys_of, values_of
from annotate.core.models import Preferences, User
from annotate.core.navigation import READERS
from annotate.core.sentences import translated_sentences
from annotate.fastpath.queries import NUMBERS, Prepared

# A page has the reader's language if all of it is translated, else English: no page mixes languages.
# Translated are the pages of annotators and adjudicators, and everyone's own pages.

SIGN_IN_PAGES = "accounts/"  # the routes of django-allauth
OWN_PAGES = frozenset(
    {
        "address",
        "address_confirm",
        "digest_stop",
        "invitation",
        "join",
        "keys",
        "own_data",
        "preferences",
        "projects",
        "projects_moved",
        "session_end",
        "sessions",
        "sign_in_again",
        "signup_address",
        "token_revoke",
        "tokens",
    }
)
# In a project: English for its admins and researchers, whose navigation and overview are not translated.
RATER_PAGES = frozenset(
    {
        "acknowledge",
        "adjudicate",
        "dispute",
        "dispute_answer",
        "dispute_decide",
        "dispute_undo",
        "dispute_wording",
        "disputes",
        "guideline",
        "hold_items",
        "how_rating_works",
        "my_values",
        "my_work",
        "outside_end",
        "practice",
        "practice_again",
        "practice_feedback",
        "practice_item",
        "project",
        "rate",
        "rate_item",
        "rate_progress",
        "save_answers",
        "save_note",
        "save_practice_answer",
        "save_practice_answers",
        "save_rating",
    }
)


def use_english_unless_translated(request: HttpRequest) -> None:
    """Activate English if the page that answers this request is not translated as a whole.

    One query, for the pages of raters in another language than English.
    """
    if translation.get_language() != settings.LANGUAGE_CODE and not _is_translated(request):
        translation.activate(settings.LANGUAGE_CODE)


def _is_translated(request: HttpRequest) -> bool:
    match = request.resolver_match
    if match is None or match.route.startswith(SIGN_IN_PAGES) or match.url_name in OWN_PAGES:
        return True
    if match.url_name not in RATER_PAGES:
        return False
    readers = memberships_of(request.user).filter(project__slug=match.kwargs.get("slug"), role__in=READERS)
    return not readers.exists()


A_YEAR = 60 * 60 * 24 * 365  # seconds
# Every request reads the person with the preferences.
PERSON = Prepared(
    lambda key: User.objects.select_related("preferences").defer("date_joined", "last_login").filter(pk=key),
    NUMBERS[0],
)


def preferences_of(user: Any) -> Preferences:
    """Return this person's preferences, loaded with the account, or the defaults. No query."""
    return getattr(user, "preferences", None) or Preferences()


def key_map_of(user: Any) -> dict[str, object]:
    """Return this person's keys for the rating page. No query."""
    chosen = preferences_of(user)
    return {
        "values": values_of(chosen.own_keys),
        "keys": keys_of(chosen.key_set, chosen.own_keys),
        "advance": chosen.goes_on,
    }


def preferences(request: HttpRequest) -> dict[str, Any]:
    return {
        "preferences": preferences_of(getattr(request, "user", None)),
        "language": translation.get_language(),
        "sentences": translated_sentences,
    }


class LanguageMiddleware:
    """Answers in the language that the person chose, else in one that the browser asks for.

    Pages that are not translated as a whole are English (see `annotate.core.preferences`).
    A page's language is kept in a cookie, which the door and whatever a page sends follow: a save need not
    ask what its sender prefers.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
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
        use_english_unless_translated(request)


def keep_language(response: HttpResponse, chosen: str, kept: str) -> None:
    if chosen and chosen != kept:
        response.set_cookie(settings.LANGUAGE_COOKIE_NAME, chosen, max_age=A_YEAR, samesite="Lax")
    elif kept and not chosen:
        response.delete_cookie(settings.LANGUAGE_COOKIE_NAME)
