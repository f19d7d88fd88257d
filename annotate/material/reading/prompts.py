"""Common forms of data sets with prompts and outputs; the importer recognises them by their contents.

Turns are a list of messages, {role, content} or {from, value}, in JSON files or as JSON in a cell.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from annotate.core.translation import gettext, gettext_noop
from annotate.material.reading.columns import Fields, attempt
from annotate.material.reading.rows import (
    ImportedDocument,
    ImportedItem,
    Metadata,
    Part,
    Record,
    RefusedLine,
    Row,
)
from annotate.material.reading.shipped import ItemsOnly
from annotate.material.reading.values import (
    RefusedFieldError,
    is_blank,
    key_from_parts,
    key_of,
    metadata_of,
    text_of,
)

Turns = Sequence[tuple[str, str]]

TURN_COLUMNS = ("messages", "conversations", "conversation", "prompt")
OUTPUT_COLUMNS = (
    *("completion", "response", "output", "answer", "text", "summary", "translation", "reply"),
    *("generation", "generated_text", "model_output", "model_response", "prediction"),
)
LIST_COLUMNS = ("outputs", "completions", "responses", "generations")
NAME_LISTS = ("models", "systems", "model_names")
PAIR = ("chosen", "rejected")
PROMPT_COLUMNS = ("prompt", "instruction", "question", "query")
ADDED_TO_PROMPT = ("input", "context")
SOURCE_COLUMNS = ("source", "document", "article", "source_text", "dialogue", "passage", *ADDED_TO_PROMPT)
MODEL_COLUMNS = ("model", "model_name", "model_id", "generator", "llm", "system_name")
KEY_COLUMNS = ("prompt_id", "document_id", "doc_id", "question_id", "conversation_id", "id", "uid", "key")
# A prompt's id is no key of a pair, because a prompt may have several pairs.
PAIR_KEYS = ("pair_id", "id", "uid", "key")
NAMES_IN_OUTPUT = ("model", "model_name", "model_id", "system", "name", "generator")
TEXTS_IN_OUTPUT = ("response", "output", "text", "completion", "content", "generation")
MOST_WORDS_OF_NAME = 3
# ShareGPT calls the roles human and gpt, and OpenAssistant calls the user prompter.
ROLES = {"human": "user", "prompter": "user", "gpt": "assistant", "bot": "assistant", "model": "assistant"}
# The form of the HH-RLHF data: turns in one string, separated by blank lines.
TRANSCRIPT = re.compile(r"(?:^|\n\n)(Human|Assistant):")


class Conversations(ItemsOnly):
    """Conversations. The assistant's last turn is the output, all earlier turns are the document."""

    name = "messages"
    title = gettext_noop("Conversations: messages with roles")

    def item_rows(self, record: Record) -> Iterator[Row | RefusedLine]:
        yield attempt(record.line, partial(self._row, record))

    def _row(self, record: Record) -> Row:
        fields = record.fields
        column = next((name for name in TURN_COLUMNS if _is_turns(fields.get(name))), "")
        if not column:
            raise RefusedFieldError(
                TURN_COLUMNS[0], gettext("The line has no list of messages with a role and a content.")
            )
        turns, used = _turns(fields[column], column), {column}
        output = next((name for name in OUTPUT_COLUMNS if not is_blank(fields.get(name))), "")
        if turns[-1][0] == "assistant":
            turns, text = turns[:-1], turns[-1][1]
        elif output:
            used.add(output)
            text = _last_text(fields[output], output)
        else:
            text = ""
        parts = _parts_of_turns(turns, column)
        # A column called “system” may have a prompt instead of the model's name.
        names_system = len(str(fields.get("system", "")).split()) <= MOST_WORDS_OF_NAME
        system = _first(fields, (*MODEL_COLUMNS, "system") if names_system else MODEL_COLUMNS)
        # Without a system's name, outputs of one prompt would clash, so each makes its own document.
        key = _key(fields, parts if system else (*parts, ("", text)))
        metadata = _others(fields, {*used, system})
        if not text:
            return ImportedDocument(record.line, key, "", parts, metadata)
        name = key_of(fields[system], system) if system else "assistant"
        return ImportedItem(record.line, key, "", parts, name, text_of(text, output or column), metadata)


class OutputLists(ItemsOnly):
    """A prompt with a list of outputs. An output is a string, or an object with `text` and `model`."""

    name = "outputs"
    title = gettext_noop("Prompts with lists of outputs")

    def item_rows(self, record: Record) -> Iterator[Row | RefusedLine]:
        fields = record.fields
        column = _first(fields, LIST_COLUMNS)
        outputs = _json(fields[column]) if column else None
        if not isinstance(outputs, list | dict) or not outputs:
            raise RefusedFieldError(column or LIST_COLUMNS[0], gettext("The line has no list of outputs."))
        parts, used = _prompt(fields)
        names, listed = self._names(fields, outputs)
        entries = list(outputs.values()) if isinstance(outputs, dict) else outputs
        key = _key(fields, parts if all(names) else (*parts, ("", json.dumps(entries))))
        of_row = _others(fields, {*used, column, *listed})
        for number, (name, entry) in enumerate(zip(_distinct(names), entries, strict=True)):
            path = f"{column}[{number}]"
            yield attempt(
                record.line, partial(self._item, record.line, key, parts, name, entry, path, of_row)
            )

    def _names(self, fields: Fields, outputs: object) -> tuple[list[str], list[str]]:
        """Return the name of each output, empty without one, and the columns of names."""
        if isinstance(outputs, dict):
            return [key_of(name, "outputs") for name in outputs], []
        assert isinstance(outputs, list)
        column = _first(fields, NAME_LISTS)
        listed = _json(fields[column]) if column else None
        names: list[object] = [""] * len(outputs)
        columns = []
        if isinstance(listed, list) and len(listed) == len(outputs):
            names, columns = listed, [column]
        # A name in an output precedes one in a list of names.
        for number, entry in enumerate(outputs):
            if isinstance(entry, dict) and (own := _first(entry, NAMES_IN_OUTPUT)):
                names[number] = entry[own]
        return ["" if is_blank(name) else key_of(name, column or "model") for name in names], columns

    def _item(
        self,
        line: int,
        key: str,
        parts: tuple[Part, ...],
        system: str,
        entry: object,
        path: str,
        of_row: Metadata,
    ) -> Row:
        if not isinstance(entry, dict):
            return ImportedItem(line, key, "", parts, system, _last_text(entry, path), of_row)
        field = _first(entry, TEXTS_IN_OUTPUT)
        text = _last_text(entry.get(field), f"{path}.{field or TEXTS_IN_OUTPUT[0]}")
        others = _others(entry, {field, *NAMES_IN_OUTPUT})
        return ImportedItem(line, key, "", parts, system, text, {**of_row, **others})


class PreferencePairs(ItemsOnly):
    """A prompt with two outputs. They become items of the systems “chosen” and “rejected”.

    Each line makes its own document, because a prompt may have several pairs.
    """

    name = "preferences"
    title = gettext_noop("Pairs of a chosen and a rejected output")

    def item_rows(self, record: Record) -> Iterator[Row | RefusedLine]:
        fields = record.fields
        texts = [_last_text(fields.get(name), name) for name in PAIR]
        parts, used = _prompt(fields, of_pair=True)
        key = _key(fields, (*parts, *(("", text) for text in texts)), PAIR_KEYS)
        metadata = _others(fields, {*used, *PAIR})
        for system, text in zip(PAIR, texts, strict=True):
            yield ImportedItem(record.line, key, "", parts, system, text, metadata)


def prompt_shape(fields: Fields) -> str:
    has_prompt = bool(_first(fields, (*PROMPT_COLUMNS, *SOURCE_COLUMNS)))
    # Pairs first, because their files often have a column of messages as well.
    if not is_blank(fields.get("chosen")) and not is_blank(fields.get("rejected")):
        own_prompt = _is_turns(fields["chosen"]) or _is_transcript(fields["chosen"])
        return PreferencePairs.name if has_prompt or own_prompt else ""
    outputs = _json(fields.get(_first(fields, LIST_COLUMNS)))
    is_turns = any(_is_turns(fields.get(name)) for name in TURN_COLUMNS)
    if isinstance(outputs, list | dict) and outputs and (has_prompt or is_turns):
        return OutputLists.name
    return Conversations.name if is_turns else ""


def _first(fields: Mapping[str, object], names: Sequence[str]) -> str:
    return next((name for name in names if not is_blank(fields.get(name))), "")


def _json(value: object) -> object:
    """Return a cell's list or object. CSV stores it as JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _is_turns(value: object) -> bool:
    turns = _json(value)
    return (
        isinstance(turns, list)
        and bool(turns)
        and all(
            isinstance(turn, dict)
            and ({"role", "content"} <= turn.keys() or {"from", "value"} <= turn.keys())
            for turn in turns
        )
    )


def _is_transcript(value: object) -> bool:
    begins = isinstance(value, str) and value.lstrip().startswith("Human:")
    return begins and len(TRANSCRIPT.findall(str(value))) > 1


def _turns(value: object, name: str) -> Turns:
    if _is_transcript(value):
        # The pattern has a group, so roles and texts alternate.
        _, *pieces = TRANSCRIPT.split(str(value))
        found = [(role.lower(), text.strip()) for role, text in zip(pieces[::2], pieces[1::2], strict=True)]
    else:
        listed = _json(value)
        assert isinstance(listed, list)
        found = [
            (str(turn.get("role", turn.get("from"))).lower(), _content(turn, f"{name}[{number}]"))
            for number, turn in enumerate(listed)
        ]
    turns = [(ROLES.get(role, role), text) for role, text in found if text.strip()]
    if not turns:
        raise RefusedFieldError(
            name, gettext("The field “{name}” has no text in its messages.").format(name=name)
        )
    return turns


def _content(turn: Mapping[str, object], name: str) -> str:
    content = turn.get("content", turn.get("value"))
    if is_blank(content):
        return ""
    if not isinstance(content, list):
        return text_of(content, name)
    pieces = [piece.get("text") if isinstance(piece, dict) else piece for piece in content]
    if not all(isinstance(piece, str) for piece in pieces):
        raise RefusedFieldError(
            name, gettext("The message “{name}” holds more than texts.").format(name=name)
        )
    return text_of("\n".join(map(str, pieces)), name)


def _last_text(value: object, name: str) -> str:
    """Return an output: a string, or the last of its turns."""
    if _is_turns(value) or _is_transcript(value):
        return _turns(value, name)[-1][1]
    return text_of(value, name)


def _prompt(fields: Fields, *, of_pair: bool = False) -> tuple[tuple[Part, ...], set[str]]:
    for column in TURN_COLUMNS:
        # In files of pairs, other columns of turns repeat the chosen output with its prompt.
        if _is_turns(fields.get(column)) and not (of_pair and column != "prompt"):
            return _parts_of_turns(_turns(fields[column], column), column), {column}
    # A prompt as a string, with the columns that are added to it.
    if column := _first(fields, PROMPT_COLUMNS):
        used = [column, *(name for name in ADDED_TO_PROMPT if not is_blank(fields.get(name)))]
    # Without a column, the prompt is what comes before the last turn of an output.
    elif of_pair and (_is_turns(fields["chosen"]) or _is_transcript(fields["chosen"])):
        turns = _turns(fields["chosen"], "chosen")
        return _parts_of_turns(turns[:-1], "chosen"), {"messages"} if "messages" in fields else set()
    else:
        used = list(filter(None, [_first(fields, SOURCE_COLUMNS)]))
    if not used:
        raise RefusedFieldError(
            PROMPT_COLUMNS[0],
            gettext("The line has no prompt; name its column “prompt”, “instruction” or “source”."),
        )
    labels = {name: name.replace("_", " ").capitalize() for name in used}
    return tuple((labels[name], text_of(fields[name], name)) for name in used), set(used)


def _parts_of_turns(turns: Turns, name: str) -> tuple[Part, ...]:
    if not turns:
        raise RefusedFieldError(
            name, gettext("The conversation in “{name}” has no turn before its output.").format(name=name)
        )
    return tuple((role.capitalize(), text) for role, text in turns)


def _key(fields: Fields, texts: tuple[Part, ...], columns: Sequence[str] = KEY_COLUMNS) -> str:
    """Return the document's key: a column's value, else a hash of these strings."""
    column = _first(fields, columns)
    return key_of(fields[column], column) if column else key_from_parts(texts)


def _others(fields: Fields, used: set[str]) -> Metadata:
    return metadata_of(fields, [name for name in fields if name not in used])


def _distinct(names: Sequence[str]) -> Iterator[str]:
    """Yield a name for each output. Unnamed outputs get a number, and so do further outputs of a model."""
    seen: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        seen[name] = seen.get(name, 0) + 1
        if not name:
            yield f"output {number}"
        else:
            yield name if seen[name] == 1 else f"{name} {seen[name]}"
