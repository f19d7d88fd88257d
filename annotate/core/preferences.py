"""A person's preferences on every page: the language, and the attributes in base.html for the stylesheet."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language, gettext, gettext_noop

from annotate.core.access import memberships_of
from annotate.core.keys import keys_of, values_of
from annotate.core.models import Preferences, User
from annotate.core.page import READERS
from annotate.fastpath.queries import NUMBERS, Prepared

SENTENCES = (
    gettext_noop("Copied"),
    gettext_noop("More columns to the right →"),
    gettext_noop(
        "This was not saved; what you have typed is still here. "
        "Try again, or copy it and load this page again."
    ),
    gettext_noop(
        "There is no connection. This device keeps your answer and sends it when the connection is back."
    ),
    gettext_noop("Your answer to dispute {number} was received."),
    gettext_noop("Your answer to dispute {number} was not taken: {written}"),
    gettext_noop("Your message was received."),
    gettext_noop("You withdrew your answer."),
    gettext_noop("{key} was ignored: your last answer is being saved."),
    gettext_noop("{key} was ignored: this dispute has just appeared. Press it again."),
    gettext_noop("This is a folder: pack it as a zip file, then drop that."),
    gettext_noop("Drop one file at a time."),
    gettext_noop("Uploading {name}…"),
    gettext_noop("A passage is no longer evidence for {name}."),
    gettext_noop("Select words in the output or in the document first, or search for them."),
    gettext_noop("Marked as evidence for {name}."),
    gettext_noop("Show this passage: {passage}"),
    gettext_noop("Remove evidence: {passage}"),
    gettext_noop("{at} of {count}"),
    gettext_noop("{count} of {all}"),
    gettext_noop("complete"),
    gettext_noop("Select the words to mark in the text first."),
    gettext_noop("Remove: {span}"),
    gettext_noop("Category"),
    gettext_noop("Severity"),
    gettext_noop("This answer is not complete; give every part of it."),
    gettext_noop("none"),
    gettext_noop("Fold all"),
    gettext_noop("Unfold all"),
    gettext_noop(
        "There is no connection now. Your browser keeps your answers; the next item opens when "
        "the connection is back."
    ),
    gettext_noop("1 more line ↓"),
    gettext_noop("{count} more lines ↓"),
    gettext_noop("{name}: {value}."),
    gettext_noop("Undone. {name}: {value}."),
    gettext_noop("There is nothing to undo on this item."),
    gettext_noop("You have rated for 50 minutes. A short pause keeps your ratings steady."),
    gettext_noop("Cannot rate"),
    gettext_noop("Cannot rate: say why in a comment"),
    gettext_noop("Some dimensions have no answer yet. Continue again to leave them open."),
    gettext_noop("Rate every dimension; then you see the right values."),
    gettext_noop("{name} had been changed to {value} in another window; your {own} is saved now."),
    gettext_noop("answer"),
    gettext_noop("You gave a later answer, which counts: {name} is {value}."),
    gettext_noop("without a value"),
    gettext_noop("{name} was just changed to {value} in another window of yours."),
    gettext_noop("{count} waiting"),
    gettext_noop("{why}: {count} waiting"),
    gettext_noop("Not saved"),
    gettext_noop("Saved"),
    gettext_noop("Saving…"),
    gettext_noop("Not saved, no connection"),
    gettext_noop("Not saved, signed out"),
    gettext_noop("Not saved, trying again"),
    gettext_noop("This page is gone"),
    gettext_noop("{state}. This device keeps no copy: leave the page open"),
    gettext_noop(
        "{count} of your answers did not reach the server yet. They stay on this device; sign in "
        "again here to send them."
    ),
    gettext_noop("no value"),
    gettext_noop("Put away"),
    gettext_noop("You are signed out."),
    gettext_noop("Sign out"),
    gettext_noop("Sign in"),
    gettext_noop("Send again"),
    gettext_noop("Next item"),
    gettext_noop("unsure"),
    gettext_noop("Not stored"),
    gettext_noop("Not stored:"),
    gettext_noop("Copy the unsaved input"),
    gettext_noop("If something listed here still matters, copy it and send it to the project’s admins."),
    gettext_noop("You can go on rating: your answers are stored on this device until you sign in again."),
    gettext_noop("Your answers are stored on this device until you sign in again."),
)


def translated_sentences() -> dict[str, str]:
    """Return the translation of each message; empty for English, the language of the scripts."""
    language = get_language() or "en"
    return {} if language.startswith("en") else {each: gettext(each) for each in SENTENCES}


# A page has the reader's language if all of it is translated, else English: no page mixes languages.
# Translated are the pages of annotators and adjudicators, and everyone's own pages.

SIGN_IN_PAGES = "accounts/"  # the routes of django-allauth
OWN_PAGES = {
    *("address", "address_confirm", "digest_stop", "invitation", "join", "keys", "own_data", "preferences"),
    *("projects", "projects_moved", "session_end", "sessions", "sign_in_again", "signup_address"),
    *("token_revoke", "tokens"),
}
# In a project: English for its admins and researchers, whose navigation and overview are not translated.
RATER_PAGES = {
    *("acknowledge", "adjudicate", "dispute", "dispute_answer", "dispute_decide", "dispute_undo"),
    *("dispute_wording", "disputes", "guideline", "hold_items", "how_rating_works", "my_values", "my_work"),
    *("outside_end", "practice", "practice_again", "practice_feedback", "practice_item", "project", "rate"),
    *("rate_item", "rate_progress", "save_answers", "save_note", "save_practice_answer"),
    *("save_practice_answers", "save_rating"),
}


def _is_translated(request: HttpRequest) -> bool:
    """Return True if the page that answers this request is translated as a whole. Up to one query."""
    match = request.resolver_match
    if match is None or match.route.startswith(SIGN_IN_PAGES) or match.url_name in OWN_PAGES:
        return True
    if match.url_name not in RATER_PAGES:
        return False
    # Their frame around a rater's page would be English, and no page mixes languages.
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
        # Only pages follow the preference; their requests follow the cookie, without a query.
        chosen = kept
        if request.method == "GET" and request.user.is_authenticated:
            chosen = preferences_of(request.user).language
            request.COOKIES[settings.LANGUAGE_COOKIE_NAME] = chosen
        with translation.override(translation.get_language_from_request(request)):
            response = self.get_response(request)
            response.headers.setdefault("Content-Language", translation.get_language() or "")
        patch_vary_headers(response, ["Accept-Language"])
        if chosen and chosen != kept:
            response.set_cookie(settings.LANGUAGE_COOKIE_NAME, chosen, max_age=A_YEAR, samesite="Lax")
        elif kept and not chosen:
            response.delete_cookie(settings.LANGUAGE_COOKIE_NAME)
        return response

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        if translation.get_language() != settings.LANGUAGE_CODE and not _is_translated(request):
            translation.activate(settings.LANGUAGE_CODE)
