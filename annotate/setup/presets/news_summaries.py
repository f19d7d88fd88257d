"""Summaries of one article, rated on the four dimensions of SummEval (Fabbri et al., 2021).

The names of the dimensions are the paper's; all other wording was written for Concord.
"""

from annotate.core.guideline import DimensionSpec, ProjectTemplate
from annotate.setup.presets.scales import five_points

GUIDELINES = """\
You see one article and one summary of it. Read the **whole article** first, then the summary.

- Rate each dimension by itself.
- The article is the only source: what you know otherwise does not count for or against a summary.
- Decide by the description of the point. If you hesitate, choose one, mark it as unsure and say why.
"""

COHERENCE = DimensionSpec(
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

FLUENCY = DimensionSpec(
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

RELEVANCE = DimensionSpec(
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
    guidelines=GUIDELINES,
    dimensions=(COHERENCE, CONSISTENCY, FLUENCY, RELEVANCE),
    source="SummEval: Fabbri et al. 2021",
    sample="""\
document,article,system,text
market,The market moved to the square. It opens on Fridays.,system-a,The market is on the square now.
market,The market moved to the square. It opens on Fridays.,system-b,The market closed.
""",
)
