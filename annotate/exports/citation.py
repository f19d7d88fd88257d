"""How a data set is to be cited, and who allows what with its texts: what only its authors can say."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from annotate.results.latex import escape_latex


class SplitName(StrEnum):
    """The split that all rows of a data set are in: a benchmark is for testing."""

    TEST = "test"
    VALIDATION = "validation"
    TRAIN = "train"


@dataclass(frozen=True)
class Card:
    """What the authors of a data set say of it.

    authors: in the order of a citation. address: where it, or its paper, is found. text_licences: for each
    source of texts (reviews, a system's outputs) under which licence they are.
    """

    authors: tuple[str, ...] = ()
    address: str = ""
    text_licences: tuple[tuple[str, str], ...] = ()
    split: SplitName = SplitName.TEST

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Card":
        """Return the card that `as_dict` gave; nothing gives an empty one."""
        return cls(
            authors=tuple(plain.get("authors", ())),
            address=plain.get("address", ""),
            text_licences=tuple((what, licence) for what, licence in plain.get("text_licences", ())),
            split=SplitName(plain.get("split", SplitName.TEST)),
        )


class DatasheetSection(StrEnum):
    """What a datasheet says (Gebru and others 2021), in its order."""

    MOTIVATION = "motivation"
    COMPOSITION = "composition"
    COLLECTION = "collection"
    PREPROCESSING = "preprocessing"
    USES = "uses"
    DISTRIBUTION = "distribution"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True)
class Datasheet:
    """What the authors of a data set write for its readers, kept with the project.

    languages: codes such as en or pt-BR; task_categories: as the Hugging Face Hub names them. sections: what
    is written of each, without those that are empty.
    """

    languages: tuple[str, ...] = ()
    task_categories: tuple[str, ...] = ()
    sections: Mapping[DatasheetSection, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain values for JSON, nothing for an empty one."""
        sections = {each.value: self.sections[each] for each in DatasheetSection if each in self.sections}
        written = {
            "languages": list(self.languages),
            "task_categories": list(self.task_categories),
            "sections": sections,
        }
        return {name: value for name, value in written.items() if value}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Datasheet":
        """Return the datasheet that `as_dict` gave; raises ValueError for what is none."""
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
    """Return sources with their licences, a line for each; raises ValueError with a line that is none."""
    found = []
    for line in filter(None, map(str.strip, lines.splitlines())):
        what, colon, licence = line.rpartition(":")
        if not (colon and what.strip() and licence.strip()):
            raise ValueError(line)
        found.append((what.strip(), licence.strip()))
    return tuple(found)


def bibtex(slug: str, name: str, card: Card, latest: datetime | None) -> str:
    """Return the entry by which a data set is cited, empty where nobody said who its authors are.

    latest: the latest time in the data, whose year is the data set's; today's would change the bytes.
    """
    if not card.authors:
        return ""
    fields = {
        "title": f"{{{_in_braces(name)}}}",
        "author": " and ".join(map(_in_braces, card.authors)),
        **({"year": f"{latest:%Y}"} if latest else {}),
        **({"url": card.address} if card.address else {}),
    }
    lines = ",\n".join(f"  {field} = {{{value}}}" for field, value in fields.items())
    return f"@misc{{{slug},\n{lines}\n}}"


def _in_braces(text: str) -> str:
    # BibTeX counts braces, also those after a backslash.
    return escape_latex(text.replace("{", "(").replace("}", ")").replace("\\", "/"))
