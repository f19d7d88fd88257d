"""The forms in which replies state a score or choose an option: each with its rank, and how it is written.

Words in capitals stand for the pieces below. All pieces have a limit, so that no reply takes long to read.
`value` is the answer; a form with `final` says that its answer is the last word where that group matches.
"""

from enum import IntEnum

from judges.methods.reading import numbers
from judges.methods.reading.numbers import DIGITS, LETTER, NUMBER


class Rank(IntEnum):
    """How explicit a statement is. The lowest number that occurs decides; see `reader.decide`."""

    MARKED = 0  # in a tag, a box or a field of JSON
    LABEL = 1  # Score: 4
    WEAK_LABEL = 2  # Answer: 4; Coherence: 4
    LINE = 3  # the reply, its beginning, its end or one of its lines is the answer
    ONE_LINE = 4  # the only line that begins with an option
    SENTENCE = 5  # I would rate it a 4
    THING = 6  # it is a solid 4
    WHOLE = 7  # Yes, 2.
    OWN_PART = 8  # the dimension's own line in a list of scores
    PART = 9  # any other line of such a list


_OUT_OF = rf"(?:/|\b(?:(?:out\s+)?of|{numbers.OUT_OF})\b|{numbers.FULL_MARKS})"
_HAN = rf"(?:{numbers.HAN_UNITS})"
_TEXT = r"(?:text|summary|response|candidate|version|output|review|story|translation|assistant|system)"
_NOUN = rf"(?:(?:score|rating|grade|mark)s?|{numbers.SCORE})"
_SIGN = r"[\"']?\s*(?:\b(?:is|was)\s*)?(?::|=>?|\||->|→|-(?=\s))"
_EITHER = r"(?<!\w)[A-Za-z](?!\w)(?!')"
_UPPER = r"(?<!\w)(?-i:[A-Z])(?!\w)(?!')"
_SKIPPED = r"[\s\"'(|]{0,8}"
_BEHIND = r"[\s\"').!:|]{0,8}"

COMMON = {
    "FINAL": r"(?P<final>\b(?:final|overall)\b[^.:=\n]{0,40}?)?",
    "ASIDE": r"(?:\s*\([^()\n]{0,60}\))?",
    "WORD": rf"(?<!{LETTER})",
    "SIGN": _SIGN,
    "SKIPPED": _SKIPPED,
    "BEHIND": _BEHIND,
    "OPEN": r"[\s\"'(<|:]{0,6}",
}

SCORE_PIECES = COMMON | {
    "NOUN": _NOUN,
    "DIGITS": DIGITS,
    "WHOLE": (
        rf"(?:{_HAN}?\s*\(?\s*{_OUT_OF}\s*(?:(?:a|an|the)\s+)?(?:(?:possible|maximum|total|perfect)\s+)?(?:of\s+)?"
        rf"(?P<whole>{NUMBER})|\s?(?P<percent>%))?"
    ),
    "HAS_WHOLE": rf"(?={_HAN}?\s*\(?{_OUT_OF})",
    # Neither a range (3-4, 3 or 4), nor a list (1, 2, or 3), nor points that are added up or taken off.
    "NOT_MORE": (
        rf"(?!\s*[/%]\s*\w)(?!\s*%)(?!\s+out\s+of\b)(?!\s?(?:{numbers.OF_WHICH}))"
        rf"(?!(?:\s*\([^()\n]{{0,40}}\))?\s*(?:-|\bto\b|\bor\b|\bthrough\b)\s*(?:(?:a|an)\s+)?{NUMBER})"
        rf"(?!,\s+{DIGITS},?\s+(?:(?:or|and)\s+)?{DIGITS})"
        r"(?!\s+points?\s+(?:(?:is|was|were|are)\s+)?(?:for|off|from|because|deduct\w*|tak\w+|los\w+|remov\w+|add\w*)\b)"
    ),
    "ENDING": (
        rf"(?=\s*(?:\Z|[.,;:!?)\"'\n|]|-\s|\((?!\s*\d)|{_HAN}|(?:{numbers.UNITS}|stars?|points?|for|on|in|because|"
        r"since|as|due|given|and|but|with|overall|here|regarding|when|while|at|by|based|rating|to\s+reflect|"
        r"would\s+be|is\s+(?:appropriate|given|assigned))\b))"
    ),
    "UNITS": rf"(?:\s+(?:stars?|points?|{numbers.UNITS})|\s?{_HAN}|\s?[★⭐🌟])?",
    "STARS": r"(?:stars?|sterne?n?|étoiles?|estrellas?|звезд[аы]?|звёзд[аы]?)",
    "ARTICLE": (
        rf"(?:(?:{numbers.ARTICLES}|a|an|the|only|just|about|around|approximately|roughly|therefore|thus|then|solid|"
        r"strong|clear|low|high|weak|perfect|full|overall|final|good|fair|poor|mere|respectable|generous|"
        r"(?:score|rating|grade)\s+of)\s+){0,4}"
    ),
    "ABOUT": r"(?:\s+(?:given|assigned|awarded))?(?:\s+(?:for|of|on|in|as|to)\s+[^.:=\n\d]{1,60}?)?",
    "WEAK": (
        r"answer|verdict|category|label|stars|overall|total|result|conclusion|judge?ment|evaluation|assessment|"
        r"decision|level"
    ),
    "ISOR": (
        r"(?:\s+(?:of|at|as|to\s+be)|(?:\s+(?:for|of)\s+[^.:;,=\n\d]{1,60}?)?"
        r"\s+(?:is|was|(?:would|will|should|could|must)\s+be))"
    ),
    "RATE": (
        r"\b(?:rat(?:e|es|ed|ing)|grad(?:e|es|ed|ing)|g[ia]ves?|given|giving|assign(?:s|ed|ing)?|award(?:s|ed|ing)?|"
        r"deserv(?:es?|ing)|earn(?:s|ed|ing)?|receiv(?:es?|ing)|gets?|getting|merit(?:s|ing)?|warrant(?:s|ing)?|"
        r"scor(?:es?|ing)|(?:is|are|be|been|was)\s+scored|i(?:'d|'ll|\s+would|\s+will)?\s+(?:say|go\s+(?:with|for)|land\s+on|put|settle\s+on|lean\s+(?:to|towards?)))"
    ),
    "OBJECT": (
        r"(?:\s+(?:it|its|this|that|the|these|a|an|as|at|with|of|for|to|overall|only|just|text|summary|review|"
        r"response)){0,6}"
    ),
    "OFIN": r"(?:\s+(?:of|in)\s+[^.:;\n\d]{1,60}?)?",
    "GIVE": rf"\b(?:{numbers.GIVE})\b[^.:;\n\d]{{0,40}}?\s",
    "OFWHICH": numbers.OF_WHICH,
    "HANUNITS": _HAN,
    "NUMBER": NUMBER,
    "ENDTHING": r"(?=\s*(?:\Z|[.!;\n]|,\s|(?:in\s+terms\s+of|for|on|because|as|since)\b))",
    "ROWLABEL": r"^(?:[^\S\n]*-\s)?(?:\d{1,2}[.)]\s)?[^\S\n]*\|?[^\S\n]*(?P<row>[^:|=\n\d]{1,50}(?:\([^()\n]{0,40}\)\s*)?)[:|=]",
    "PRAISE": r"(?:perfect|excellent|good|great|high|strong|low|poor|weak|fair|moderate|decent|average|solid|full)",
}

VALUE, ONLY = "(?P<value>NAMES NUMBER) WHOLE NOT_MORE", "(?P<value>ANYNAME NUMBER) WHOLE NOT_MORE"
FIGURES = "(?P<value>ANYNAME DIGITS) WHOLE NOT_MORE"
ALONE_SCORE = f"SKIPPED {ONLY} UNITS BEHIND"
# NAMES: the names of points. ANYNAME: with yes and no, which are scores behind a label or alone, and mere words
# in a sentence. OWN: the dimension's name. STEM: how its adjective begins.
SCORES: tuple[tuple[Rank, str], ...] = (
    # Score: 4. Final score for coherence (1-5) = 4/5.
    (Rank.LABEL, rf"FINAL WORD NOUN ASIDE ABOUT ASIDE SIGN OPEN ARTICLE {ONLY}"),
    # Answer: 4. Overall: 4. Coherence of the text: 4.
    (Rank.WEAK_LABEL, rf"FINAL \b(?:WEAK|OWN OFIN) ASIDE SIGN OPEN ARTICLE {ONLY} ENDING"),
    # A judged text is a response, too, and repeated ("Response: Yes, it is."), so words stand alone.
    (
        Rank.WEAK_LABEL,
        r"FINAL \bresponse ASIDE SIGN OPEN ARTICLE (?P<value>DIGITS) WHOLE NOT_MORE ENDING",
    ),
    (Rank.WEAK_LABEL, rf"FINAL \bresponse ASIDE SIGN OPEN ARTICLE {ONLY} UNITS BEHIND $"),
    # A line, the end, the beginning: "4/5", "It flows. 4.", "4 - it flows", "Four stars for its order".
    (Rank.LINE, rf"^SKIPPED (?:-\s)? {ONLY} UNITS BEHIND $"),
    (Rank.LINE, rf"(?:^|[.!?:;]\s|\() SKIPPED (?:-\s)? {ONLY} UNITS BEHIND \Z"),
    (
        Rank.LINE,
        rf"\A SKIPPED (?:-\s)? {FIGURES} UNITS [\"')]*"
        r"(?:\s*[:(,](?!\s*\d)|\s*-\s|\s*\n|\.\s(?!(?<=[^\W\d]\.\s)(?-i:[a-z]))|\s+(?:because|since)\b)",
    ),
    (
        Rank.LINE,
        r"\A SKIPPED (?P<value>NUMBER) \s+STARS WHOLE [\"')]* \s* (?:[.,;:!(\n]|-\s|for\b|\Z)",
    ),
    # A score of 4. The score for coherence would be 4. A perfect fluency of 5. A high relevance (4).
    (Rank.SENTENCE, rf"\b NOUN ISOR \s+ARTICLE {VALUE} ENDING"),
    (
        Rank.SENTENCE,
        rf"\b OWN OFIN \s+(?:is|was|would\s+be|rated|scored|at|of)(?:\s+at)?\s+ARTICLE {VALUE} ENDING",
    ),
    (Rank.SENTENCE, r"\b(?:STEM\w*|PRAISE\s+\w+)\s+\((?P<value>NUMBER) WHOLE\)"),
    (Rank.SENTENCE, r"\b(?:is|was)\s+(?:\w+\s+){1,3}\((?P<value>NUMBER) WHOLE\)(?=\s*(?:[.,;]|\Z))"),
    # I would rate it a 4. It gets a 2 for order but a 4 for style. 4 out of 5. Ich gebe eine 4.
    (Rank.SENTENCE, rf"RATE OBJECT \s+ARTICLE {VALUE} ENDING"),
    (Rank.SENTENCE, rf"\b(?:and|but|while|yet)\s+(?:a|an)\s+{VALUE} ENDING"),
    (Rank.SENTENCE, rf"\b(?:category|label|class)\s+(?:of\s+|is\s+)?[\"']?{VALUE} ENDING"),
    (Rank.SENTENCE, r"(?P<value>NUMBER) HAS_WHOLE WHOLE NOT_MORE ENDING"),
    (Rank.SENTENCE, rf"GIVE {VALUE} ENDING"),
    # 5点中4点. 我给4分.
    (Rank.SENTENCE, r"(?P<whole>NUMBER)\s?(?:OFWHICH)\s?(?P<value>NUMBER)"),
    (
        Rank.SENTENCE,
        r"(?<!满分)(?<!滿分)(?<!満点)(?P<value>NUMBER)\s?HANUNITS(?=\s*(?:\Z|[.,;!?)\n]|です|と))",
    ),
    # It is a solid 4.
    (Rank.THING, r"\ban?\s+ARTICLE (?P<value>NUMBER) NOT_MORE ENDTHING"),
    # Yes, 2. The text is dull.
    (
        Rank.WHOLE,
        r"\A SKIPPED (?:yes,\s+(?!LOWEST(?!\d))|no,\s+(?!HIGHEST(?!\d)))(?P<value>DIGITS) BEHIND \Z",
    ),
    (
        Rank.WHOLE,
        r"\A SKIPPED (?:the|this)\s+(?:text|summary|response|review|reply)\s+is\s+(?P<value>NAMED) BEHIND \Z",
    ),
)
# A line of a list of scores: "Text 1: 2", "- Order: 3/5, as ...", "| Order | 4 |", "2. 3".
ROWS = (
    rf"^(?:[^\S\n]*\d{{1,2}}[.)]|[^:\n]{{1,60}}:)\s{{1,2}}{ONLY} UNITS BEHIND $",
    r"ROWLABEL [^\S\n\d]{0,4}(?P<value>ANYNAME NUMBER)(?:\s?/\s?\d+)? NOT_MORE (?=\s*(?:$|[-(,;.|]))",
)
OVERALL = (
    r"(?:my|the|your|final|overall|total|a|an|given)?\W*(?:(?:final|overall|total)\b.*|"
    rf"(?:NOUN|WEAK|response|reason\w*|rationale|explanation|analysis)(?:\s*\(.*|\s+(?:for|of|on)\b.*)?)"
)
"""A label of a line that is no part of a list: it names the answer itself."""
STAR_SIGNS = r"(?<!\d)(?<!\d\s)(?P<full>(?:[★⭐🌟]\s?)+)(?P<half>½)?\s?(?P<empty>(?:☆\s?)*)"

CHOICE_PIECES = COMMON | {
    "THING": r"(?:option|choice|letter|answer|category|statement|description)",
    "TEXT": _TEXT,
    "LABEL": (
        r"(?:answer|choice|option|selection|verdict|judge?ment|decision|preference|winner|letter|score|rating|grade|"
        rf"conclusion|result|better\s+{_TEXT}|better\s+one)"
    ),
    "ISOR": rf"(?:{_SIGN}|\s+(?:is|was|would\s+be)\b)",
    "CHOOSE": (
        r"\b(?:choos(?:e|ing)|chose|select(?:ing)?|pick(?:ing)?|go(?:ing)?\s+with|opt(?:ing)?\s+for|prefer|"
        r"settle\s+on|assign|give\s+it|rat(?:e|ing)\s+[^.:\n]{1,60}?\bas|"
        r"(?:described|captured|classified|rated|represented|reflected)\s+(?:by|as))"
    ),
    "EITHER": _EITHER,
    "UPPER": _UPPER,
    "NOT_MORE": r"(?!\s*(?:or|and|/|&|,|-)\s*(?-i:[A-Z])(?!\w))(?!\s*(?:or|and|/|-)\s*\d)",
    "ENDING": (
        r"(?=\s*(?:\Z|[.,;:!?)\"'\n>(]|-\s)|\s+(?:because|since|as|for|with|due|which|is|fits|best|describes|matches|"
        r"applies|here)\b|\s(?-i:[A-Z]))"
    ),
    "BETTER": (
        r"(?:is|was|seems|appears|reads|performs|does|would\s+be)\s+(?:to\s+be\s+)?"
        r"(?:(?:\w{2,20}ly|a\s+bit|a\s+little|much|far|somewhat|the|a)\s+){0,3}"
    ),
    "BEST": r"(?:is|was|seems|would\s+be)\s+(?:the\s+)?(?:best|correct|right|closest|most\s+\w+)\s+(?:one|option|choice|answer|fit|match|description)",
}
ABOUT_OPTION = r"(?:THING\s+|TEXT\s+)?[\"'(]{0,8}"
OPTION, ANY_CASE = (rf"(?P<value>NAMES {case}) NOT_MORE (?:\s+TEXT)?" for case in ("UPPER", "EITHER"))
ALONE_CHOICE = f"SKIPPED {ABOUT_OPTION} {ANY_CASE} BEHIND"
OPTION_LINE = r"^[\s\"'(-]{0,4}(?:(?i:option|choice|letter|answer)\s+)?(?P<value>[A-Z])(?=\s?[:.)]|\s{0,4}$)"
CHOICES: tuple[tuple[Rank, str], ...] = (
    # Answer: D. Answer: d, at the end of a line.
    (Rank.LABEL, rf"FINAL \bLABEL ASIDE ISOR OPEN {ABOUT_OPTION} {OPTION} ENDING"),
    (
        Rank.WEAK_LABEL,
        rf"FINAL \bLABEL ASIDE ISOR OPEN {ABOUT_OPTION} (?P<value>EITHER)[\s\"').]*(?:\Z|\n)",
    ),
    # It flows. D.
    (Rank.LINE, rf"(?:^|\n|[.!?:;]\s|\() SKIPPED {ABOUT_OPTION} {ANY_CASE} BEHIND \Z"),
    # I choose option D. D is the best option.
    (Rank.SENTENCE, rf"\bTHING\s+[\"'(]{{0,8}}{OPTION} ENDING"),
    (Rank.SENTENCE, rf"CHOOSE \s+(?:the\s+)?{ABOUT_OPTION} {OPTION} ENDING"),
    (Rank.SENTENCE, r"(?P<value>UPPER)\)?\s+BEST"),
    # It flows (D).
    (Rank.WHOLE, r"(?<!\w)\((?P<value>LETTERS)\)"),
)
# Unless a reply goes through several options, a line for each: "D: most of it flows".
FIRST_CHOICE = rf"\A SKIPPED {ABOUT_OPTION} (?P<value>(?:NAMES EITHER)(?=BEHIND (?:\n|\Z))|FIRSTNAME EITHER(?=\s?[:.)(]|\s-\s))"
COMPARED = rf"(?:\bTEXT\s+|\bthe\s+|(?=UPPER\s))(?P<value>NAMED|UPPER)(?:\s+(?:one|TEXT))?\s+(?:wins\b|BETTER(?:PRAISED)\b)"
TIED = (
    r"\bequally\s+\w|\b(?:it\s+is|it's|is|as)\s+(?:a\s+)?(?:tie|draw)\b|\b(?:both|they)\b[^.\n]{0,60}\b(?:equal|the\s+same)\b|"
    r"\bneither\b[^.\n]{0,60}\b(?:better|superior)\b"
)
