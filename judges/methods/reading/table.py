"""The forms of scores and choices in replies: each with its rank and its pattern.

Words in capitals are pieces to fill in. Spaces do not count. All pieces have a limit, so that no reply takes
long to parse. `value` is the answer; if the group `final` matches, the form marks the final answer.
"""

import re
from collections.abc import Iterator, Mapping
from enum import IntEnum
from functools import cached_property

from judges.methods.reading.plain import DIGITS, IN_ASCII, LETTER, NUMBER


class Rank(IntEnum):
    """The explicitness of a statement; the lowest number decides. See `statements.choose_statement`."""

    MARKED = 0  # in a tag, a box or a field of JSON
    LABEL = 1  # Score: 4
    WEAK_LABEL = 2  # Answer: 4; Coherence: 4
    LINE = 3  # the reply, its beginning, its end or one of its lines is the answer
    ONE_LINE = 4  # the only line that starts with an option
    SENTENCE = 5  # I would rate it a 4
    THING = 6  # it is a solid 4
    WHOLE = 7  # Yes, 2.
    OWN_PART = 8  # the dimension's own line in a list of scores
    PART = 9  # any other line of such a list


def _entries(text: str) -> list[tuple[str, str]]:
    """Return the entries of a table: a name and a pattern, which continues on indented lines."""
    rows = [line for line in text.splitlines() if line and not line.startswith("#")]
    found: list[tuple[str, str]] = []
    for row in rows:
        name, pattern = ("", row) if row.startswith(" ") else row.split(maxsplit=1)
        # A row without a name continues the pattern of the row before.
        found = (
            [*found, (name, pattern)] if name else [*found[:-1], (found[-1][0], f"{found[-1][1]} {pattern}")]
        )
    return found


def fill(form: str, pieces: Mapping[str, str]) -> str:
    """Return a form with its pieces filled in, and without spaces; unknown words stay for a later filling."""
    return "".join(
        re.sub(r"[A-Z][A-Z_]{2,}", lambda match: pieces.get(match[0], f" {match[0]} "), part)
        for part in form.split()
    )


# Non-English forms: German, French, Spanish, Russian, Arabic, Hindi, Chinese, Japanese. NOT_MORE: neither a
# range (3-4, 3 or 4), nor a list (1, 2, or 3), nor points that are added or subtracted.
_PIECES = r"""
FINAL     (?P<final>\b(?:final|overall)\b[^.:=\n]{0,40}?)?
ASIDE     (?:\s*\([^()\n]{0,60}\))?
SIGN      ["']?\s*(?:\b(?:is|was)\s*)?(?::|=>?|\||->|→|-(?=\s))
SKIPPED   [\s"'(|]{0,8}
BEHIND    [\s"').!:|]{0,8}
OPEN      [\s"'(<|:]{0,6}
OTHER_SCORE  not[ea](?=\s{0,2}[:=]\s{0,3}\w{1,6}\s{0,2}(?:/|sur\b|von\b|de\b|\.?\s*(?:\Z|\n)))|punkt(?:e|
  zahl|wert)|bewertung|wertung|gesamtnote|évaluation|puntuaci[oó]n|calificaci[oó]n|puntaje|оценка|оценку|
  балл|рейтинг|الدرجة|درجة|التقييم|تقييم|النتيجة|अंक|स्कोर|रेटिंग|评分|評分|分数|得分|打分|评级|評価|評点|点数|スコア|得点
OTHER_UNITS  sternen?|punkten?|étoiles?|estrellas?|puntos?|звезд[аы]?|звёзд[аы]?|балл(?:а|ов)?|نجوم|نجمات|
  درجات|نقاط|सितारे|स्टार|अंक
HAN       (?:颗星|顆星|つ星|星|分|点|點)
OF_WHICH  (?:(?:点|分)\s?(?:満点)?\s?中の?|में\s+से)
OTHER_GIVE   bewerte|vergebe|gebe|erhält|verdient|donne|attribue|mérite|doy|otorgo|asigno|merece|ставлю|
  оцениваю|заслуживает|أعطي|أمنح|يستحق
OUT_OF    (?:/|\b(?:(?:out\s+)?of|von|sur|de|из|من)\b|(?:满分|滿分|満点)(?:为|是|は)?)
NOUN      (?:(?:score|rating|grade|mark)s?|OTHER_SCORE)
OF_WHOLE  (?:HAN?\s*\(?\s*OUT_OF\s*(?:(?:a|an|the)\s+)?(?:(?:possible|maximum|total|
  perfect)\s+)?(?:of\s+)? (?P<whole>NUMBER)|\s?(?P<percent>%))?
NOT_MORE  (?!\s*[/%]\s*\w)(?!\s*%)(?!\s+out\s+of\b)(?!\s?OF_WHICH)(?!(?:\s*\([^()\n]{0,40}\))? \s*(?:-|
  \bto\b|\bor\b|\bthrough\b)\s*(?:(?:a|an)\s+)?NUMBER)(?!,\s+DIGITS,?\s+(?:(?:or|and)\s+)?DIGITS)
  (?!\s+points?\s+(?:(?:is|was|were|are)\s+)?(?:for|off|from|because|deduct\w*|tak\w+|los\w+|remov\w+|
  add\w*)\b)
ENDING    (?=\s*(?:\Z|[.,;:!?)"'\n|]|-\s|\((?!\s*\d)|HAN|(?:OTHER_UNITS|stars?|points?|for|on|in|because|
  since|as|due|given|and|but|with|overall|here|regarding|when|while|at|by|based|rating|to\s+reflect|
  would\s+be|is\s+(?:appropriate|given|assigned))\b))
UNITS     (?:\s+(?:stars?|points?|OTHER_UNITS)|\s?HAN|\s?[★⭐🌟])?
ARTICLE   (?:(?:eine?n?|une?|una|a|an|the|only|just|about|around|approximately|roughly|therefore|thus|then|
  solid|strong|clear|low|high|weak|perfect|full|overall|final|good|fair|poor|mere|respectable|generous|
  (?:score|rating|grade)\s+of)\s+){0,4}
ABOUT     (?:\s+(?:given|assigned|awarded))?(?:\s+(?:for|of|on|in|as|to)\s+[^.:=\n\d]{1,60}?)?
WEAK      answer|verdict|category|label|stars|overall|total|result|conclusion|judge?ment|evaluation|
  assessment|decision|level
ISOR      (?:\s+(?:of|at|as|to\s+be)|(?:\s+(?:for|of|the|that|this|i)\s+[^.:;,=\n\d]{1,60}?)?\s+(?:is|was|
  (?:would|will|should|could|must)\s+be))
RATE      \b(?:rat(?:e|es|ed|ing)|grad(?:e|es|ed|ing)|g[ia]ves?|given|giving|assign(?:s|ed|ing)?|award(?:s|
  ed|ing)?|deserv(?:es?|ing)|earn(?:s|ed|ing)?|receiv(?:es?|ing)|gets?|getting|merit(?:s|ing)?|warrant(?:s|
  ing)?|scor(?:es?|ing)|(?:is|are|be|been|was)\s+scored|i(?:'d|'ll|\s+would|\s+will)?\s+(?:say|
  go\s+(?:with|for)|land\s+on|put|settle\s+on|lean\s+(?:to|towards?)))
OBJECT    (?:\s+(?:it|its|this|that|the|these|a|an|as|at|with|of|for|to|overall|only|just|text|summary|
  review|response)){0,6}
OF_IN     (?:\s+(?:of|in)\s+[^.:;\n\d]{1,60}?)?
PRAISE    (?:perfect|excellent|good|great|high|strong|low|poor|weak|fair|moderate|decent|average|solid|full)
VALUE     (?P<value>NAMES NUMBER) OF_WHOLE NOT_MORE
ONLY      (?P<value>ANYNAME NUMBER) OF_WHOLE NOT_MORE
ROW_LABEL ^(?:[^\S\n]*-\s)?(?:\d{1,2}[.)]\s)?[^\S\n]*\|?[^\S\n]*[^:|=\n\d]{1,50}(?:\([^()\n]{0,40}\)\s*)?[:
  |=]
NOT_WORD  (?!\w)(?!')
EITHER    (?<!\w)[A-Za-z]NOT_WORD
UPPER     (?<!\w)(?-i:[A-Z])NOT_WORD
KIND      (?:option|choice|letter|answer|category|statement|description)
TEXT      (?:text|summary|response|candidate|version|output|review|story|translation|assistant|system)
CHOICE    (?:answer|choice|option|selection|verdict|judge?ment|decision|preference|winner|letter|score|
  rating|grade|conclusion|result|better\s+TEXT|better\s+one)
CHOOSE    \b(?:choos(?:e|ing)|chose|select(?:ing)?|pick(?:ing)?|go(?:ing)?\s+with|opt(?:ing)?\s+for|prefer|
  settle\s+on|assign|give\s+it|rat(?:e|ing)\s+[^.:\n]{1,60}?\bas|(?:described|captured|classified|rated|
  represented|reflected) \s+(?:by|as))
ONE_ONLY  (?!\s*(?:or|and|/|&|,|-)\s*(?-i:[A-Z])(?!\w))(?!\s*(?:or|and|/|-)\s*\d)(?:\s+TEXT)?
AFTER_ONE (?=\s*(?:\Z|[.,;:!?)"'\n>(]|-\s)|\s+(?:because|since|as|for|with|due|which|is|fits|best|
  describes|matches|applies|here)\b|\s(?-i:[A-Z]))
QUOTE     ["'(]{0,8}
KIND_OF   (?:KIND\s+|TEXT\s+)?QUOTE
OPTION    (?P<value>NAMES UPPER) ONE_ONLY AFTER_ONE
ANY_CASE  (?P<value>NAMES EITHER) ONE_ONLY
BETTER    (?:is|was|seems|appears|reads|performs|does|would\s+be)\s+(?:to\s+be\s+)?(?:(?:\w{2,20}ly|
  a\s+bit|a\s+little|much|far|somewhat|the|a)\s+){0,3}
BEST      (?:is|was|seems|would\s+be)\s+(?:the\s+)?(?:best|correct|right|closest|most\s+\w+)\s+ (?:one|
  option|choice|answer|fit|match|description)
"""
PIECES = {"NUMBER": NUMBER, "DIGITS": DIGITS, "WORD": rf"(?<!{LETTER})"}
for _name, _pattern in _entries(_PIECES):
    PIECES[_name] = fill(_pattern, PIECES)

# Filled in for a dimension. NAMES: the names of its points. ANYNAME: with yes and no, which are scores after
# a label or alone, and mere words in a sentence. OWN: its name. STEM: the stem of its adjective.
_SCORES = r"""
# Score: 4. Final score for coherence (1-5) = 4/5.
LABEL       FINAL WORD NOUN ASIDE ABOUT ASIDE SIGN OPEN ARTICLE ONLY
# Answer: 4. Overall: 4. Coherence of the text: 4. A judged text is a response, so words stand alone there.
WEAK_LABEL  FINAL \b(?:WEAK|OWN OF_IN) ASIDE SIGN OPEN ARTICLE ONLY ENDING
WEAK_LABEL  FINAL \bresponse ASIDE SIGN OPEN ARTICLE (?P<value>DIGITS) OF_WHOLE NOT_MORE ENDING
WEAK_LABEL  FINAL \bresponse ASIDE SIGN OPEN ARTICLE ONLY UNITS BEHIND $
# A line, the end, the beginning: "4/5"; "It flows. 4."; "4 - it flows"; "Four stars for its order".
LINE        ^SKIPPED (?:-\s)? ONLY UNITS BEHIND $
LINE        (?:^|[.!?:;]\s|\() SKIPPED (?:-\s)? ONLY UNITS BEHIND \Z
LINE        \A SKIPPED (?:-\s)? (?P<value>ANYNAME DIGITS) OF_WHOLE NOT_MORE UNITS ["')]*
  (?:\s*[:(,](?!\s*\d)|\s*-\s|\s*\n|\.\s(?!(?<=[^\W\d]\.\s)(?-i:[a-z]))|\s+(?:because|since)\b)
LINE        \A SKIPPED (?P<value>NUMBER) \s+(?:stars?|sterne?n?|étoiles?|estrellas?|звезд[аы]?|звёзд[аы]?)
  OF_WHOLE ["')]*\s*(?:[.,;:!(\n]|-\s|for\b|\Z)
# A score of 4. The score for coherence would be 4. A perfect fluency of 5. A high relevance (4).
SENTENCE    \b NOUN ISOR \s+ARTICLE VALUE ENDING
SENTENCE    \b OWN OF_IN \s+(?:is|was|would\s+be|rated|scored|at|of)(?:\s+at)?\s+ARTICLE VALUE ENDING
SENTENCE    \b(?:STEM\w*|PRAISE\s+\w+)\s+\((?P<value>NUMBER) OF_WHOLE\)
SENTENCE    \b(?:is|was)\s+(?:\w+\s+){1,3}\((?P<value>NUMBER) OF_WHOLE\)(?=\s*(?:[.,;]|\Z))
# I would rate it a 4. It gets a 2 for order but a 4 for style. 4 out of 5. Ich gebe eine 4. 5点中4点.
SENTENCE    RATE OBJECT \s+(?:OWN\s+)?ARTICLE VALUE ENDING
SENTENCE    \b(?:and|but|while|yet)\s+(?:a|an)\s+VALUE ENDING
SENTENCE    \b(?:category|label|class)\s+(?:of\s+|is\s+)?["']?VALUE ENDING
SENTENCE    (?P<value>NUMBER)(?=HAN?\s*\(?OUT_OF) OF_WHOLE NOT_MORE ENDING
SENTENCE    \b(?:OTHER_GIVE)\b[^.:;\n\d]{0,40}?\s VALUE ENDING
SENTENCE    (?P<whole>NUMBER)\s?OF_WHICH\s?(?P<value>NUMBER)
SENTENCE    (?<!满分)(?<!滿分)(?<!満点)(?P<value>NUMBER)\s?HAN(?=\s*(?:\Z|[.,;!?)\n]|です|と))
# It is a solid 4.
THING       \ban?\s+ARTICLE (?P<value>NUMBER) NOT_MORE (?=\s*(?:\Z|[.!;\n]|,\s|(?:in\s+terms\s+of|for|on|
  because|as|since|is\s+(?:fair|appropriate|fitting|justified|warranted|suitable|reasonable|right))\b))
# Yes, 2. The text is dull.
WHOLE       \A SKIPPED (?:yes,\s+(?!LOWEST(?!\d))|no,\s+(?!HIGHEST(?!\d)))(?P<value>DIGITS) BEHIND \Z
WHOLE       \A SKIPPED (?:the|this)\s+(?:text|summary|response|review|reply)\s+is\s+(?P<value>NAMED)
  BEHIND \Z
# A line of a list of scores: "Text 1: 2"; "2. 3"; "- Order: 3/5, as ..."; "| Order | 4 |".
PART        ^(?:[^\S\n]*\d{1,2}[.)]|[^:\n]{1,60}:)\s{1,2}ONLY UNITS BEHIND $
PART        ROW_LABEL [^\S\n\d]{0,4}(?P<value>ANYNAME NUMBER)(?:\s?/\s?\d+)? NOT_MORE (?=\s*(?:$|[-(,;.|]))
"""
SCORE_ALONE = "SKIPPED ONLY UNITS BEHIND"
OVERALL = r"""(?:my|the|your|final|overall|total|a|an|given)?\W*(?:(?:final|overall|total)\b.*|
    (?:NOUN|WEAK|response|reason\w*|rationale|explanation|analysis)(?:\s*\(.*|\s+(?:for|of|on)\b.*)?)"""
"""A label of a line that is no part of a list: it names the answer itself."""
STARS = r"(?<!\d)(?<!\d\s)(?P<full>(?:[★⭐🌟]\s?)+)(?P<half>½)?\s?(?P<empty>(?:☆\s?)*)"

# Filled in for options. LETTERS: their letters. NAMED: their names. PRAISED: words for the better one of two
# outputs.
_CHOICES = r"""
# Answer: D. Answer: d, at the end of a line. "It flows. D."
LABEL       FINAL \bCHOICE ASIDE (?:SIGN|\s+(?:is|was|would\s+be)\b) OPEN KIND_OF OPTION
WEAK_LABEL  FINAL \bCHOICE ASIDE (?:SIGN|\s+(?:is|was|would\s+be)\b) OPEN KIND_OF
  (?P<value>EITHER)[\s"').]*(?:\Z|\n)
LINE        (?:^|\n|[.!?:;]\s|\() SKIPPED KIND_OF ANY_CASE BEHIND \Z
# I choose option D. D is the best option. It flows (D). The first text is better.
SENTENCE    \bKIND\s+QUOTE OPTION
SENTENCE    CHOOSE \s+(?:the\s+)?KIND_OF OPTION
SENTENCE    (?P<value>UPPER)\)?\s+BEST
SENTENCE    (?:\bTEXT\s+|\bthe\s+|(?=UPPER\s))(?P<value>NAMED|UPPER)(?:\s+(?:one|TEXT))?\s+(?:wins\b|
  BETTER(?:PRAISED)\b)
WHOLE       (?<!\w)\((?P<value>LETTERS)\)
"""
CHOICE_ALONE = "SKIPPED KIND_OF ANY_CASE BEHIND"
FIRST_CHOICE = r"""\A SKIPPED KIND_OF (?P<value>(?:NAMES EITHER)(?=BEHIND (?:\n|\Z))|
    FIRSTNAME EITHER(?=\s?[:.)(]|\s-\s))"""
"""The beginning of a reply, unless that goes through several options, a line for each."""
OPTION_LINE = r"^[\s\"'(-]{0,4}(?:(?i:option|choice|letter|answer)\s+)?(?P<value>[A-Z])(?=\s?[:.)]|\s{0,4}$)"
TIED = r"""\bequally\s+\w|\b(?:it\s+is|it's|is|as)\s+(?:a\s+)?(?:tie|draw)\b|
    \bneither\b[^.\n]{0,60}\b(?:better|superior)\b|\b(?:both|they)\b[^.\n]{0,60}\b(?:equal|the\s+same)\b"""

SCORES = [(Rank[name], form) for name, form in _entries(_SCORES)]
CHOICES = [(Rank[name], form) for name, form in _entries(_CHOICES)]


FLAGS = re.IGNORECASE | re.MULTILINE


class Form:
    """A form of replies, compiled at its first use: one pattern for ASCII texts, one for all others.

    Character classes of other scripts compile slowly, and ASCII texts do not need them.
    """

    def __init__(self, pattern: str) -> None:
        self._written = pattern

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self._pattern_for(text).finditer(text)

    def match(self, text: str) -> re.Match[str] | None:
        return self._pattern_for(text).match(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self._pattern_for(text).fullmatch(text)

    def _pattern_for(self, text: str) -> re.Pattern[str]:
        return self.ascii_pattern if text.isascii() else self.full_pattern

    @cached_property
    def full_pattern(self) -> re.Pattern[str]:
        return re.compile(self._written, FLAGS)

    @cached_property
    def ascii_pattern(self) -> re.Pattern[str]:
        written = self._written
        for pattern, shorter in IN_ASCII.items():
            written = written.replace(pattern, shorter)
        return re.compile(written, FLAGS)


def compile_form(form: str, own: Mapping[str, str]) -> Form:
    """Return a form with all pieces; own: the pieces of a dimension or of options."""
    # Shared pieces contain pieces of a dimension, so these are filled in last.
    return Form(fill(fill(form, PIECES), own))
