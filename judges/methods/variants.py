"""Further wordings of methods, shipped beside their defaults: what papers vary of a prompt.

Second wordings (Shen et al., 2023, tables 17 and 18), the name of the dimension alone, its definition, steps
besides, a system message (Gao et al., 2023, table 6), the source left out (Stureborg et al., 2024, table 5),
a reference text besides; and, for servers that cache the beginning of messages, the document first.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from judges.methods import direct, mcq, rts, several
from judges.methods.wording import DEFINITION, MATERIAL, SCALE, TEXT_ALONE, WITH_REFERENCE, paragraphs


@dataclass(frozen=True)
class Variant:
    """A wording of a method: its key and its name, which is also that of the prompt, and its text."""

    key: str
    method: str
    label: str
    text: str


RTS_SECOND = paragraphs(
    """\
Below are the instructions that people had who rated the {{ dimension }} of texts. Rate one text as they did.
""",
    DEFINITION,
    """\
{{ points }}
""",
    MATERIAL,
    """\
Explain in one or two sentences how the text does by these instructions. End with its score, {{ answer }}:
Score: (the score)
""",
)

MCQ_SECOND = paragraphs(
    """\
Below are the instructions that people had who rated the {{ dimension }} of texts. Rate one text as they did.
""",
    DEFINITION,
    MATERIAL,
    """\
The {{ dimension }} of the text is:
{{ options }}

Reply with the letter of one option, {{ answer }}, and add why you chose it.
""",
)

NAME_ALONE = paragraphs(
    """\
Evaluate a text that was written for a document by its {{ dimension }}.
""",
    MATERIAL,
    """\
Rate its {{ dimension }}: {{ answer }}, where {{ minimum }} is the worst and {{ maximum }} the best.
Reply with the score of {{ dimension }} and nothing else.
""",
)

WITH_STEPS = paragraphs(
    """\
Evaluate a text that was written for a document by its {{ dimension }}.
""",
    DEFINITION,
    SCALE,
    """\
Go through these steps:
1. Read the document, and find what matters in it for {{ dimension }}.
2. Read the text, and hold it against the definition of {{ dimension }} and against the document.
3. Find the point of the scale that fits.
""",
    MATERIAL,
    """\
The score of {{ dimension }} is {{ answer }}. Reply with the score of {{ dimension }} and nothing else.
""",
)

SYSTEM = """\
You are an expert annotator. You rate texts by written instructions, as a person who was trained for it
does, and you answer in the form that you are asked for.
{{ end_of_system_message }}
"""

SEVERAL_NAMES = paragraphs(
    """\
Evaluate a text that was written for a document by the qualities below, where the highest score is the best.
""",
    MATERIAL,
    """\
Reply with one line for each quality and nothing else, in this order and form:

{{ answers }}
""",
)

SEVERAL_STEPS = paragraphs(
    """\
Score several qualities of a text, each of them by itself. The text was written for a document.

{{ dimensions }}

Go through these steps:
1. Read the document, and find what matters in it.
2. Read the text, and compare it with the document.
3. Take one quality after the other: hold the text against its definition, and find the point of its scale.
""",
    MATERIAL,
    """\
Reply with one line for each quality and nothing else, in this order and form:

{{ answers }}
""",
)


def without_source(template: str) -> str:
    """Return a template in which the document is left out; it must have the shared paragraphs of material."""
    assert MATERIAL in template
    alone = template.replace(MATERIAL, TEXT_ALONE)
    return re.sub(r" The text\swas written for a document\.", "", alone)


def with_reference(template: str) -> str:
    """Return a template that shows a reference; it must have the shared paragraphs of material."""
    assert MATERIAL in template
    return template.replace(MATERIAL, WITH_REFERENCE)


def document_first(template: str) -> str:
    """Return a template that begins with the material; it must have the shared paragraphs of material.

    Servers that cache the beginning of messages then have the document for all texts, dimensions and methods.
    """
    assert MATERIAL in template
    return paragraphs(MATERIAL, template.replace(f"{MATERIAL}\n", ""))


_ALL = (
    Variant("rts-second", "rts", "Reason, then score: second wording", RTS_SECOND),
    Variant("rts-no_source", "rts", "Reason, then score: without source", without_source(rts.TEMPLATE)),
    Variant("rts-reference", "rts", "Reason, then score: with reference", with_reference(rts.TEMPLATE)),
    Variant("rts-first", "rts", "Reason, then score: document first", document_first(rts.TEMPLATE)),
    Variant("mcq-second", "mcq", "Multiple choice: second wording", MCQ_SECOND),
    Variant("mcq-no_source", "mcq", "Multiple choice: without source", without_source(mcq.TEMPLATE)),
    Variant("mcq-first", "mcq", "Multiple choice: document first", document_first(mcq.TEMPLATE)),
    Variant("direct-name", "direct", "Score only: name of the dimension alone", NAME_ALONE),
    Variant("direct-steps", "direct", "Score only: with definition and steps", WITH_STEPS),
    Variant("direct-system", "direct", "Score only: system message", SYSTEM + direct.TEMPLATE),
    Variant("direct-reference", "direct", "Score only: with reference", with_reference(direct.TEMPLATE)),
    Variant("direct-no_source", "direct", "Score only: without source", without_source(direct.TEMPLATE)),
    Variant("direct-first", "direct", "Score only: document first", document_first(direct.TEMPLATE)),
    Variant("several-names", "several", "Several dimensions: names alone", SEVERAL_NAMES),
    Variant(
        "several-first", "several", "Several dimensions: document first", document_first(several.TEMPLATE)
    ),
    Variant("several-steps", "several", "Several dimensions: with definitions and steps", SEVERAL_STEPS),
    Variant("several-system", "several", "Several dimensions: system message", SYSTEM + several.TEMPLATE),
)
VARIANTS: Mapping[str, Variant] = MappingProxyType({variant.key: variant for variant in _ALL})
