"""The templates that a project can be started from."""

import pytest

from annotate.core.guideline import ProjectTemplate
from annotate.setup.commands import create_project
from annotate.setup.presets import TEMPLATES
from tests.factories import make_user

SEVEN = [
    "Fluency",
    "Coherence",
    "Relevance",
    "Faithfulness",
    "Aspect coverage",
    "Sentiment consistency",
    "Specificity",
]
SUMMARIES = [TEMPLATES["opinion-summaries"], TEMPLATES["news-summaries"]]


def test_the_two_templates_have_the_papers_dimensions() -> None:
    names = {template.key: [dimension.name for dimension in template.dimensions] for template in SUMMARIES}
    assert names == {
        "opinion-summaries": SEVEN,
        "news-summaries": ["Coherence", "Consistency", "Fluency", "Relevance"],
    }


@pytest.mark.parametrize("template", SUMMARIES, ids=lambda each: each.key)
def test_every_point_of_every_scale_has_its_own_label_and_description(
    template: ProjectTemplate,
) -> None:
    for dimension in template.dimensions:
        assert [point.value for point in dimension.points] == [1, 2, 3, 4, 5]
        assert len({point.label for point in dimension.points} - {""}) == 5
        assert len({point.description for point in dimension.points} - {""}) == 5
        assert dimension.measurement_level == "interval"
        assert dimension.definition
        assert dimension.guidelines


@pytest.mark.django_db
def test_a_project_from_a_template_has_its_dimensions_in_order_with_their_scales() -> None:
    project = create_project(user=make_user(), name="Boots", template=TEMPLATES["opinion-summaries"])
    dimensions = list(project.dimensions.prefetch_related("points"))
    assert [dimension.name for dimension in dimensions] == SEVEN
    assert dimensions[4].key == "aspect-coverage"
    assert [point.label for point in dimensions[0].points.all()] == [
        "Unreadable",
        "Poor",
        "Fair",
        "Good",
        "Flawless",
    ]
    assert project.guidelines == TEMPLATES["opinion-summaries"].guidelines
