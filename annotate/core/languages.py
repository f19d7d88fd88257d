"""The language of a page: the reader's own if all of the page is translated, else English.

Translations are complete for what annotators and adjudicators see, and for everyone's own pages. A page of
admins and researchers is English in every browser, until theirs are complete too: no page mixes languages.
"""

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation

from annotate.core.access import places_of
from annotate.core.navigation import READERS

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
    readers = places_of(request.user).filter(project__slug=match.kwargs.get("slug"), role__in=READERS)
    return not readers.exists()
