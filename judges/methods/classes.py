"""Named categories, as the kinds of ambiguity of Ortega-Martin et al. (2023): the name of one of them."""

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext
from judges.methods import scales
from judges.methods.scoring import ScoreMethod
from judges.methods.wording import DEFINITION, MATERIAL, paragraphs

TEMPLATE = paragraphs(
    """\
Decide to which of a few categories of {{ dimension }} a text belongs. The text was written for a document.
""",
    DEFINITION,
    """\
The categories of {{ dimension }}, each with its number and its name:
{{ points }}
""",
    MATERIAL,
    """\
Choose the one category that fits best: {{ answer }}. Say why in one sentence, then give its name on a last
line of this form:
Category: (the name)
""",
)


class NamedCategories(ScoreMethod):
    """Prompts for a reason, then the name of a category."""

    key = "classes"
    label = "Named categories"
    default_template = TEMPLATE
    answer_form = "Category: {answer}"
    # A category has no degrees, so “weak” and “strong” have no meaning before its name.
    takes_modifiers = False

    def refuses(self, dimension: FrozenDimension) -> str | None:
        """Return the reason if the dimension's values are amounts."""
        if not scales.is_named(dimension):
            return gettext("{dimension} has amounts and no named categories; ask for a score.").format(
                dimension=dimension.name
            )
        return None


METHOD = NamedCategories()
