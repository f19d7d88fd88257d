"""Further prompts of methods, shipped with their defaults.

`prompts/` has a file for each paper. Other prompts change a default: a system message (Gao et al., 2023,
table 6), no source (Stureborg et al., 2024, table 5), a reference, and, for servers that cache prefixes, the
document first.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from judges.methods import direct, mcq, rts, several
from judges.methods.wording import MATERIAL, TEXT_ALONE, WITH_REFERENCE, paragraphs


@dataclass(frozen=True)
class Variant:
    """A wording of a method: its key, its name, which is also the prompt's name, and its template."""

    key: str
    method: str
    label: str
    text: str


def _prompts_of_papers() -> Iterator[Variant]:
    for path in sorted((Path(__file__).parent / "prompts").glob("*.toml")):
        for prompt in tomllib.loads(path.read_text(encoding="utf-8"))["prompts"]:
            yield Variant(**prompt)


SYSTEM = """\
You are an expert annotator. You rate texts by written instructions, as a person who was trained for it
does, and you answer in the form that you are asked for.
{{ end_of_system_message }}
"""


def drop_source(template: str) -> str:
    """Return a template without the document; it must have the shared paragraphs of material."""
    # Without these paragraphs the replacement would silently change nothing.
    assert MATERIAL in template
    alone = template.replace(MATERIAL, TEXT_ALONE)
    # The shared paragraphs may break the line between these words.
    return re.sub(r" The text\swas written for a document\.", "", alone)


def add_reference(template: str) -> str:
    """Return a template that shows a reference; it must have the shared paragraphs of material."""
    assert MATERIAL in template
    return template.replace(MATERIAL, WITH_REFERENCE)


def document_first(template: str) -> str:
    """Return a template that starts with the material; it must have the shared paragraphs of material.

    Servers that cache prefixes then share the document among all outputs, dimensions and methods.
    """
    assert MATERIAL in template
    return paragraphs(MATERIAL, template.replace(f"{MATERIAL}\n", ""))


_ALL = (
    *_prompts_of_papers(),
    Variant("rts-no_source", "rts", "Reason, then score: without source", drop_source(rts.TEMPLATE)),
    Variant("rts-reference", "rts", "Reason, then score: with reference", add_reference(rts.TEMPLATE)),
    Variant("rts-first", "rts", "Reason, then score: document first", document_first(rts.TEMPLATE)),
    Variant("mcq-no_source", "mcq", "Multiple choice: without source", drop_source(mcq.TEMPLATE)),
    Variant("mcq-first", "mcq", "Multiple choice: document first", document_first(mcq.TEMPLATE)),
    Variant("direct-system", "direct", "Score only: system message", SYSTEM + direct.TEMPLATE),
    Variant("direct-reference", "direct", "Score only: with reference", add_reference(direct.TEMPLATE)),
    Variant("direct-no_source", "direct", "Score only: without source", drop_source(direct.TEMPLATE)),
    Variant("direct-first", "direct", "Score only: document first", document_first(direct.TEMPLATE)),
    Variant(
        "several-first", "several", "Several dimensions: document first", document_first(several.TEMPLATE)
    ),
    Variant("several-system", "several", "Several dimensions: system message", SYSTEM + several.TEMPLATE),
)
VARIANTS: Mapping[str, Variant] = MappingProxyType({variant.key: variant for variant in _ALL})
