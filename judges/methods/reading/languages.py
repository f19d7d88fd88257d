"""The words that replies in several languages use for scores: numbers, labels, units, "out of".

English, German, French, Spanish, Russian, Arabic, Hindi, Chinese and Japanese. Digits of every script are
read as they are (see `plain`).
"""

import re

_ONE_TO_TEN = (
    "one two three four five six seven eight nine ten",
    "eins zwei drei vier fünf sechs sieben acht neun zehn",
    "un deux trois quatre cinq six sept huit neuf dix",
    "uno dos tres cuatro cinco seis siete ocho nueve diez",
    "один два три четыре пять шесть семь восемь девять десять",
    "واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة",
    "एक दो तीन चार पांच छह सात आठ नौ दस",
)
_OTHER_FORMS = {
    **{"zéro": 0, "cero": 0, "ноль": 0, "صفر": 0, "शून्य": 0},
    **{"одна": 1, "одну": 1, "واحدة": 1},
    **{"две": 2, "اثنين": 2, "اثنتان": 2, "ثلاث": 3, "أربع": 4, "خمس": 5, "पाँच": 5, "ست": 6, "छः": 6},
}
WORDS = {
    word: value for words in _ONE_TO_TEN for value, word in enumerate(words.split(), start=1)
} | _OTHER_FORMS
del WORDS["un"]
"""Numbers by their words; what is an article, too, is none: "eine 4" is no 1."""
ARTICLES = "eine?n?|une?|una"

HAN = dict(zip("零一二三四五六七八九十", range(11), strict=True)) | {"〇": 0, "两": 2}
"""Numbers by Chinese and Japanese characters, which are numbers only before a unit or an end."""

_NOTE = r"not[ea](?=\s{0,2}[:=]\s{0,3}\w{1,6}\s{0,2}(?:/|sur\b|von\b|de\b|\.?\s*(?:\Z|\n)))"  # Note: 4
SCORE = (
    rf"{_NOTE}|punkt(?:e|zahl|wert)|bewertung|wertung|gesamtnote|évaluation|puntuaci[oó]n|calificaci[oó]n|puntaje|"
    r"оценка|оценку|балл|рейтинг|الدرجة|درجة|التقييم|تقييم|النتيجة|अंक|स्कोर|रेटिंग|"
    r"评分|評分|分数|得分|打分|评级|評価|評点|点数|スコア|得点"
)
"""What a score is called, beside English."""

UNITS = (
    r"sternen?|punkten?|étoiles?|estrellas?|puntos?|звезд[аы]?|звёзд[аы]?|балл(?:а|ов)?|نجوم|نجمات|درجات|نقاط|"
    r"सितारे|स्टार|अंक"
)
HAN_UNITS = r"颗星|顆星|つ星|星|分|点|點"
"""What is counted, beside English; the second follow a number without a space."""

OUT_OF = r"von|sur|de|из|من"
"""Between a score and the upper end of its scale: 4 von 5."""
OF_WHICH = r"(?:点|分)\s?(?:満点)?\s?中の?|में\s+से"
"""Between the upper end of a scale and a score: 5点中4点."""

COUNTS = re.compile(rf"{HAN_UNITS}|में")
"""What every reply has that counts in these characters: only such replies are searched for such counts."""

FULL_MARKS = r"(?:满分|滿分|満点)(?:为|是|は)?"
"""Between a score and the upper end of its scale: 4分(满分5分)."""

GIVE = (
    r"bewerte|vergebe|gebe|erhält|verdient|donne|attribue|mérite|doy|otorgo|asigno|merece|ставлю|оцениваю|"
    r"заслуживает|أعطي|أمنح|يستحق"
)
"""What is said before a score in a sentence."""
