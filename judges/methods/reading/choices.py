"""The option that a reply chooses."""

from judges.methods.reading.choice_forms import Choices, forms_of
from judges.methods.reading.reader import position, read, read_json
from judges.methods.readings import Reading

__all__ = ["Choices", "choice_position", "read_choice", "read_json_choice"]


def read_choice(reply: str, choices: Choices) -> Reading:
    """Return the value of the option that a reply chooses, and its reasons."""
    return read(reply, forms_of(choices))


def read_json_choice(reply: str, choices: Choices) -> Reading:
    """Return the value of the option that a JSON reply chooses."""
    return read_json(reply, forms_of(choices))


def choice_position(reply: str, choices: Choices) -> int | None:
    """Return where the choice begins."""
    return position(reply, forms_of(choices))
