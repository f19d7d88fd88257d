"""Each setting of a judge is changed, one at a time, and looked for wherever settings are read."""

import dataclasses
import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotate.core.models import AuditEntry, Project
from annotate.exports.registry import TABLES
from annotate.setup.commands import delete_project
from judges.core.judge_settings import (
    BOUND_SETTINGS,
    JUDGE_SETTINGS,
    Setting,
    SettingSection,
    names_of_settings,
)
from judges.core.models import Judge, Judgment
from judges.core.specification import JudgeSpec
from judges.endpoints.forms.judges import JudgeForm
from judges.laboratory.factors import spec_of
from judges.methods import METHODS
from judges.runs.queries.judgments import parameters_of
from tests.api.client import ApiClient
from tests.factories import Cast, make_project
from tests.judges.factories import make_endpoint, make_template

pytestmark = [pytest.mark.django_db, pytest.mark.once]

CHANGED: dict[str, Any] = {
    "temperature": 0.7,
    "samples": 3,
    "max_tokens": 99,
    "max_tokens_name": "max_completion_tokens",
    "score_from": "probabilities",
    "structured": True,
    "asks_again": True,
    "top_p": 0.5,
    "seed": 7,
    "stop": ["END"],
    "reasoning_effort": "low",
    "system_message": "Be brief.",
    "extra_body": {"top_k": 20},
    "scale_minimum": 0,
    "scale_maximum": 11,
    "scale_modifiers": True,
    "scale_thirds": True,
    "scale_table": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
    "asked_together": ["coherence", "fluency"],
    "call_order": "rotated",
    "reference": "system-1",
}
BASE: dict[str, Any] = {
    **{"temperature": 1, "samples": 1, "score_from": "text", "structured": False, "asks_again": False},
}
every_setting = pytest.mark.parametrize("setting", JUDGE_SETTINGS, ids=lambda setting: setting.name)


@pytest.fixture
def cast() -> Cast:
    return make_project(dimensions=("fluency", "coherence"))


def sent(cast: Cast, setting: Setting) -> dict[str, Any]:
    """Return the input of a judge with which this setting may be changed."""
    endpoint = cast.project.endpoints.first() or make_endpoint(cast.project)
    values = {**BASE, "endpoint": endpoint.pk, "model": "gpt-x", "template": "shipped:rts", "reference": ""}
    if setting.section == SettingSection.OWN_SCALE:
        values |= {"scale_minimum": 1, "scale_maximum": 10}
    if setting.section == SettingSection.SEVERAL:
        values |= {"template": "shipped:several"}
    if setting.name == "reference":
        template = make_template(cast.project, text=METHODS["rts"].default_template + "{{ reference }}")
        values |= {"template": str(template.pk), "reference": "system-2"}
    return values


def two_judges(cast: Cast, setting: Setting) -> tuple[Judge, Judge]:
    """Make two judges that differ in a setting, by the API."""
    values, api = sent(cast, setting), ApiClient(cast.admin)
    for name, changes in (("Before", {}), ("After", {setting.name: CHANGED[setting.name]})):
        reply = api.post(f"projects/{cast.project.slug}/judges/", {**values, **changes, "name": name})
        assert reply.status_code == 201, reply.content
    before, after = Judge.objects.filter(project=cast.project).order_by("pk")
    return before, after


def test_model_spec_and_form_have_the_declared_settings() -> None:
    declared = list(names_of_settings())
    identity = ["name", "endpoint", "model", "template"]
    columns = {each.name for each in Judge._meta.concrete_fields}
    others = ["id", "project", "method", "created_at", "archived_at", "tried_by", "rechecks"]
    assert {*declared, *identity, *others} == columns
    assert [each.name for each in dataclasses.fields(JudgeSpec)] == [*identity, *declared]
    assert list(JudgeForm.base_fields) == [*identity, *declared]
    assert set(declared) == CHANGED.keys()


@every_setting
def test_model_and_spec_share_the_default(setting: Setting) -> None:
    (typed,) = (each for each in dataclasses.fields(JudgeSpec) if each.name == setting.name)
    default = typed.default_factory() if callable(typed.default_factory) else typed.default
    if setting.name == "max_tokens":
        assert default is None  # what the method needs
    else:
        assert (default or None) == (setting.default or None)


@every_setting
def test_change_of_one_setting_is_detected_everywhere(cast: Cast, client: Client, setting: Setting) -> None:
    before, after = two_judges(cast, setting)
    client.force_login(cast.admin)
    is_shown_by_api_and_page(cast, client, setting, before, after)
    is_bound(setting, before, after)
    is_kept_in_variants(cast, setting, before, after)
    is_shown_with_judgments(cast, setting, after)
    is_in_the_audit_log(cast, setting, before)


def is_shown_by_api_and_page(
    cast: Cast, client: Client, setting: Setting, before: Judge, after: Judge
) -> None:
    api = ApiClient(cast.admin)
    rows = [api.get(f"projects/{cast.project.slug}/judges/{each.pk}/").json() for each in (before, after)]
    assert rows[0][setting.name] != rows[1][setting.name] == CHANGED[setting.name]
    pages = [client.get(reverse("judge", args=[cast.project.slug, each.pk])) for each in (before, after)]
    forms = [page.context["form"] for page in pages]
    assert forms[0][setting.name].value() != forms[1][setting.name].value()
    assert str(setting.field.label) in pages[0].text
    if setting.section not in (SettingSection.READING, SettingSection.SAMPLING):
        assert setting.section in forms[1].open_sections


def is_bound(setting: Setting, before: Judge, after: Judge) -> None:
    bound = [each.key for each in BOUND_SETTINGS if each.read(before) != each.read(after)]
    if setting.section == SettingSection.OWN_SCALE:
        expected = ["scale"]
    elif setting.name == "max_tokens_name":
        expected = []  # how the server calls it changes no reply
    else:
        expected = [setting.name]
    assert bound == expected


def is_kept_in_variants(cast: Cast, setting: Setting, before: Judge, after: Judge) -> None:
    dimensions = list(cast.project.dimensions.all())
    specs = [vars(spec_of(each, dimensions)) for each in (before, after)]
    assert {name for name in specs[0] if specs[0][name] != specs[1][name]} == {"name", setting.name}


def is_shown_with_judgments(cast: Cast, setting: Setting, after: Judge) -> None:
    judgment = Judgment(judge=after, item=cast.items[0], dimension=cast.dimensions[0], parameters={})
    shown = setting.section not in (SettingSection.OWN_SCALE, SettingSection.SEVERAL)
    assert (setting.name.replace("_", " ") in dict(parameters_of(judgment))) == shown


def is_in_the_audit_log(cast: Cast, setting: Setting, before: Judge) -> None:
    values = {**sent(cast, setting), "name": "Before", setting.name: CHANGED[setting.name]}
    if setting.name == "reference":
        values["template"] = str(before.template_id)
    reply = ApiClient(cast.admin).put(f"projects/{cast.project.slug}/judges/{before.pk}/", values)
    assert reply.status_code == 200, reply.content
    entry = AuditEntry.objects.get(act="judge.changed")
    assert list(entry.before or {}) == list(entry.after or {}) == [setting.name]


def test_every_setting_is_exported_and_restored(cast: Cast, tmp_path: Path) -> None:
    """One judge for each setting, which differs from the first in nothing else."""
    api = ApiClient(cast.admin)
    for setting in JUDGE_SETTINGS:
        values = {**sent(cast, setting), "name": setting.name, setting.name: CHANGED[setting.name]}
        reply = api.post(f"projects/{cast.project.slug}/judges/", values)
        assert reply.status_code == 201, reply.content
    before = exported_judges(cast.project)
    for setting in JUDGE_SETTINGS:
        assert before[setting.name][setting.name] == CHANGED[setting.name]

    path = tmp_path / "export.zip"
    call_command("export", cast.project.slug, "--to", str(path), verbosity=0, stdout=io.StringIO())
    slug = cast.project.slug
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    call_command("import_export", str(path), stdout=io.StringIO())
    assert exported_judges(Project.objects.get(slug=slug)) == before


def exported_judges(project: Project) -> dict[str, dict[str, Any]]:
    return {row["judge"]: dict(row) for row in TABLES["judges"].rows(project)}
