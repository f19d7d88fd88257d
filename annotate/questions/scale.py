"""A number on a scale, and one of some named categories."""

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext, gettext_lazy

from annotate.core.errors import InvalidValueError
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import extent, name_on_page, off_scale_sentence
from annotate.core.scale import distance
from annotate.questions.kind import Cleaned, Data, Given, ItemContent, Options, QuestionKind, refuse_data


class ScaleKind(QuestionKind):
    """A number; its scale is the dimension's own."""

    key = "scale"
    name = gettext_lazy("Scale")
    about = gettext_lazy("A number on a scale, such as 1 to 5 or 0 to 100.")
    template = "questions/scale.html"
    has_pieces = False
    number_name = gettext_lazy("value")

    def clean(
        self, dimension: FrozenDimension, value: float | None, data: Data, item: ItemContent
    ) -> Cleaned:
        if data is not None or value is None:
            raise refuse_data(dimension)
        if not dimension.has(value):
            scale = dimension.scale_minimum, dimension.scale_maximum, dimension.scale_step
            raise InvalidValueError(
                off_scale_sentence(dimension.name, value, *scale),
                fields={"value": gettext("Choose a value: {extent}.").format(extent=extent(*scale))},
            )
        return Given(value)

    def describe(self, dimension: FrozenDimension, given: Given) -> str:
        return name_on_page(dimension, given.value)

    def write(self, dimension: FrozenDimension, given: Given, sides: Sequence[str] = ()) -> str:
        return f"{given.value:g}"

    def distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:
        return distance(one.value, other.value)

    def spread(self, dimension: FrozenDimension, answers: Iterable[Given]) -> float:
        # Values are on a line, so the ends give the largest distance without comparing pairs.
        values = [each.value for each in answers]
        return distance(min(values), max(values)) if values else 0


class CategoryKind(ScaleKind):
    """One category, stored as its code on the dimension's nominal scale."""

    key = "category"
    has_mean = False
    name = gettext_lazy("One category")
    about = gettext_lazy("One of some named categories that have no order.")
    template = "questions/category.html"

    def write(self, dimension: FrozenDimension, given: Given, sides: Sequence[str] = ()) -> str:
        return dimension.name_of(given.value)

    def distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:
        return float(one.value != other.value)

    def describe_distance(self, options: Options, apart: float) -> str:
        return gettext("The raters chose different categories.")

    def rule(self, threshold: float | None, tolerance: float | None) -> tuple[float, float]:
        # Categories are equal or different, so no threshold between could be chosen.
        return 1, 0


SCALE = ScaleKind()
CATEGORY = CategoryKind()
