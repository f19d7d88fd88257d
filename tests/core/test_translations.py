"""Every sentence of the interface can be translated, and German has every one that annotators meet."""

import gettext
import json
import re
from string import Formatter

import pytest
from django.test import Client

from annotate.core.preferences import SENTENCES
from annotate.people.commands import save_preferences
from tests.catalog import FOLDER, ROOT, german, sentences_of
from tests.factories import make_project
from tests.rating.rounds import opened

# What annotators meet; the rest of the interface can be translated as well.
FOR_ANNOTATORS = (
    "annotate/core/access.py",
    "annotate/core/errors.py",
    "annotate/core/models",
    "annotate/core/rendering",
    "annotate/core/preferences.py",
    "annotate/core/guidelines.py",
    "annotate/disputes/commands/disputes.py",
    "annotate/disputes/commands/digests.py::_send_nudge",
    "annotate/disputes/commands/digests.py::send_digest_message",
    "annotate/disputes/forms.py::AdjudicationForm",
    "annotate/disputes/forms.py::DisputeAnswerForm",
    "annotate/disputes/forms.py::DisputeFilterForm",
    "annotate/disputes/forms.py::SILENT",
    "annotate/disputes/forms.py::UndoForm",
    "annotate/disputes/queries/page.py",
    "annotate/people/commands.py::add_member",
    "annotate/people/commands.py::_refuse_closed",
    "annotate/people/commands.py::_refuse_last_admin",
    "annotate/people/commands.py::_take_membership",
    "annotate/people/accounts.py",
    "annotate/people/invitations.py",
    "annotate/people/commands.py::change_address",
    "annotate/people/commands.py::change_role",
    "annotate/people/forms.py::AddressForm",
    "annotate/people/forms.py::NewPassword",
    "annotate/people/forms.py::PreferencesForm",
    "annotate/people/forms.py::SignupForm",
    "annotate/people/mails.py",
    "annotate/people/outside.py",
    "annotate/people/views/sign_in.py",
    "annotate/people/factor_secrets.py",
    "annotate/people/sessions.py",
    "annotate/people/views/account.py::address_confirm",
    "annotate/people/views/account.py::session_end",
    "annotate/people/views/account.py::sessions",
    "annotate/people/views/outside.py::end",
    "annotate/people/views/outside.py::join",
    "annotate/people/views/account.py",
    "annotate/quality/commands.py::STANDS",
    *(
        f"annotate/questions/{each}.py"
        for each in ("labels", "parts", "preference", "ranking", "spans", "text")
    ),
    "annotate/questions/kind.py::refuse_data",
    "templates/questions",
    "annotate/quality/commands.py::_save_practice_answer",
    "annotate/quality/commands.py::save_practice",
    "annotate/quality/commands.py::set_practice_bar",
    "annotate/quality/commands.py::settle_practice_item",
    "annotate/quality/views.py::_practice_item",
    "annotate/quality/views.py::_read_answer",
    "annotate/rating/commands/ratings.py",
    "annotate/rating/forms.py::AnswerForm",
    "annotate/rating/forms.py::NO_EVIDENCE",
    "annotate/rating/forms.py::sent_answers",
    "annotate/rating/views.py::_assignment_at",
    "annotate/rating/views.py::_dimension",
    "annotate/rating/views.py::_rateable",
    "annotate/rating/views.py::rate_item",
    "annotate/rating/views.py::rate_progress",
    "templates/403.html",
    "templates/403_csrf.html",
    "templates/404.html",
    "templates/500.html",
    "templates/account",
    "templates/base.html",
    "templates/disputes/_answer_buttons.html",
    "templates/disputes/_answered.html",
    "templates/disputes/_axis.html",
    "templates/disputes/_held.html",
    "templates/disputes/_keep.html",
    "templates/disputes/_list.html",
    "templates/disputes/_marked.html",
    "templates/disputes/_news.html",
    "templates/disputes/_not_kept.html",
    "templates/disputes/_nudge.html",
    "templates/disputes/_refusal.html",
    "templates/disputes/_signed_out.html",
    "templates/disputes/_standpoints.html",
    "templates/disputes/_state.html",
    "templates/disputes/_thread.html",
    "templates/disputes/all.html",
    "templates/disputes/digest_stop.html",
    "templates/disputes/dispute.html",
    "templates/disputes/rules.html",
    "templates/disputes/work_list.html",
    "templates/mfa",
    "templates/parts",
    "templates/people/address.html",
    "templates/people/address_confirm.html",
    "templates/people/address_sent.html",
    "templates/people/address_unusable.html",
    "templates/people/invitation.html",
    "templates/people/invitation_unusable.html",
    "templates/people/join.html",
    "templates/people/keys.html",
    "templates/people/outside_end.html",
    "templates/people/preferences.html",
    "templates/people/single_sign_on_refused.html",
    "templates/people/sessions.html",
    "templates/people/signup_address.html",
    "templates/people/tokens.html",
    "templates/quality/_feedback.html",
    "templates/quality/_lesson.html",
    "templates/quality/_practice_progress.html",
    "templates/quality/_practice_summary.html",
    "templates/quality/practice_end.html",
    "templates/rating/_calibration.html",
    "templates/rating/_not_applicable.html",
    "templates/rating/_progress.html",
    "templates/rating/_rows.html",
    "templates/rating/_signed_out.html",
    "templates/rating/ahead.html",
    "templates/rating/guideline.html",
    "templates/rating/how_rating_works.html",
    "templates/rating/item.html",
    "templates/rating/my_values.html",
    "templates/rating/my_work.html",
    "templates/rating/nothing_to_rate.html",
    "templates/socialaccount",
    "templates/watching/_deadline.html",
    "templates/watching/projects.html",
    "templates/watching/_due.html",
    "templates/watching/_own_work.html",
    "templates/watching/project.html",
)
TAGS = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
TRANSLATED = re.compile(r"\{% blocktranslate.*?\{% endblocktranslate %\}", re.DOTALL)
UNREAD = re.compile(
    r"\{% block \w+_class %\}.*?\{% endblock %\}|<!--.*?-->|<(code|script|style)\b.*?</\1>", re.DOTALL
)
SPOKEN = re.compile(r'(?<![\w-])(?:aria-label|title|placeholder|alt|data-confirm)="([^"]*)"')
ATTRIBUTES_ONLY = {"root.html"}
FOR_DEVELOPERS = {"styleguide.html"}
NAMES = re.compile(r"\bConcord\b|\bRTS\b|\bMCQ\b|&\w+;")
PLACEHOLDER = re.compile(r"%\(\w+\)s")


def test_every_annotator_message_has_a_german_translation() -> None:
    missing = {text: where for text, where in sentences_of(*FOR_ANNOTATORS).items() if not all_said(text)}
    assert not missing


def all_said(text: str) -> bool:
    return bool(german().get(text)) and all(german()[text])


def test_compiled_catalog_matches_the_readable_one() -> None:
    with (FOLDER / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for text, translations in german().items():
        if not text or not all(translations):
            continue
        if len(translations) == 1:
            assert compiled.gettext(text) == translations[0]
        else:
            assert [compiled.ngettext(text, text, count) for count in (1, 2)] == translations


def test_translation_keeps_the_placeholders() -> None:
    for text, translations in german().items():
        for translation in filter(None, translations):
            kept, all_placeholders = (set(PLACEHOLDER.findall(each)) for each in (translation, text))
            assert kept == all_placeholders if len(translations) == 1 else kept <= all_placeholders, (
                translation
            )
            if "{" in text:
                assert names_in(translation) == names_in(text), translation


def names_in(text: str) -> set[str | None]:
    return {name for _, name, _, _ in Formatter().parse(text)} - {None}


def test_no_template_says_anything_outside_translate_tags() -> None:
    pages = [
        page
        for page in (ROOT / "templates").rglob("*.html")
        if page.name not in ATTRIBUTES_ONLY | FOR_DEVELOPERS
    ]
    said = {str(page.relative_to(ROOT)): untranslated(page.read_text()) for page in pages}
    assert not {page: words for page, words in said.items() if words}


def untranslated(source: str) -> list[str]:
    """Return the words of a template that stand in a page, or are spoken, and no translate tag holds.

    What is taken away first: blocktranslate with its content, classes, comments, code, scripts; then all
    other tags of the template language. Two letters side by side that are left in the text, or in an
    attribute that is read out or shown, are words.
    """
    bare = TAGS.sub(" ", TRANSLATED.sub(" ", UNREAD.sub(" ", source)))
    text = re.sub(r"<[^<>]*>", " ", bare)
    words = [text, *SPOKEN.findall(bare)]
    return [word for part in words for word in re.findall(r"[^\W\d_]{2,}", NAMES.sub(" ", part))]


def test_rule_detects_visible_strings_and_spoken_attributes() -> None:
    assert untranslated('<p class="soft">{{ name }} waits</p>') == ["waits"]
    assert untranslated('<nav aria-label="Pages">{% translate "Next" %}</nav>') == ["Pages"]
    assert not untranslated(
        "<p title=\"{% translate 'Now' %}\">{% if a %}{{ b }}{% endif %} <code>ls</code></p>"
    )


def test_what_scripts_say_can_be_translated() -> None:
    said = {
        json.loads(literal)
        for script in (ROOT / "static").glob("*.js")
        for literal in re.findall(r'\bsay\(("(?:[^"\\]|\\.)*")', script.read_text())
    }
    assert said == set(SENTENCES)


@pytest.mark.django_db
def test_an_annotator_reads_and_rates_in_german_and_values_keep_their_form() -> None:
    cast = make_project()
    opened(cast)
    user = cast.annotators[0].user
    assert user
    client = Client()
    client.force_login(user)
    client.get(f"/projects/{cast.project.slug}/rate/")
    address = f"/projects/{cast.project.slug}/rate/1/"
    english = client.get(address).content.decode()
    save_preferences(user=user, language="de")
    page = client.get(address).content.decode()
    assert "✕ nicht bewertbar" in page
    assert "✕ cannot rate" in english
    assert "✕ cannot rate" not in page
    assert re.findall(r'value="([\d.,]+)"', page) == re.findall(r'value="([\d.,]+)"', english)
    assert re.findall(r'data-key="(\d)"', page) == re.findall(r'data-key="(\d)"', english)
    refused = client.post(f"{address}fluency/", {"value": "9", "revision": "0"})
    assert refused.json()["message"].startswith("Diese Antwort stammt von jemand anderem")
