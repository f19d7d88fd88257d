"""The shipped templates: each starts a project, imports its sample, opens Round I and renders the dock."""

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.guideline import ProjectTemplate
from annotate.core.models import ItemPart, Project
from annotate.material.commands.comparisons import draw_comparisons
from annotate.material.commands.imports import import_file
from annotate.material.commands.parts import import_parts, read_parts
from annotate.material.reading.columns import ColumnMapping, PartColumn
from annotate.material.reading.source import Source
from annotate.questions import KINDS
from annotate.rating.commands.rounds import open_round_one
from annotate.setup.commands import create_project
from annotate.setup.presets import FOLDER, NAMES, TEMPLATES
from tests.factories import make_member, make_user

pytestmark = pytest.mark.django_db


def test_every_file_of_the_folder_is_a_template() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.yaml")) == sorted(NAMES)
    assert len(TEMPLATES) == 14


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=lambda each: each.key)
def test_a_template_opens_round_one_on_its_sample(
    client: Client, template: ProjectTemplate, tmp_path: Path
) -> None:
    assert template.source
    project = create_project(user=make_user(), name="Trial", template=template)
    import_sample(project, template, tmp_path)
    kinds = {each.kind for each in template.dimensions}
    if any(KINDS[kind].compares for kind in kinds):
        assert draw_comparisons(project=project) == 1
    annotator = make_member(project)
    open_round_one(project=project, by=None)
    assert annotator.user
    client.force_login(annotator.user)
    read = {"annotator": annotator.pk, "version": 1, "start": 1}
    page = client.post(reverse("acknowledge", args=[project.slug]), read, follow=True).content.decode()
    compares = 'class="side-name' in page
    for dimension in project.dimensions.all():
        assert (f'id="name-{dimension.key}"' in page) == (KINDS[dimension.kind].compares == compares)
    if "parts" in kinds:
        assert page.count("data-entry") == ItemPart.objects.count() > 1


def import_sample(project: Project, template: ProjectTemplate, folder: Path) -> None:
    """Import the sample by the meaning of its columns."""
    path = folder / "sample.csv"
    path.write_text(template.sample)
    columns = template.sample.splitlines()[0].split(",")
    of_document = columns[1 : columns.index("system")]
    mapping = ColumnMapping(
        document_key="document",
        system="system",
        text="text",
        parts=tuple(PartColumn(name, name.capitalize()) for name in of_document),
    )
    report = import_file(project=project, source=Source(path, path.name, mapping, items=True), by=None)
    assert not report.is_refused
    assert project.documents.get().parts
    if "parts" in template.sample.splitlines()[0]:
        assert import_parts(project=project, parts=read_parts(template.sample.encode())) == 1
