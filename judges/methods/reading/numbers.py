"""Numbers in replies: 4, 3.5, 3,5, 3½, four, seventy-five, vier, 四.

In English, German, French, Spanish, Russian, Arabic, Hindi, Chinese and Japanese. Digits of every script are
accepted (see `plain`). An article is no number: "eine 4" is not 1.
"""

import re
import unicodedata

_COUNTED = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen",
    "eins zwei drei vier fünf sechs sieben acht neun zehn",
    "_ deux trois quatre cinq six sept huit neuf dix",
    "uno dos tres cuatro cinco seis siete ocho nueve diez",
    "один два три четыре пять шесть семь восемь девять десять",
    "واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة",
    "एक दो तीन चार पांच छह सात आठ नौ दस",
)
WORDS = {word: value for words in _COUNTED for value, word in enumerate(words.split(), start=1)} | {
    **{"zero": 0, "zéro": 0, "cero": 0, "ноль": 0, "صفر": 0, "शून्य": 0, "одна": 1, "одну": 1, "واحدة": 1},
    **{"две": 2, "اثنين": 2, "اثنتان": 2, "ثلاث": 3, "أربع": 4, "خمس": 5, "पाँच": 5, "ست": 6, "छः": 6},
    **{"hundred": 100, "one hundred": 100, "a hundred": 100},
}
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
for _ten, _word in enumerate(_TENS.split(), start=2):
    WORDS[_word] = 10 * _ten
    WORDS |= {f"{_word}-{unit}": 10 * _ten + WORDS[unit] for unit in _COUNTED[0].split()[:9]}
del WORDS["_"]
HAN = dict(zip("零一二三四五六七八九十", range(11), strict=True)) | {"〇": 0, "两": 2}
FRACTIONS = "½¼¾"

# Ignoring case would look for the other case of each of 27,000 characters, which takes most of compiling.
LETTER = r"(?-i:[^\W\u3040-\u30ff\u3400-\u9fff])"
"""A letter or digit of a script with spaces: beside Chinese and Japanese a word begins all the same."""
_BEFORE = rf"(?<!{LETTER})(?<![$€£])"
_DIGITS = rf"[-+]?\d+(?:\.\d+|,\d{{1,2}})?[{FRACTIONS}]?"
_WORDS = "|".join(re.sub("[- ]", r"[-\\x20]", word) for word in sorted(WORDS, key=len, reverse=True))
_NOT_PART_OF_MORE = rf"(?!{LETTER}|[½¼¾])(?![.,]\d)(?!\s+\d+\s*/\s*\d)(?!\s?[年月日人个個件本回番章节])"
_HAN = rf"[{''.join(HAN)}](?=\s?(?:\Z|[.,;:!?)\"'\n]|颗星|顆星|つ星|星|分|点|點))"
DIGITS = rf"{_BEFORE}{_DIGITS}{_NOT_PART_OF_MORE}"
NUMBER = rf"(?:{_BEFORE}(?:{_DIGITS}|{_WORDS}){_NOT_PART_OF_MORE}|(?<![{''.join(HAN)}]){_HAN})"
"""A number that stands by itself: no part of a word, a date or a sum of money."""


def number(written: str) -> float | None:
    """Return the value of a match of `NUMBER`, None if it is no number after all."""
    half = written[-1:] if written[-1:] in FRACTIONS else ""
    digits = written.removesuffix(half) if half else written
    joined = re.sub(r"[\s-]", "-" if "hundred" not in digits.casefold() else " ", digits.casefold())
    word = HAN.get(digits, WORDS.get(joined))
    try:
        whole = float(digits.replace(",", ".")) if word is None else float(word)
    except ValueError:
        return None
    part = unicodedata.numeric(half) if half else 0.0
    return whole - part if digits.startswith("-") else whole + part
