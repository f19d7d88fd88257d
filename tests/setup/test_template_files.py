"""Templates as files: there and back without a difference, and what is refused with which sentence."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from jsonschema import Draft202012Validator

from annotate.core.models import Dimension, Project, SavedTemplate
from annotate.setup.commands import add_image, create_project
from annotate.setup.presets import TEMPLATES
from annotate.setup.queries import template_of
from annotate.setup.template_file import TemplateRefusedError, read_template, to_json, to_yaml
from tests.factories import make_dimension, make_project, make_user
from tests.setup.test_images import PNG

pytestmark = pytest.mark.django_db

SMALL = {
    "format": "concord-template/1",
    "name": "Tone",
    "dimensions": [
        {
            "name": "Tone",
            "definition": "What tone it has.",
            "scale": {
                "minimum": 1,
                "maximum": 2,
                "level": "nominal",
                "points": [{"value": 1, "label": "Praise"}, {"value": 2, "label": "Blame"}],
            },
        }
    ],
}


@pytest.fixture(autouse=True)
def kept(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def cast():
    """A project that uses everything a template holds."""
    cast = make_project(dimensions=("fluency",))
    image = add_image(project=cast.project, by=cast.admin, name="scale.png", content=PNG)
    Project.objects.filter(pk=cast.project.pk).update(
        description="شكرا", guidelines=f"Read.\n\n{image.markdown}", raters_per_item=4, dispute_threshold=3
    )
    tone = make_dimension(cast.project, "tone", minimum=-1, maximum=0)
    Dimension.objects.filter(pk=tone.pk).update(
        measurement_level="nominal", not_applicable=True, dispute_threshold=5, tolerance=0
    )
    cast.project.refresh_from_db()
    return cast


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=lambda each: each.key)
def test_shipped_templates_are_read_back_unchanged(template):
    assert read_template(to_json(template), key=template.key) == template
    assert read_template(to_yaml(template), key=template.key) == template


def test_imported_export_starts_a_project_with_an_equal_export(cast, client):
    client.force_login(cast.admin)
    address = reverse("project_template", args=[cast.project.slug])
    exported = client.get(address).content
    upload = {"file": SimpleUploadedFile("a.json", exported)}
    assert client.post(reverse("templates"), upload)["Location"] == reverse("templates")
    saved = SavedTemplate.objects.get()
    assert client.get(reverse("template_file", args=[saved.key, "yaml"])).content == exported
    made = {"name": cast.project.name, "template": saved.key}
    copy = client.post(reverse("project_new"), made)["Location"].split("/")[2]
    assert copy != cast.project.slug
    assert client.get(reverse("project_template", args=[copy])).content == exported
    with Project.objects.get(slug=copy).images.get().file.open() as picture:
        assert picture.read() == PNG


def test_a_template_is_its_owners(cast, client):
    client.force_login(cast.admin)
    client.post(reverse("project_template", args=[cast.project.slug]))
    saved = SavedTemplate.objects.get(owner=cast.admin)
    other = make_project()
    for user in (other.admin, cast.researcher, cast.outsider):
        client.force_login(user)
        assert client.get(reverse("template_file", args=[saved.key, "yaml"])).status_code == 404
        assert client.post(reverse("template_remove", args=[saved.pk])).status_code == 404
        assert client.get(reverse("project_template", args=[cast.project.slug])).status_code == 404
    assert client.get(reverse("templates")).status_code == 404
    client.force_login(other.admin)
    assert client.post(reverse("project_new"), {"name": "A", "template": saved.key}).status_code == 422
    client.force_login(cast.admin)
    page = client.post(reverse("template_remove", args=[saved.pk]), follow=True).content.decode()
    assert f"“{cast.project.name}” is removed." in page
    assert not SavedTemplate.objects.exists()


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (
            ("format",),
            "concord-template/3",
            "format: this template is of version '3', and this Concord",
        ),
        (("format",), "label-config", "format: this is no template of Concord"),
        (("name",), "", "name: is missing."),
        (("settings",), [], "settings: must be an object, and is []."),
        (("settings",), {"tolerance": 2}, "settings.tolerance: must be less than the dispute threshold."),
        (("dimensions",), {}, "dimensions: must be a list, and is {}."),
        (("dimensions", 0), 7, "dimensions[0]: must be an object, and is 7."),
        (("dimensions", 0, "definition"), None, "dimensions[0].definition: must be text, and is null."),
        (
            ("dimensions", 0, "scale", "maximum"),
            1,
            "dimensions[0].scale.maximum: must be above the minimum",
        ),
        (("dimensions", 0, "scale", "level"), "likert", "dimensions[0].scale.level: must be one of nominal"),
        (
            ("dimensions", 0, "scale", "points", 1, "value"),
            True,
            "dimensions[0].scale.points[1].value: must be a whole number from 1 to 2, and is true.",
        ),
        (
            ("dimensions", 0, "scale", "points", 1, "label"),
            "praise",
            "dimensions[0].scale.points: must give each category a name of its own, 20 at most.",
        ),
        (("pictures",), [{"name": "a", "base64": "PHN2Zz4="}], "pictures[0].base64: is not a PNG, JPEG, GIF"),
    ],
)
def test_unreadable_content_is_rejected_by_its_path(path, value, sentence):
    content = json.loads(json.dumps(SMALL))
    parent = content
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    with pytest.raises(TemplateRefusedError) as refused:
        read_template(json.dumps(content))
    assert any(problem.startswith(sentence) for problem in refused.value.problems), refused.value.problems


def test_all_problems_are_reported_at_once_and_nothing_is_stored(client, cast):
    client.force_login(cast.admin)
    content = SMALL | {"name": "", "dimensions": [{}, {"scale": {"minimum": "low"}}]}
    upload = {"file": SimpleUploadedFile("a.json", json.dumps(content).encode())}
    response = client.post(reverse("templates"), upload)
    page = response.content.decode()
    assert response.status_code == 422
    for path in ("name", "dimensions[0].name", "dimensions[1].definition", "dimensions[1].scale.minimum"):
        assert f"<li>{path}: " in page
    for noise, sentence in (
        (b"\xff\xfe", "This is not a JSON or YAML file"),
        (b"{" * 100_000, "This is not a JSON or YAML file"),
        (b"[" * 100_000, "nested too deeply"),
        (b"not json", "format: this is no template of Concord"),
        (b"a: &x [1]\nb: *x", "Anchors, aliases and tags of YAML are not read"),
        (b"a: !!python/name:os.system x", "Anchors, aliases and tags of YAML are not read"),
    ):
        upload = {"file": SimpleUploadedFile("a.yaml", noise)}
        assert sentence in client.post(reverse("templates"), upload).content.decode()
    assert not SavedTemplate.objects.exists()


def test_small_file_uses_defaults_for_omitted_fields():
    template = read_template(json.dumps(SMALL))
    project = create_project(user=make_user(), name="A", template=template)
    assert (project.raters_per_item, project.dispute_threshold) == (3, 2)
    assert [point.label for point in project.dimensions.get().points.all()] == ["Praise", "Blame"]
    assert template_of(project).dimensions == template.dimensions


QUESTIONS = """
format: concord-template/2
name: Facts
dimensions:
  - name: Known
    kind: category
    definition: Whether it is known.
    scale: {minimum: 0, maximum: 1, points: [{value: 0, label: No}, {value: 1, label: Yes}]}
  - name: Supported
    kind: parts
    definition: Whether each fact is.
    options: {labels: [{name: Yes}, {name: No}], counts: yes}
    shown_if: {dimension: known, values: [1]}
"""


def test_a_yaml_file_has_questions_of_other_kinds(cast):
    template = read_template(QUESTIONS)
    known, supported = template.dimensions
    assert known.measurement_level == "nominal"
    assert supported.options == {
        "labels": [
            {"key": "yes", "name": "Yes", "description": ""},
            {"key": "no", "name": "No", "description": ""},
        ],
        "counts": "yes",
    }
    project = create_project(user=cast.admin, name="A", template=template)
    assert template_of(project).dimensions[1] == replace(supported, scale_minimum=0, scale_maximum=1)
    assert read_template(to_yaml(template)) == template
    assert to_yaml(read_template(to_yaml(template_of(project)))) == to_yaml(template_of(project))


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("kind: parts", "kind: facts", "dimensions[1].kind: must be one of scale, category, labels"),
        (
            "counts: yes",
            "counts: maybe",
            "dimensions[1].options: The label that counts is one of the labels.",
        ),
        ("name: Yes}, {name: No", "name: Yes", "dimensions[1].options: Give 2 to 6 labels"),
        (
            "dimension: known",
            "dimension: supported",
            "dimensions[1].shown_if.dimension: must be one of known.",
        ),
        ("values: [1]", "values: 1", "dimensions[1].shown_if.values: must list the answers"),
    ],
)
def test_unreadable_question_is_rejected_by_its_path(before, after, problem):
    with pytest.raises(TemplateRefusedError) as refused:
        read_template(QUESTIONS.replace(before, after))
    assert any(each.startswith(problem) for each in refused.value.problems), refused.value.problems


def test_schema_accepts_exports_and_rejects_as_the_reader_does():
    schema = json.loads(Path("docs/reference/concord-template-2.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for template in TEMPLATES.values():
        assert not [error.message for error in validator.iter_errors(json.loads(to_json(template)))]
    for kind, options in (("facts", {}), ("labels", {"labels": [{"name": "One"}]}), ("text", {"longest": 0})):
        dimension = {"name": "A", "definition": "B", "kind": kind, "options": options}
        content = {"format": "concord-template/2", "name": "A", "dimensions": [dimension]}
        assert not validator.is_valid(content)
        with pytest.raises(TemplateRefusedError):
            read_template(json.dumps(content))
