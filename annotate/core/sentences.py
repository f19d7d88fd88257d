"""Sentences that the pages' own scripts say: each is in a script as `say("...")`, here to translate."""

from django.utils.translation import get_language, gettext, gettext_noop

SENTENCES = (
    gettext_noop("Copied"),
    gettext_noop(
        "This was not saved; what you have typed is still here. "
        "Try again, or copy it and load this page again."
    ),
    gettext_noop(
        "There is no connection. Your answer is kept on this device and sent when the connection is back."
    ),
    gettext_noop("Your answer to dispute {number} is sent."),
    gettext_noop("Your answer to dispute {number} was not taken: {written}"),
    gettext_noop("Your message is sent."),
    gettext_noop("Your answer is taken back."),
    gettext_noop("This is a folder: pack it as a zip file, then drop that."),
    gettext_noop("Drop one file at a time."),
    gettext_noop("Uploading {name}…"),
    gettext_noop("A passage is no longer evidence for {name}."),
    gettext_noop("Select words in the text or in the document first, or find them."),
    gettext_noop("Marked as evidence for {name}."),
    gettext_noop("Show this passage: {passage}"),
    gettext_noop("Remove evidence: {passage}"),
    gettext_noop("{at} of {count}"),
    gettext_noop("none"),
    gettext_noop("Fold all"),
    gettext_noop("Unfold all"),
    gettext_noop(
        "There is no connection now. Your answers are kept; the next item opens when the connection is back."
    ),
    gettext_noop("Cannot rate"),
    gettext_noop("Cannot rate: say why in a comment"),
    gettext_noop("Some dimensions have no answer yet. Continue again to leave them open."),
    gettext_noop("Rate every dimension; then you see what is right."),
    gettext_noop("{name} had been changed to {value} in another window; your {own} is saved now."),
    gettext_noop("answer"),
    gettext_noop("You gave a later answer, which is kept: {name} is {value}."),
    gettext_noop("without a value"),
    gettext_noop("{name} was just changed to {value} in another window of yours."),
    gettext_noop("{count} waiting"),
    gettext_noop("{why}: {count} waiting"),
    gettext_noop("Not saved: {message}"),
    gettext_noop("Not saved"),
    gettext_noop("Saved"),
    gettext_noop("Saving…"),
    gettext_noop("Not saved, no connection"),
    gettext_noop("Not saved, signed out"),
    gettext_noop("Not saved, trying again"),
    gettext_noop(", and not kept on this device: leave the page open"),
    gettext_noop(
        "{count} of your answers did not reach the server yet. "
        "They stay on this device and are sent when you sign in again here."
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
    gettext_noop("Copy what was not stored"),
    gettext_noop("If something listed here still matters, copy it and send it to the project’s admins."),
    gettext_noop("You can go on rating: your answers are stored on this device until you sign in again."),
    gettext_noop("Your answers are stored on this device until you sign in again."),
)


def translated_sentences() -> dict[str, str]:
    """Return each sentence with its translation; nothing in English, in which the scripts have them."""
    language = get_language() or "en"
    return {} if language.startswith("en") else {each: gettext(each) for each in SENTENCES}
