"""Guesses the mapping of a file from the names of its columns, then from its first records.

Contents decide only if a single column fits. All other columns become metadata. People can change each
guess.
"""

import re
import unicodedata
from collections import abc
from collections.abc import Collection, Sequence
from statistics import median

from annotate.material.reading.columns import ColumnMapping, PartColumn, ValueColumn
from annotate.material.reading.mappings import SHIPPED, Mapping
from annotate.material.reading.mqm import has_mqm_columns
from annotate.material.reading.prompts import prompt_shape
from annotate.material.reading.rows import Record, RefusedLine
from annotate.material.reading.values import KEY_LIMIT, NUMBER, RefusedFieldError, is_blank, round_of

WordsOfFields = abc.Mapping[str, Sequence[str]]

COLUMN_WORDS: WordsOfFields = {
    "document_key": (
        *("document_key", "document_id", "doc_id", "doc_key", "article_id", "product_id", "id", "key"),
        *("text_id", "source_id", "prompt_id", "question_id", "story_id", "doc_no", "doc_nr", "text_no"),
        *(
            "textnr",
            "text_nr",
            "textnummer",
            "dokument_id",
            "dokumentnr",
            "dok_id",
            "artikelnr",
            "artikel_id",
        ),
        *("id_texte", "texte_id", "id_document", "id_article", "identifiant", "id_documento", "id_texto"),
        *("example_id", "sample_id", "uid", "nr", "no", "num", "nummer", "numero"),
    ),
    "document_title": (
        *("document_title", "title", "headline", "product"),
        *("titel", "uberschrift", "schlagzeile", "titre", "titulo", "titolo"),
    ),
    "system": (
        *("system", "system_name", "system_id", "model", "model_id", "model_name", "summarizer"),
        *("llm", "llm_name", "ai", "ai_model", "chatbot", "generator"),
        *("ki", "ki_modell", "ki_system", "modell", "modellname", "sprachmodell", "systemname"),
        *("modele", "systeme", "ia", "modele_ia", "modelo", "sistema", "modello"),
    ),
    "text": (
        *("text", "summary", "output", "decoded", "system_output", "item_text", "generated", "response"),
        *("answer", "completion", "prediction", "generation", "generated_text", "generated_summary"),
        *(
            "model_output",
            "model_response",
            "system_summary",
            "candidate",
            "hypothesis",
            "translation",
            "reply",
        ),
        *("kurzfassung", "zusammenfassung", "antwort", "ausgabe", "systemausgabe", "ubersetzung", "ki_text"),
        *("resume", "reponse", "sortie", "traduction", "resumen", "respuesta", "salida", "traduccion"),
        *("riassunto", "risposta", "sintesi", "resumo", "resposta", "samenvatting", "antwoord"),
        *("texte", "texto", "testo", "tekst"),
    ),
    "rater": (
        *("rater", "rater_id", "rater_name", "annotator", "annotator_id", "worker", "worker_id", "expert"),
        *("bewerter", "bewerterin", "annotatorin", "annotateur", "annotatrice", "evaluateur", "anotador"),
    ),
    "dimension": (
        *("dimension", "criterion", "quality", "aspect"),
        *("kriterium", "merkmal", "qualitat", "critere", "criterio"),
    ),
    "value": (
        *("value", "rating", "score"),
        *("wert", "bewertung", "punktzahl", "valeur", "valor", "puntuacion", "punteggio"),
    ),
    "round": ("round", "round_number", "annotation_round", "runde", "ronda", "manche"),
}
PLAIN_VALUES = frozenset(("value", "rating", "score"))
"""Names of values, whatever the cells hold; under other names the cells must be numbers."""
WEAK_KEYS = frozenset(
    ("id", "key", "example_id", "sample_id", "uid", "nr", "no", "num", "nummer", "numero", "identifiant")
)
"""Names of a key that may also number the rows: contents can contradict them."""
EITHER_TEXT = frozenset(("text", "texte", "texto", "testo", "tekst"))
"""Names of either the document or the output to rate."""
PART_WORD = re.compile(
    r"(source|source_text|article|document|document_text|doc|input|context|reviews?|rev|part"
    r"|question|instruction|passage|full_text|fulltext|original_text|transcript|dialogue"
    r"|artikel|artikeltext|dokument|quelle|quelltext|ausgangstext|originaltext|volltext|eingabe|kontext|frage"
    r"|rezension|anweisung|texte_source|texte_original|contexte|entree|consigne|avis"
    r"|articulo|documento|fuente|texto_original|contexto|entrada|pregunta|resena"
    r"|articolo|fonte|contesto|domanda|artigo|pergunta|brontekst|vraag)_?\d*"
)
PROMPT_WORD = re.compile(r"(prompt|query|user_prompt|messages|conversation|aufgabe|eingabeaufforderung)_?\d*")
"""Names of a part if no other column is one: next to a document, a prompt may be the model's."""
HIDDEN_WORD = re.compile(
    r".*(reference|gold|comment|note|rationale|explanation|feedback|reason|argument|remark|human|label"
    r"|referen|kommentar|bemerkung|anmerkung|begrundung|musterlosung|remarque|observa|justifi|url|link|prompt).*"
)
"""Names of columns that a guess must not show to annotators."""
LONGEST_PLAIN_KEY = 80
SHORTEST_PROSE = 40  # characters, of the median cell
LONGER = 1.5  # times the length of its summary makes a column a document


def guess_mapping(records: Sequence[Record | RefusedLine], dimensions: Collection[str] = ()) -> Mapping:
    """Return the mapping that a file's first records suggest. Columns can have the names of dimensions."""
    readable = [record for record in records if isinstance(record, Record)]
    if not readable:
        return ColumnMapping()
    shipped = _shipped_shape(readable[0])
    return SHIPPED[shipped] if shipped else _ColumnGuess(readable, dimensions).mapping()


def _shipped_shape(record: Record) -> str:
    fields = record.fields
    if {"reviews", "summaries"} <= fields.keys():
        return "summeval-op" if isinstance(fields["summaries"], dict) else "summeval-op-detailed"
    if {"id", "expert_annotations"} <= fields.keys():
        return "summeval"
    if fields.keys() == {"id", "source"}:
        return "summeval-documents"
    return "mqm" if has_mqm_columns(fields) else prompt_shape(fields)


class _Column:
    """The cells of a column in the first records; blank ones are empty strings."""

    def __init__(self, name: str, records: Sequence[Record]) -> None:
        self.name = name
        values = [record.fields.get(name) for record in records]
        self.is_plain = all(is_blank(value) or isinstance(value, str | int | float) for value in values)
        self.cells = ["" if is_blank(value) else str(value).strip() for value in values]
        filled = [cell for cell in self.cells if cell]
        self.length = median(map(len, filled)) if filled else 0
        self.longest = max(map(len, filled), default=0)
        self.is_numeric = bool(filled) and all(NUMBER.fullmatch(cell) for cell in filled)
        # A URL is long, too; prose has blanks, or is in a script that may write without them.
        several = sum(" " in cell or not cell.isascii() for cell in filled)
        self.is_prose = self.is_plain and self.length >= SHORTEST_PROSE and several * 2 > len(filled)
        self.is_short = self.is_plain and 0 < self.longest <= LONGEST_PLAIN_KEY
        self.distinct = len(set(self.cells))

    def is_determined_by(self, other: "_Column") -> bool:
        """Return True if rows with one value of the other column have one value here."""
        return len(set(zip(self.cells, other.cells, strict=True))) == other.distinct


class _ColumnGuess:
    """The column of each field and the parts of the document: by names, then by contents."""

    def __init__(self, records: Sequence[Record], dimensions: Collection[str]) -> None:
        names = list(dict.fromkeys(name for record in records for name in record.fields))
        self.rows = len(records)
        self.columns = {name: _Column(name, records) for name in names}
        known = {_word(name): name for name in dimensions}
        self.values = tuple(ValueColumn(name, known[_word(name)]) for name in names if _word(name) in known)
        self.found = self._match_by_name(names)
        self._drop_misnamed(records)
        # `_free` reads it below.
        self.parts: list[str] = []
        self.parts = [name for name in self._free() if _names(PART_WORD, name)]
        self.parts = self.parts or [name for name in self._free() if _names(PROMPT_WORD, name)]

    def mapping(self) -> ColumnMapping:
        found = self.found
        if not found["document_key"] and len(self.parts) == 1 and self._document().is_short:
            found["document_key"] = self.parts.pop()
        if not found["rater"] and not found["value"]:
            self._guess_texts()
            self._guess_system()
            self._guess_key()
        has_long_form = bool(found["dimension"] and found["value"])
        used = {*found.values(), *self.parts, *(() if has_long_form else (v.column for v in self.values))}
        return ColumnMapping(
            **found,
            parts=tuple(PartColumn(name, _label(name)) for name in self.columns if name in self.parts),
            value_columns=() if has_long_form else self.values,
            metadata=tuple(name for name in self.columns if name not in used),
        )

    def _match_by_name(self, names: Sequence[str]) -> dict[str, str]:
        found = columns_by_words(names, COLUMN_WORDS)
        taken = set(found.values())
        # Reversed, so that the first of several columns with one bare name stays.
        bare = {_bare(name): name for name in reversed(names) if name not in taken}
        by_bare_name = columns_by_words(list(bare), COLUMN_WORDS)
        return {field: name or bare.get(by_bare_name[field], "") for field, name in found.items()}

    def _drop_misnamed(self, records: Sequence[Record]) -> None:
        found = self.found
        for field in ("document_key", "system", "rater", "dimension"):
            column = self.columns.get(found[field])
            if column and column.is_prose:
                # The same systems answer for several documents, so a system's name repeats.
                never_repeats = field == "system" and column.distinct == self.rows > 1
                found[field] = "" if never_repeats or column.longest > KEY_LIMIT else found[field]
        if found["value"] and _word(found["value"]) not in PLAIN_VALUES:
            found["value"] = found["value"] if self.columns[found["value"]].is_numeric else ""
        # Other data sets call any pass over the data a round, so the cells must name one of two.
        if not all(is_round(record.fields.get(found["round"]), 1, 2) for record in records):
            found["round"] = ""

    def _free(self) -> list[str]:
        taken = {*self.found.values(), *self.parts, *(each.column for each in self.values)}
        return [name for name in self.columns if name not in taken]

    def _guess_texts(self) -> None:
        found = self.found
        # The columns of prose without a meaning yet that annotators may see.
        free = [self.columns[name] for name in self._free() if not HIDDEN_WORD.fullmatch(_word(name))]
        prose = [column for column in free if column.is_prose]
        text = self.columns.get(found["text"])
        # “text” may be the document: then another column has the output, or the file has documents only.
        if text and not self.parts and _word(found["text"]) in EITHER_TEXT:
            others = columns_by_words(self._free(), {"text": COLUMN_WORDS["text"]})
            other = self.columns.get(others["text"])
            if other and self._is_document(text, other):
                self.parts, found["text"] = [text.name], other.name
            elif not other and not found["system"] and not prose:
                self.parts, found["text"] = [text.name], ""
        # The output is known: the one column of prose that repeats with it or is longer is the document.
        elif text and not self.parts:
            documents = [column for column in prose if self._is_document(column, text)]
            self.parts = [column.name for column in documents] if len(documents) == 1 else []
        # The document is known: prose that differs within a document is the output.
        elif not text and self.parts and len(prose) == 1 and not self._is_of_document(prose[0]):
            found["text"] = prose[0].name
        # Two columns of prose: one is the document only if the other one cannot be.
        elif not text and not self.parts and len(prose) == 2:
            for document, output in (prose, prose[::-1]):
                if self._is_document(document, output) and not self._is_document(output, document):
                    self.parts, found["text"] = [document.name], output.name

    def _is_document(self, column: _Column, text: _Column) -> bool:
        """Return True if a column seems to hold the documents of the outputs: it repeats, or is longer."""
        if column.distinct != text.distinct:
            return column.distinct < text.distinct and column.is_determined_by(text)
        return column.distinct == self.rows and column.length >= LONGER * text.length

    def _is_of_document(self, column: _Column) -> bool:
        """Return True if a column repeats with the document, like an abstract or a reference."""
        document = self._document()
        return document.distinct < self.rows and column.is_determined_by(document)

    def _document(self) -> _Column:
        return self.columns[self.parts[0] if self.parts else self.found["document_key"]]

    def _guess_system(self) -> None:
        """Find the one column of short names that differ within each document and repeat over documents."""
        found = self.found
        if found["system"] or not found["text"] or not (self.parts or found["document_key"]):
            return
        document = self._document()
        per_document: dict[str, list[int]] = {}
        for index, cell in enumerate(document.cells):
            per_document.setdefault(cell, []).append(index)
        groups = [rows for rows in per_document.values() if len(rows) > 1]
        candidates = [name for name in self._free() if self._tells_systems(self.columns[name], groups)]
        if len(candidates) == 1:
            found["system"] = candidates[0]

    def _tells_systems(self, column: _Column, documents: Sequence[Sequence[int]]) -> bool:
        named = [[column.cells[index] for index in rows] for rows in documents]
        if len(named) < 2 or column.is_numeric or not column.is_short:
            return False
        all_filled = all(cell for cells in named for cell in cells)
        # A system has one output for a document, so its name occurs there once.
        differ = all(len(set(cells)) == len(cells) for cells in named)
        # The same names in two documents show that they are names of systems.
        return all_filled and differ and set(named[0]) == set(named[1])

    def _guess_key(self) -> None:
        """Drop a key that only numbers the rows, and find a column that names each document."""
        found = self.found
        if not self.parts or not found["system"]:
            return
        document = self._document()
        repeats = document.distinct < self.rows
        if _word(found["document_key"]) in WEAK_KEYS:
            key = self.columns[found["document_key"]]
            if not document.is_determined_by(key) or (repeats and key.distinct == self.rows):
                found["document_key"] = ""
        # A key names each document: one key for each, and one document for each key.
        if not found["document_key"] and repeats and document.distinct > 1:
            free = [self.columns[name] for name in self._free()]
            keys = [
                column.name
                for column in free
                if column.is_short
                and all(cell and " " not in cell for cell in column.cells)
                and column.is_determined_by(document)
                and document.is_determined_by(column)
            ]
            found["document_key"] = keys[0] if len(keys) == 1 else ""


def columns_by_words(names: Sequence[str], fields: WordsOfFields) -> dict[str, str]:
    # Reversed, so that the first of several columns with one word stays.
    by_word = {_word(name): name for name in reversed(names)}
    return {
        field: next((by_word[word] for word in words if word in by_word), "")
        for field, words in fields.items()
    }


def _word(name: str) -> str:
    """Return a name in small letters without accents, its words joined by underscores."""
    # The lists above are without accents, so “Übersetzung” must become “ubersetzung”.
    letters = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return re.sub(r"[\W_]+", "_", plain).strip("_")


def _bare(name: str) -> str:
    # “systemName (short)” becomes “system Name”, which the lists of words contain.
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", re.sub(r"\(.*?\)|\[.*?\]", "", name))


def _names(words: re.Pattern[str], name: str) -> bool:
    return bool(words.fullmatch(_word(name)) or words.fullmatch(_word(_bare(name))))


def is_round(value: object, *rounds: int) -> bool:
    try:
        return round_of(value, "") in rounds
    except RefusedFieldError:
        return False


def _label(name: str) -> str:
    words = re.sub(r"[_\s]+", " ", re.sub(r"(?<=[A-Za-z])(?=\d)", " ", name)).strip()
    return words[:1].upper() + words[1:]
