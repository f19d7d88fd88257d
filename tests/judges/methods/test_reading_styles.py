"""Replies in the styles of models of 2026, made by hand, with the value that a person reads."""

import pytest

from annotate.core.guideline import FrozenDimension
from judges.methods import METHODS
from judges.methods.base import Readable
from tests.judges.methods.dimensions import FIVE, HUNDRED, TEN, dimension

FLUENCY, RELEVANCE = dimension("Fluency"), dimension("Relevance")


def value(reply: str, scale: FrozenDimension = FIVE, method: str = "rts") -> float | None:
    reading = METHODS[method].read(reply, scale)
    return reading.value if isinstance(reading, Readable) else None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("The summary is a 4 out of 5. It could name the cause, which would make it a 5 out of 5.", 4),
        (
            "I would score the coherence of this summary a 3 out of 5. Here's a breakdown of the score:\n\n"
            "* 1 point for the order of events\n* 1 point for the ending\n* 1 point for the links",
            3,
        ),
        ("I give it a 4 out of 5. The number in the text is not the official count (217).", 4),
        ("I rate it 4 out of 5, for it is not the official count (217) that matters.", 4),
        ("Overall score: 4/5\n\n- Order: 3/5\n- Links: 5/5\n- Ending: 4/5", 4),
        ("Overall, I would give it a 4 out of 5.\n\nOrder: 3/5\nLinks: 5/5", 4),
        ("**Score: 3/5**\n\n**Breakdown:**\n- **Order (2/5):** jumps.\n- **Links (4/5):** good.", 3),
        ("Score: 4\n\nOrder score: 3\nEnding score: 5", 4),
        ("Order: 3/5\nLinks: 5/5\n\nTaken together, I would rate the summary a 4 out of 5.", 4),
        ("| Aspect | Score |\n|---|---|\n| Order | 3 |\n| Links | 5 |\n| **Overall** | **4** |", 4),
        ("Fluency: 5\nCoherence: 3\nRelevance: 4", 3),
        ("It is a 4. To get to a 5, it would have to name the cause.", 4),
        ("It deserves a 3. A better ending would raise it to a 4.", 3),
        ("If it had an ending, I would give it a 5. As it stands, I give it a 3.", 3),
        ("If it had an ending, I would give it a 5.", None),
        ("If I had to choose a number, I would give it a 4.", 4),
        ("Had it named the cause, it might have been a 5; I give it a 4.", 4),
        ("I'd rate this a 3 out of 5. Adding a conclusion could bring it up to a 4 out of 5.", 3),
        ("Rating: 4\n\nTo improve the rating to a 5, name the cause.", 4),
        ("I would give this a score of 2 out of 5. It mentions 3 of the 5 events.", 2),
        ("The text lists 12 events (3 of them twice). My rating is 2.", 2),
        ("I start at 5. I take off 1 point for the order and 1 point for the ending. Score: 3", 3),
        ("Score:\n- 2 points for order\n- 1 point for links\n\nTotal: 3", 3),
        ("It flows (sentences 1 and 2), but ends badly (sentence 3). Final score: 4.", 4),
    ],
)
def test_the_overall_statement_beats_parts_and_wishes(reply: str, expected: float | None) -> None:
    assert value(reply) == expected


@pytest.mark.parametrize(
    ("reply", "scale", "expected"),
    [
        ("The summary reads well throughout, scoring a perfect fluency of 5.", FLUENCY, 5),
        ("It covers all events, earning a perfect relevance (5).", RELEVANCE, 5),
        ("All sentences are correct, giving it a fluency of 4.", FLUENCY, 4),
        ("The summary is highly relevant (5) to the article.", RELEVANCE, 5),
        ("It has excellent fluency (5/5) and no slips.", FLUENCY, 5),
        ("It earns a high relevance score of 4.", RELEVANCE, 4),
        ("The fluency of this summary is rated at 4.", FLUENCY, 4),
        ("The fluency would be rated 4.", FLUENCY, 4),
        ("The summary has a fluency of 3 due to its slips.", FLUENCY, 3),
        ("Thus, its relevance is 2.", RELEVANCE, 2),
        ("The summary has a relevance rating of 2/5.", RELEVANCE, 2),
        ("Relevance = 3", RELEVANCE, 3),
        ("**Relevance**: 3/5 — it misses the cause.", RELEVANCE, 3),
        ("There are no slips, so fluency is a perfect 5.", FLUENCY, 5),
        ("Kane (5), who scored, is named. Relevance: 2", RELEVANCE, 2),
    ],
)
def test_a_score_that_is_called_by_the_dimension(reply: str, scale: FrozenDimension, expected: float) -> None:
    assert value(reply, scale) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Rating: **4/5**", 4),
        ("**Rating:** 4/5", 4),
        ("**Rating: 4 / 5**", 4),
        ("## Final Score: 4/5", 4),
        ("### Rating\n\n**4**", 4),
        ("**Overall Rating: ⭐⭐⭐⭐☆ (4/5)**", 4),
        ("⭐⭐⭐", 3),
        ("__Score__: `4`", 4),
        ("> **Score:** 4", 4),
        ("---\n**Score: 4**\n---", 4),
        ("**Verdict:** 4/5 – solid order", 4),
        ("Final Answer: **4**", 4),
        ("**4 out of 5**", 4),
        ("**Coherence Score: 4/5**\n\n**Reasoning:** It moves through 3 events.", 4),
        ("1. **Reasoning**: it has 2 jumps.\n2. **Score**: 3", 3),
        ("**Strengths:** clear.\n**Weaknesses:** 2 jumps.\n**Score:** 4", 4),
        ("| Criterion | Rating |\n|:--|:-:|\n| Coherence | 4 |", 4),
        ("| Score |\n|---|\n| 4 |", 4),
        ("Score → 4", 4),
        ("✅ **Score: 4/5** ✅", 4),
        ("🎯 Rating: 4", 4),
        ("The answer is $\\boxed{4}$.", 4),
        ("\\boxed{4}", 4),
        ("\\[\n\\boxed{4}\n\\]", 4),
        ("$\\boxed{\\text{4}}$", 4),
        ("$$\\boxed{4/5}$$", 4),
        ("I start with $5$ and take off $1$. \\( \\boxed{4} \\)", 4),
        ("Score: $4$", 4),
        ("Score: \\(4\\)", 4),
        ('```json\n{\n  "reasoning": "2 jumps",\n  "score": 4\n}\n```', 4),
        ('```json\n{"coherence": {"score": 4, "explanation": "fine"}}\n```', 4),
        ('{"rating": "4/5", "confidence": 0.9}', 4),
        ('{"final_score": 4, "order": 3, "links": 5}', 4),
        ('Here is the JSON:\n\n{"score": 4.0}\n\nLet me know!', 4),
        ('[{"score": 4}]', 4),
        ("```\nScore: 4\n```", 4),
        ("```yaml\nreason: 2 jumps\nscore: 4\n```", 4),
        ("<answer>4</answer>", 4),
        ("<rating>4</rating>", 4),
        ("<result><score>4</score></result>", 4),
        ("<evaluation>It jumps 2 times.</evaluation>\n<score>3</score>", 3),
        ("<think>\nMaybe Score: 3? Or 5.\n</think>\n\n**Score: 4**", 4),
        ("<thinking>It is a 2.</thinking>Score: 4", 4),
        ("[THINK]A 5? Score: 5.[/THINK]Score: 4", 4),
        ("◁think▷Score: 2◁/think▷Score: 4", 4),
        (
            "<|channel|>analysis<|message|>Score: 2?<|end|><|start|>assistant"
            "<|channel|>final<|message|>Score: 4",
            4,
        ),
        ("<scratchpad>3 or 4. Score: 3</scratchpad>\nScore: 4", 4),
        ("<think>Score: 4", None),
        ("Sure! I'd rate this a **4**.", 4),
        ("I'd say it's a 4/5.", 4),
        ("Honestly? 4/5.", 4),
        ("This one's a 3 for me.", 3),
        ("I'd land on a 4 here: the order is clear.", 4),
        ("I'd put this at a 4 out of 5.", 4),
        ("A 4. The order is clear.", 4),
        ("Solid 4/5.", 4),
        ("My assessment: 4/5", 4),
        ("Result: 4", 4),
        ("Evaluation: 4 out of 5", 4),
        ("The appropriate score is **4**.", 4),
        ("Based on the rubric, the score should be 3.", 3),
        ("Considering the above, coherence merits a 3.", 3),
        ("The text falls short of a 4; I settle on a 3.", 3),
        ("It is better than a 3, but not a 5. Score: 4", 4),
        ("Not quite a 5, so I give it a 4.", 4),
        ("It sits between 3 and 4; I lean to 4, so my final score is 4.", 4),
        ("Score: 3.5/5", 3.5),
        ("Score: 4.0/5.0", 4),
        ("Score: 4 / 5 points", 4),
        ("Score: **4** (on a scale from 1 to 5)", 4),
        ("On the 1–5 scale: 4", 4),
        ("Final rating (1–5): 2", 2),
        ("Score: 4️⃣", 4),
        ("Let's go step by step.\n\n1. Order: fine.\n2. Links: 2 are missing.\n\nScore: 3", 3),
        ("Step 1: read it.\nStep 2: it jumps.\nStep 3: decide.\n\nTherefore: 2", 2),
        ("**Step 1:** fine.\n**Step 2:** fine.\n\nFinal answer: 5", 5),
        ("I think a 4 is fair.", 4),
        ("The score the summary deserves is 4.", 4),
        ("I'd rate its coherence 4.", 4),
        ("It receives the highest coherence score (5).", 5),
        ("I would deduct one point, so it is a 4/5.", 4),
        ("Score: 4/5. The match ended 2-1, and the summary says 3-1.", 4),
        ("A score of 3 or 4 would need transitions. I'd rate it a 2.", 2),
        ("I can't rate this text.", None),
        ("I need more context to give a score from 1 to 5.", None),
        ("Score: N/A", None),
    ],
)
def test_forms_of_recent_models(reply: str, expected: float | None) -> None:
    assert value(reply) == expected


@pytest.mark.parametrize(
    ("reply", "scale", "expected"),
    [
        ("**Score: 8/10**\n\nBreakdown: order 7/10, links 9/10.", TEN, 8),
        ("I'd give it an 8.5 out of 10.", TEN, 8.5),
        ("Rating: 72/100", HUNDRED, 72),
        ("**Score:** 72 %", HUNDRED, 72),
        ("Score: 0 — nothing in it is supported.", dimension("Support", 0, 1), 0),
    ],
)
def test_other_scales(reply: str, scale: FrozenDimension, expected: float) -> None:
    assert value(reply, scale) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("**Bewertung: 4/5**\n\nDie Reihenfolge stimmt, 2 Sätze fehlen.", 4),
        ("Ich würde die Kohärenz mit 4 von 5 Punkten bewerten.", 4),
        ("**Punktzahl:** 3", 3),
        ("Gesamtbewertung: 4 von 5", 4),
        ("**Note : 4/5**", 4),
        ("Je donnerais une note de 4 sur 5.", 4),
        ("Évaluation : 3 sur 5, car l'ordre manque.", 3),
        ("**Puntuación:** 4 de 5", 4),
        ("Le doy 3 de 5 estrellas.", 3),
        ("**Оценка:** 4/5", 4),
        ("**评分：4/5**", 4),
        ("最终得分：3分", 3),
        ("**評価：4/5**", 4),
        ("التقييم: 4 من 5", 4),
        ("**स्कोर:** 3/5", 3),
    ],
)
def test_other_languages(reply: str, expected: float) -> None:
    assert value(reply) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("**D**", 4),
        ("**Answer: D**", 4),
        ("**D)** The majority of it flows.", 4),
        ("**Option D** fits best, because most of it flows.", 4),
        ("The best choice is **D**.", 4),
        ("$\\boxed{D}$", 4),
        ("\\boxed{\\text{D}}", 4),
        ('```json\n{"answer": "D", "reason": "It flows."}\n```', 4),
        ("<answer>D</answer>", 4),
        ("<think>B or C?</think>\nD", 4),
        ("My answer: **(D)**", 4),
        ("I would rate the coherence of the summary as D: most of it flows.", 4),
        ("I'd go with D here.", 4),
        ("D is the best option.", 4),
        ("D — most of it flows.", 4),
        ("Final answer: **D**\n\nA and B are too harsh, E too kind.", 4),
        ("**A** is too harsh.\n**E** is too kind.\n\nSo the answer is **D**.", 4),
        ("- A: no\n- B: no\n- C: no\n- D: yes\n- E: no\n\n**D**", 4),
        ("Option C would be too harsh. Option D is the best fit.", 4),
        ("A or B", None),
        ("I can't choose.", None),
    ],
)
def test_choices_of_recent_models(reply: str, expected: float | None) -> None:
    assert value(reply, method="mcq") == expected
