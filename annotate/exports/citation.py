"""The citation and licences of a data set, which only its authors can provide."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from annotate.results.latex import escape_latex


class SplitName(StrEnum):
    """The split of all rows of a data set: a benchmark is for testing."""

    TEST = "test"
    VALIDATION = "validation"
    TRAIN = "train"


@dataclass(frozen=True)
class Card:
    """The authors' description of a data set.

    authors: in the order of a citation. address: URL of the data set or its paper. text_licences: the licence
    of each origin of content (reviews, a system's outputs).
    """

    authors: tuple[str, ...] = ()
    address: str = ""
    text_licences: tuple[tuple[str, str], ...] = ()
    split: SplitName = SplitName.TEST

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Card":
        """Return the card from the output of `to_dict`; an empty input gives an empty card."""
        return cls(
            authors=tuple(plain.get("authors", ())),
            address=plain.get("address", ""),
            text_licences=tuple((what, licence) for what, licence in plain.get("text_licences", ())),
            split=SplitName(plain.get("split", SplitName.TEST)),
        )


class DatasheetSection(StrEnum):
    """The sections of a datasheet (Gebru and others 2021), in order."""

    MOTIVATION = "motivation"
    COMPOSITION = "composition"
    COLLECTION = "collection"
    PREPROCESSING = "preprocessing"
    USES = "uses"
    DISTRIBUTION = "distribution"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True)
class Datasheet:
    """The datasheet that the authors of a data set write for its readers, stored with the project.

    languages: codes such as en or pt-BR; task_categories: in the Hugging Face Hub's names. sections: the
    content of each section, without empty ones.
    """

    languages: tuple[str, ...] = ()
    task_categories: tuple[str, ...] = ()
    sections: Mapping[DatasheetSection, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the same as plain values for JSON; an empty datasheet gives an empty dict."""
        sections = {each.value: self.sections[each] for each in DatasheetSection if each in self.sections}
        written = {
            "languages": list(self.languages),
            "task_categories": list(self.task_categories),
            "sections": sections,
        }
        return {name: value for name, value in written.items() if value}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Datasheet":
        """Return the datasheet from the output of `to_dict`. Raises ValueError for an invalid input."""
        languages, tasks, sections = (
            plain.get(name) or kind()
            for name, kind in (("languages", list), ("task_categories", list), ("sections", dict))
        )
        if not isinstance(languages, list) or not isinstance(tasks, list) or not isinstance(sections, dict):
            raise ValueError("A datasheet is lists of languages and tasks, and an object of sections.")
        if not all(isinstance(each, str) for each in (*languages, *tasks, *sections.values())):
            raise ValueError("A datasheet holds texts.")
        return cls(
            languages=tuple(languages),
            task_categories=tuple(tasks),
            sections={DatasheetSection(name): text for name, text in sections.items()},
        )


def read_text_licences(lines: str) -> tuple[tuple[str, str], ...]:
    """Return origins with their licences, one per line. Raises ValueError with an invalid line."""
    found = []
    for line in filter(None, map(str.strip, lines.splitlines())):
        # From the right, because an origin may contain a colon.
        what, colon, licence = line.rpartition(":")
        if not (colon and what.strip() and licence.strip()):
            raise ValueError(line)
        found.append((what.strip(), licence.strip()))
    return tuple(found)


def bibtex(slug: str, name: str, card: Card, latest: datetime | None) -> str:
    """Return the BibTeX entry of a data set, empty without authors.

    latest: the latest time in the data, which sets the year of the data set. Today's year would change the
    bytes.
    """
    if not card.authors:
        return ""
    fields = {
        "title": f"{{{_wrap_in_braces(name)}}}",
        "author": " and ".join(map(_wrap_in_braces, card.authors)),
        **({"year": f"{latest:%Y}"} if latest else {}),
        **({"url": card.address} if card.address else {}),
    }
    lines = ",\n".join(f"  {field} = {{{value}}}" for field, value in fields.items())
    return f"@misc{{{slug},\n{lines}\n}}"


def _wrap_in_braces(text: str) -> str:
    # BibTeX counts braces, also those after a backslash.
    return escape_latex(text.replace("{", "(").replace("}", ")").replace("\\", "/"))
