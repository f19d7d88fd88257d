"""Every sentence of the interface can be translated, and German has every one that annotators meet."""

import gettext
import json
import re
from string import Formatter

import pytest
from django.test import Client

from annotate.commands.preferences import save_preferences
from annotate.sentences import SENTENCES
from tests.annotate.rounds import opened
from tests.catalog import FOLDER, ROOT, german, sentences_of
from tests.factories import make_project

# What annotators meet; the rest of the interface can be translated as well.
FOR_ANNOTATORS = (
    *(f"templates/{each}" for each in ("account", "base.html", "disputes", "parts", "practice", "rating")),
    *(f"templates/{each}" for each in ("403.html", "403_csrf.html", "404.html", "500.html")),
    *(f"templates/projects/{each}.html" for each in ("list", "project", "_own_work", "_due", "_deadline")),
    *(f"templates/people/{each}.html" for each in ("invitation", "invitation_unusable")),
    *("annotate/sentences.py", "annotate/access.py", "annotate/invitations.py", "annotate/models"),
    *("annotate/invitation_mail.py", "annotate/nudge_mail.py", "annotate/queries/dispute_page.py"),
    *(f"annotate/commands/{each}.py" for each in ("ratings", "disputes", "practice", "notes", "people")),
    *(f"annotate/forms/{each}.py" for each in ("ratings", "disputes", "practice", "accounts", "preferences")),
    *(f"annotate/views/{each}.py" for each in ("rating", "disputes", "practice", "page", "preferences")),
)
TAGS = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
TRANSLATED = re.compile(r"\{% blocktranslate.*?\{% endblocktranslate %\}", re.DOTALL)
UNREAD = re.compile(
    r"\{% block \w+_class %\}.*?\{% endblock %\}|<!--.*?-->|<(code|script|style)\b.*?</\1>", re.DOTALL
)
SPOKEN = re.compile(r'(?<![\w-])(?:aria-label|title|placeholder|alt|data-confirm)="([^"]*)"')
ATTRIBUTES_ONLY = {"root.html"}
NAMES = re.compile(r"\bConcord\b|\bRTS\b|\bMCQ\b|&\w+;")
PLACEHOLDER = re.compile(r"%\(\w+\)s")


def test_every_sentence_that_annotators_meet_is_there_in_german() -> None:
    missing = {text: where for text, where in sentences_of(*FOR_ANNOTATORS).items() if not all_said(text)}
    assert not missing


def all_said(text: str) -> bool:
    return bool(german().get(text)) and all(german()[text])


def test_the_compiled_catalog_says_what_the_readable_one_says() -> None:
    with (FOLDER / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for text, translations in german().items():
        if not text or not all(translations):
            continue
        if len(translations) == 1:
            assert compiled.gettext(text) == translations[0]
        else:
            assert [compiled.ngettext(text, text, count) for count in (1, 2)] == translations


def test_a_translation_keeps_the_places_of_what_is_filled_in() -> None:
    for text, translations in german().items():
        for translation in filter(None, translations):
            assert set(PLACEHOLDER.findall(translation)) <= set(PLACEHOLDER.findall(text)), translation
            if "{" in text:
                assert names_in(translation) == names_in(text), translation


def names_in(text: str) -> set[str | None]:
    return {name for _, name, _, _ in Formatter().parse(text)} - {None}


def test_no_template_says_anything_outside_translate_tags() -> None:
    pages = [page for page in (ROOT / "templates").rglob("*.html") if page.name not in ATTRIBUTES_ONLY]
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


def test_the_rule_finds_text_and_spoken_attributes() -> None:
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
