"""Templates for new projects. The interface calls them templates.

Each file in this folder is one, in the format of export and import; NAMES is the order of the list.
"""

from pathlib import Path

from annotate.core.guideline import DimensionSpec, PointSpec, ProjectTemplate
from annotate.setup.template_file import read_template


def five_points(*points: tuple[str, str]) -> tuple[PointSpec, ...]:
    """Return the points 1 to 5 from (label, description) pairs, worst first."""
    return tuple(
        PointSpec(value, label, description)
        for value, (label, description) in zip(range(1, 6), points, strict=True)
    )


# Opinions, on the seven dimensions of SummEval-OP (Siledar et al., 2024), and articles, on the four
# dimensions of SummEval (Fabbri et al., 2021). The names are the papers'; Concord's authors wrote the rest.
GUIDELINES = """\
You see several reviews of one product and one summary of them. Read **all reviews** first, then the summary.

- Rate each dimension by itself: a summary with clumsy sentences can still be faithful.
- Judge the summary against the reviews you see, not against what you know about the product.
- Decide by the description of the point, not by how other summaries fared.
- If you hesitate between two points, choose one, mark it as unsure and say why in the comment.
"""

FLUENCY = DimensionSpec(
    name="Fluency",
    definition=(
        "How well the summary is written: grammar, spelling, punctuation, choice of words, sentences that "
        "read easily."
    ),
    guidelines="""\
Look at the language only. Whether the content is right, or in a good order, belongs to other dimensions.

Informal words are fine when the reviews are informal. A sentence that breaks off is an error.
""",
    points=five_points(
        ("Unreadable", "So many errors that most of it has to be guessed."),
        ("Poor", "Errors in many sentences; some must be read twice."),
        ("Fair", "Several errors or awkward sentences, yet always understandable."),
        ("Good", "One or two slips that hardly disturb the reading."),
        ("Flawless", "Easy to read, no error to be found."),
    ),
)

COHERENCE = DimensionSpec(
    name="Coherence",
    definition=(
        "How well the sentences form one text: each follows from the one before, and what belongs together "
        "stands together."
    ),
    guidelines="""\
Ask whether moving the sentences around would make it any worse. If not, it is a list rather than a text.

- A contradiction inside the summary counts here.
- Errors of language do not count here.
""",
    points=five_points(
        ("A heap", "Statements without any order, or that contradict each other."),
        ("Loose", "Some sentences connect, most do not; the topic jumps."),
        ("Partly ordered", "A recognisable order with breaks or repetitions in it."),
        ("Well ordered", "Builds sentence by sentence, with one rough transition."),
        ("One text", "Builds from sentence to sentence and ends as a whole."),
    ),
)

RELEVANCE = DimensionSpec(
    name="Relevance",
    definition=(
        "How far the summary keeps to opinions that matter: those that are important to a buyer or that "
        "several reviewers share."
    ),
    guidelines="""\
Important and agreed opinions only; penalise the rest:

- a remark of a single reviewer told as if it were typical,
- details without use to a buyer,
- the same opinion said twice.

What is *missing* is rated under aspect coverage, not here.
""",
    points=five_points(
        ("Beside the point", "Almost nothing in it matters or is shared."),
        ("Mostly filler", "Some important opinions among more unimportant ones."),
        ("Mixed", "About as much that matters as that does not."),
        ("Mostly relevant", "Important opinions with one or two that could go."),
        ("All relevant", "Every opinion in it is important or widely shared."),
    ),
)

FAITHFULNESS = DimensionSpec(
    name="Faithfulness",
    definition=("How far every statement of the summary can be found in the reviews or follows from them."),
    guidelines="""\
Take the summary statement by statement and look for a review that supports it.

- Invented facts and changed numbers count, even when they sound plausible.
- "Most" or "all" where one reviewer said it is not supported.
- A claim that is true of the product but in no review is not supported either.
""",
    points=five_points(
        ("Made up", "Most statements have no support in the reviews."),
        ("Unreliable", "Several statements are unsupported, or one that decides a purchase."),
        ("Partly supported", "One important or a few small statements are unsupported."),
        ("Nearly faithful", "One small detail goes beyond the reviews."),
        ("Faithful", "Every statement is supported by the reviews."),
    ),
)

ASPECT_COVERAGE = DimensionSpec(
    name="Aspect coverage",
    definition=(
        "How many of the aspects that the reviews discuss most (comfort, price, sound, ...) the summary "
        "mentions."
    ),
    guidelines="""\
Note the aspects that several reviews discuss, then tick off those that the summary mentions.

An aspect in one review only need not be covered. *How* it is judged is rated
under sentiment consistency.
""",
    points=five_points(
        ("None", "Hardly any of the main aspects is mentioned."),
        ("Few", "Fewer than half of the main aspects are mentioned."),
        ("Half", "About half are mentioned, or the most discussed one is missing."),
        ("Most", "One less prominent main aspect is missing."),
        ("All", "Every aspect that is discussed a lot is mentioned."),
    ),
)

SENTIMENT_CONSISTENCY = DimensionSpec(
    name="Sentiment consistency",
    definition="How far the summary feels about each aspect as the reviewers on the whole do.",
    guidelines="""\
For each aspect in the summary compare praise, blame or a divided opinion with the reviews **taken together**.

- Where reviewers disagree, saying that they disagree is consistent.
- Strength counts: "liked" is not the same as "adored".
- Aspects that the summary leaves out do not count here.
""",
    points=five_points(
        ("Reversed", "The opinion of most aspects is the opposite of the reviewers'."),
        ("Often wrong", "Several aspects, or the most discussed one, are reversed."),
        ("Partly right", "One aspect is reversed, or several are too strong or too weak."),
        ("Nearly right", "All directions are right; one is too strong or too weak."),
        ("Consistent", "Every aspect is judged as the reviewers judge it."),
    ),
)

SPECIFICITY = DimensionSpec(
    name="Specificity",
    definition=(
        "How concrete the opinions are: about this product and why, rather than praise that fits anything."
    ),
    guidelines="""\
Imagine another product in the summary's place. The more of it would still fit, the lower the point.

"Great product, would buy again" is generic. "The zip gave way after a month" is specific.
""",
    points=five_points(
        ("Generic", "Could be said of nearly any product."),
        ("Mostly generic", "One concrete opinion among general ones."),
        ("Half and half", "Concrete about some aspects, general about others."),
        ("Mostly specific", "Concrete throughout, with one general remark."),
        ("Specific", "Every opinion says what exactly and, where known, why."),
    ),
)

OPINION_SUMMARIES = ProjectTemplate(
    key="opinion-summaries",
    name="Opinion summaries, 7 dimensions",
    summary="Reviews of a product and their summary, rated as in SummEval-OP.",
    guidelines=GUIDELINES,
    dimensions=(
        FLUENCY,
        COHERENCE,
        RELEVANCE,
        FAITHFULNESS,
        ASPECT_COVERAGE,
        SENTIMENT_CONSISTENCY,
        SPECIFICITY,
    ),
    source="SummEval-OP: Siledar et al. 2024",
    sample="""\
document,review 1,review 2,system,text
kettle,It boils fast.,"The lid sticks, but it is quick.",system-a,Quick; the lid can stick.
kettle,It boils fast.,"The lid sticks, but it is quick.",system-b,Everybody loves this kettle.
""",
)

NEWS_GUIDELINES = """\
You see one article and one summary of it. Read the **whole article** first, then the summary.

- Rate each dimension by itself.
- The article is the only source: what you know otherwise does not count for or against a summary.
- Decide by the description of the point. If you hesitate, choose one, mark it as unsure and say why.
"""

NEWS_COHERENCE = DimensionSpec(
    name="Coherence",
    definition=(
        "How well the sentences together make a structured text about one topic, instead of a pile of "
        "related facts."
    ),
    guidelines="""\
Rate the summary as a whole, not its single sentences.

Pronouns without anything to point to, jumps in time and repeated facts all count here.
""",
    points=five_points(
        ("A pile", "Facts without order; what it is about stays unclear."),
        ("Loose", "A topic can be seen, but the sentences hardly build on it."),
        ("Partly ordered", "An order with gaps, jumps or repetitions."),
        ("Well ordered", "Clear order; one transition or reference is rough."),
        ("One text", "Starts, develops and ends as one text."),
    ),
)

CONSISTENCY = DimensionSpec(
    name="Consistency",
    definition=(
        "How far the facts of the summary are the facts of the article: nothing invented, nothing turned "
        "into something else."
    ),
    guidelines="""\
Check names, numbers, dates, who did what to whom, and what is claim and what is fact.

A fact that is true but not in the article is an error here. What is left out is not.
""",
    points=five_points(
        ("Contradicts", "Most facts are wrong or invented."),
        ("Unreliable", "Several wrong facts, or the central one is wrong."),
        ("Partly right", "One fact that matters is wrong or unsupported."),
        ("Nearly right", "One minor detail is off."),
        ("Consistent", "Every fact is in the article."),
    ),
)

NEWS_FLUENCY = DimensionSpec(
    name="Fluency",
    definition=(
        "How well each sentence is written by itself: complete, grammatical, correctly spelt and punctuated."
    ),
    guidelines="""\
Read every sentence alone. The order of the sentences is rated under coherence.

Missing capitals, spaces before a full stop and cut-off endings count as errors of form.
""",
    points=five_points(
        ("Unreadable", "Most sentences are broken."),
        ("Poor", "Several sentences are broken or hard to read."),
        ("Fair", "Errors that slow the reading down."),
        ("Good", "One or two small errors."),
        ("Flawless", "No error in any sentence."),
    ),
)

NEWS_RELEVANCE = DimensionSpec(
    name="Relevance",
    definition="How well the summary picks out what is important in the article, and only that.",
    guidelines="""\
Before reading the summary, name for yourself the two or three points that a reader must know.

Both count: an important point left out, and an unimportant or repeated one put in.
""",
    points=five_points(
        ("Misses it", "The important points are missing."),
        ("Mostly beside it", "One important point among much that is unimportant."),
        ("Partly", "An important point is missing, or much could be cut."),
        ("Mostly", "All important points, with a little that could be cut."),
        ("To the point", "All that is important and nothing else."),
    ),
)

NEWS_SUMMARIES = ProjectTemplate(
    key="news-summaries",
    name="Article summaries, 4 dimensions",
    summary="A news article and its summary, rated as in SummEval.",
    guidelines=NEWS_GUIDELINES,
    dimensions=(NEWS_COHERENCE, CONSISTENCY, NEWS_FLUENCY, NEWS_RELEVANCE),
    source="SummEval: Fabbri et al. 2021",
    sample="""\
document,article,system,text
market,The market moved to the square. It opens on Fridays.,system-a,The market is on the square now.
market,The market moved to the square. It opens on Fridays.,system-b,The market closed.
""",
)

FOLDER = Path(__file__).parent
NAMES = (
    *("rose", "newsroom", "qags", "factscore", "tldr", "mt-bench", "ultrafeedback", "helpsteer2"),
    *("mqm", "esa", "topical-chat", "hanna"),
)


def read_preset(key: str) -> ProjectTemplate:
    return read_template((FOLDER / f"{key}.yaml").read_bytes(), key=key)


TEMPLATES: dict[str, ProjectTemplate] = {
    template.key: template
    for template in (OPINION_SUMMARIES, NEWS_SUMMARIES, *(read_preset(name) for name in NAMES))
}

__all__ = ["TEMPLATES"]
