"""Rule-based sentence splitting."""

import re

# The end of a sentence: its mark and any closing quotes or brackets, followed by a blank and no lower-case
# character.
SENTENCE_END = re.compile(r"""(?<=[.!?…。！？])(?P<closing>["'”’»)\]]*)\s+(?=[^\s.,;:a-z])|\n+""")
SHORT_FORMS = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|e\.g|i\.e|z\.B|d\.h|bzw|Nr|No|Fig|approx|[A-Z])\.$"
)


LONGEST_SHORT_FORM = 8  # characters, with the one before it


def split_sentences(text: str) -> list[str]:
    """Split a string after marks that end sentences, but not after common abbreviations."""
    sentences: list[str] = []
    begin = 0
    for end in SENTENCE_END.finditer(text):
        piece = text[begin : end.start()] + (end.group("closing") or "")
        if SHORT_FORMS.search(piece[-LONGEST_SHORT_FORM:]):
            continue
        sentences.append(piece.strip())
        begin = end.end()
    sentences.append(text[begin:].strip())
    return [each for each in sentences if each]
