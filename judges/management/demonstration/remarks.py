"""Remarks of the demonstration's raters and judge on poor or good summaries."""

from judges.management.demonstration.articles import Article

WHY_LOW = {
    "consistency": "{flaw}.",
    "relevance": "It leaves out {missing}.",
    "fluency": "“{words} ...” reads badly: compare it with the article.",
    "coherence": "The sentences stand side by side; nothing leads from one to the next.",
}
WHY_HIGH = {
    "consistency": "I looked each statement up, and each is in the article.",
    "relevance": "What a reader of the paper would retell is there.",
    "fluency": "I stumbled over nothing; short is not the same as wrong.",
    "coherence": "One can follow it from the first word to the last without the article.",
}
YIELDS = (
    "You are right, I had overlooked that.",
    "With the description of the point in front of me, I agree.",
    "Read again: yes.",
    "I had counted this under another dimension.",
)
ASKS = {
    "consistency": "Which statement do you mean? I looked for each in the article.",
    "relevance": "Which fact would you add to so short a text?",
    "fluency": "Do you count a missing article as an error? I read it as the style of headlines.",
    "coherence": "Can two sentences be badly ordered?",
}
ANSWERS = {
    "consistency": "The last one. Please compare it with the third sentence of the article.",
    "relevance": "What happens next: a reader will ask for that first.",
    "fluency": "The guideline counts what disturbs reading, and I stumbled twice.",
    "coherence": "It is not about length. The second sentence does not follow from the first.",
}
THIRDS = (
    "I see both points. The description of the point decided it for me.",
    "I read it as the second of you did.",
)
DECISIONS = {
    "consistency": "What the article does not say is not consistent with it, however small.",
    "relevance": "The guideline asks for what matters most, not for everything.",
    "fluency": "The description of the point speaks of errors, and there are few.",
    "coherence": "A single sentence can be coherent; what it leaves out belongs to relevance.",
}


def why(dimension: str, article: Article, text: str, *, low: bool, flawed: bool) -> str:
    """Return a reason for a low or a high value; `flawed` summaries contradict the article."""
    if low and dimension == "consistency" and not flawed:
        return "It says more than the article does."
    reason = (WHY_LOW if low else WHY_HIGH)[dimension]
    words = " ".join(text.split()[:5])
    return reason.format(flaw=article.flaw, missing=article.missing, words=words)
