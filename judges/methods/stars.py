"""Star rating: a score in the form in which people rate products."""

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext
from judges.methods import scales
from judges.methods.scoring import ScoreMethod
from judges.methods.wording import DEFINITION, MATERIAL, paragraphs

TEMPLATE = paragraphs(
    """\
Rate one quality of a text, its {{ dimension }}, with stars, and nothing else. The text was
written for a document.
""",
    DEFINITION,
    """\
The stars for {{ dimension }}:
{{ points }}
""",
    MATERIAL,
    """\
Give {{ minimum }} to {{ maximum }} stars for {{ dimension }}; {{ maximum }} stars are the upper end of
its scale.
Reply with the stars for {{ dimension }} in this form:
Stars: (how many)
""",
)


class StarRating(ScoreMethod):
    """Prompts for a number of stars."""

    key = "stars"
    label = "Star rating"
    default_template = TEMPLATE
    answer_form = "Stars: {answer}"
    asks_reasons = False
    takes_modifiers = False
    max_tokens = 128  # as in the release of Shen et al. (2023)

    def refuses(self, dimension: FrozenDimension) -> str | None:
        """Return the reason if stars cannot express the dimension."""
        if scales.is_named(dimension):
            return gettext(
                "{dimension} has named categories, and stars cannot count them; use another method."
            ).format(dimension=dimension.name)
        if dimension.scale_minimum < 0:
            return gettext("The scale of {dimension} goes below 0, and there are no negative stars.").format(
                dimension=dimension.name
            )
        return None

    def own_values(self, dimension: FrozenDimension) -> dict[str, str]:
        first, last = _stars(dimension.scale_minimum), _stars(dimension.scale_maximum)
        lowest, highest = scales.ends_in_quotes(dimension)
        return {"ends": f"from {first} to {last}, where {first} is {lowest} and {last} are {highest}"}


def _stars(count: int) -> str:
    return f"{scales.in_words(count)} {'star' if count == 1 else 'stars'}"


METHOD = StarRating()
