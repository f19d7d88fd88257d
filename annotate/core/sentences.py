"""Messages of the pages' own scripts, for translation. In the scripts they are `say("...")`."""

from django.utils.translation import get_language, gettext, gettext_noop

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
