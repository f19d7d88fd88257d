"""Each setting of a policy is changed, one at a time, and looked for wherever settings are read."""

import dataclasses
from typing import Any

import pytest
from django import forms
from django.core.management import CommandError, call_command
from django.db import models
from django.urls import reverse

from annotate.core.models import AuditEntry
from judges.core.models import RoutingPolicy
from judges.core.policy_settings import (
    POLICY_SETTINGS,
    PolicySection,
    PolicySetting,
    names_of_policy_settings,
)
from judges.core.specification import PolicySpec
from judges.management.commands.route import Command
from judges.routing.commands.policies import make_policy
from judges.routing.forms import CertifiedRoutingForm, RoutingForm, policy_form
from tests.api.client import ApiClient
from tests.judges.routing.project import judges_of, routing_project, spec_of

pytestmark = [pytest.mark.django_db, pytest.mark.once]

CHANGED: dict[str, Any] = {
    "threshold": -0.95,
    "decided_by": "estimate",
    "audit_share": 0.5,
    "audit_least": 3,
    "raters": 4,
    "audit": "active",
    "coefficient": "pearson",
    "confidence_level": 0.9,
    "risk": 0.9,
}
APART = {"name", "rts", "mcq", "thresholds", "rule", "calibration"}
every_setting = pytest.mark.parametrize("setting", POLICY_SETTINGS, ids=lambda setting: setting.name)


def test_model_spec_and_forms_have_the_declared_settings() -> None:
    names = set(names_of_policy_settings())
    assert {field.name for field in dataclasses.fields(PolicySpec)} - APART == names == set(CHANGED)
    assert names <= {field.name for field in RoutingPolicy._meta.get_fields()}
    assert set(RoutingForm.base_fields) == names | {"name", "rts", "mcq", "budget"}
    certified = set(names_of_policy_settings(certified=True))
    assert set(CertifiedRoutingForm.base_fields) == certified | {"name"}
    assert set(names_of_policy_settings(*PolicySection)) == names


@every_setting
def test_model_and_spec_share_the_default(setting: PolicySetting) -> None:
    spec = next(field for field in dataclasses.fields(PolicySpec) if field.name == setting.name)
    column = RoutingPolicy._meta.get_field(setting.name)
    assert isinstance(column, models.Field)
    if spec.default is not dataclasses.MISSING:
        assert spec.default == column.get_default() == setting.default


@every_setting
def test_change_of_one_setting_is_detected_everywhere(setting: PolicySetting, client: Any) -> None:
    cast = routing_project()
    changed = CHANGED[setting.name]
    client.force_login(cast.admin)
    policy = make_policy(project=cast.project, spec=spec_of(cast), by=cast.admin)
    assert getattr(policy, setting.name) != changed

    initial = policy_form(cast.project, policy, None).initial
    page = reverse("routing_policy", args=[cast.project.slug, policy.pk])
    entered = {name: value for name, value in initial.items() if value is not None}
    rts, mcq = judges_of(cast)
    answer = client.post(page, {**entered, "rts": rts.pk, "mcq": mcq.pk, setting.name: changed})
    assert answer.status_code == 302, answer.content.decode()
    policy.refresh_from_db()
    assert getattr(policy, setting.name) == changed
    assert policy_form(cast.project, policy, None).initial[setting.name] == changed
    entry = AuditEntry.objects.filter(act="routing.changed").latest("at")
    assert (entry.before or {})[setting.name] != (entry.after or {})[setting.name] == changed

    sent = {name: value for name, value in entered.items() if name in RoutingForm.base_fields}
    sent |= {"rts": rts.pk, "mcq": mcq.pk, "name": "Over the API", setting.name: changed}
    made = ApiClient(cast.admin).post(f"projects/{cast.project.slug}/policies/", sent)
    assert made.status_code == 201, made.content.decode()
    assert made.json()["policy"][setting.name] == changed


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--threshold", "-2", "--threshold lies between -1 and 1, but is -2."),
        ("--audit", "0", "--audit lies between 0.001 and 1, but is 0."),
        ("--audit-least", "-1", "--audit-least lies between 0 and 100000, but is -1."),
        ("--raters", "51", "--raters lies between 1 and 50, but is 51."),
        ("--risk", "1", "--risk lies between 0.001 and 0.999, but is 1."),
    ],
)
def test_the_command_has_the_limits_of_the_form(option: str, value: str, says: str) -> None:
    cast = routing_project()
    rts, mcq = judges_of(cast)
    options = ["--rts", rts.name, "--mcq", mcq.name, "--dry-run", "--json"]
    given = [f"{option}={value}"] if option == "--threshold" else ["--threshold=-1", f"{option}={value}"]
    with pytest.raises(CommandError) as refused:
        call_command("route", cast.project.slug, *options, *given)
    assert str(refused.value) == says


@every_setting
def test_command_options_start_with_the_default(setting: PolicySetting) -> None:
    parser = Command().create_parser("manage.py", "route")
    options = {action.dest: action.default for action in parser._actions}
    if setting.option.removeprefix("--") in ("threshold", "raters"):
        assert options[setting.name] is None  # entered, or the project's
    elif isinstance(setting.field, forms.ChoiceField) and setting.name != "coefficient":
        flag = options.get(setting.option.removeprefix("--").replace("-", "_"))
        assert flag in (False, setting.default)
    else:
        assert options[setting.option.removeprefix("--").replace("-", "_")] == setting.default
