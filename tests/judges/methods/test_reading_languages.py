"""How models state a score in other languages than English, and forms of English that were misread once."""

import pytest

from annotate.core.guideline import FrozenDimension
from judges.methods import METHODS
from judges.methods.base import Readable
from tests.judges.methods.dimensions import FIVE, dimension

TRUE_OR_FALSE = dimension("Groundedness", 0, 1)


def value(reply: str, scale: FrozenDimension = FIVE) -> float | None:
    reading = METHODS["rts"].read(reply, scale)
    return reading.value if isinstance(reading, Readable) else None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Punktzahl: 4 von 5", 4),
        ("Bewertung: vier Sterne", 4),
        ("Bewertung: eine 4", 4),
        ("Vier Sterne. Die Zusammenfassung ist gut.", 4),
        ("Ich gebe 3 von 5 Punkten.", 3),
        ("Ich bewerte den Text mit 2,5.", 2.5),
        ("Note : 4/5", 4),
        ("Je donne 4 sur 5.", 4),
        ("Quatre étoiles. Le résumé est bon.", 4),
        ("Puntuación: 3", 3),
        ("Nota: un 4", None),
        ("Le doy un cuatro.", 4),
        ("Cuatro estrellas. Bien.", 4),
        ("Оценка: 4 из 5", 4),
        ("Я ставлю четыре.", 4),
        ("Четыре звезды. Хорошо.", 4),
        ("التقييم: ٤ من ٥", 4),
        ("الدرجة: أربعة", 4),
        ("स्कोर: ४", 4),
        ("5 में से 4", 4),
        ("अंक: चार", 4),
        ("评分：4", 4),
        ("最终评分：四分。", 4),
        ("我给这个摘要4分（满分5分）。", 4),
        ("得分: 4/5", 4),
        ("評価：4点", 4),
        ("評価：5点中4点です。", 4),
        ("5点満点中3点", 3),
    ],
)
def test_scores_in_other_languages(reply: str, expected: float | None) -> None:
    assert value(reply) == expected


@pytest.mark.parametrize(
    "reply",
    [
        "Note: 3 sentences repeat.",
        "一般来说，这个摘要有三个问题。",
        "Die Zusammenfassung hat vier Fehler.",
        "Le texte a deux parties, et une erreur.",
        "Score: null",
    ],
)
def test_numbers_that_are_no_score(reply: str) -> None:
    assert value(reply) is None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Three stars. The summary omits the cause.", 3),
        ("Four stars for coherence. It flows.", 4),
        ("Five out of five stars.", 5),
        ("Overall: 4 stars - it is good", 4),
        ("* 1 point for the main idea\n* 1 point for order\nI would score this a 3 out of 5.", 3),
        ("The summary is a perfect 5 in terms of fluency.", 5),
        ("I'd say it is a solid 4 in terms of coherence, as it flows.", 4),
        ("Response: 4\nRationale: it flows.", 4),
        ("2- Somewhat ordered", 2),
        ("The response is somewhat coherent (2). While it flows.", 2),
        ("The coherence of the response is 3 (good).", 3),
    ],
)
def test_forms_of_english(reply: str, expected: float) -> None:
    assert value(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"), [("Yes", 1), ("No.", 0), ("Yes. It is said.", 1), ("Nobody.", None)]
)
def test_yes_and_no_are_1_and_0_if_the_scale_names_neither(reply: str, expected: float | None) -> None:
    assert value(reply, TRUE_OR_FALSE) == expected
    assert value(reply, FIVE) is None
