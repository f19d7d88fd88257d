"""`manage.py reproduce`: papers' releases imported and computed anew, on the command line and as a page."""

import csv
import json
from io import StringIO

import pytest
from django.urls import reverse

from annotate.core.models import AuditEntry, Project, Rating, Role
from tests.factories import make_member, make_user
from tests.published.reproducing import reproduce
from tests.reference import reference_data

pytestmark = [pytest.mark.once, pytest.mark.django_db]


def test_summeval_op_in_one_command_nothing_twice_and_as_a_page(client):
    admin = make_user("admin@example.com")
    code, out = reproduce("summeval-op", "--data", reference_data(), "--admin", "admin@example.com")
    assert code == 0
    assert "92 figures: 91 within tolerance, 1 differ for a known reason (~), 0 differ otherwise (!)" in out
    assert "  0.76   0.7490 ~" in out
    assert "Table 7: RMSE of two annotators, Round I, mean over products" in out
    assert "Not reproducible from the release: Round II" in out
    ratings, imports = Rating.objects.count(), AuditEntry.objects.filter(act="import.made").count()
    code, again = reproduce("summeval-op", "--data", reference_data() / "summeval_op")
    assert (code, again) == (0, out)
    assert (Rating.objects.count(), AuditEntry.objects.filter(act="import.made").count()) == (
        ratings,
        imports,
    )
    assert ratings == 8736
    code, _ = reproduce("summeval-op", "--data", reference_data(), "--strict")
    assert code == 1
    check_json()
    check_page(client, admin)


def check_json():
    """Every figure says what it is and how it stands."""
    code, out = reproduce("summeval-op", "--data", reference_data(), "--json")
    told = json.loads(out)
    assert (code, told["reproduced"], told["project"]) == (0, True, "summeval-op")
    alpha = next(each for each in told["figures"] if each["quantity"] == "krippendorff_alpha")
    assert alpha.pop("computed") == pytest.approx(0.551688, abs=5.1e-7)
    assert alpha == {
        "table": "1",
        "quantity": "krippendorff_alpha",
        "dimension": "fluency",
        "raters": "",
        "coefficient": "interval",
        "published": 0.55,
        "tolerance": 0.005,
        "standing": "within",
        "reason": None,
    }


def check_page(client, admin):
    """Admins and researchers see the same there, and nobody else."""
    project, address = Project.objects.get(), reverse("reproduction", args=["summeval-op"])
    people = {role: make_member(project, role).user for role in (Role.RESEARCHER, Role.ANNOTATOR)}
    for user in (admin, people[Role.RESEARCHER]):
        client.force_login(user)
        page = client.get(address).content.decode()
        assert "Of 92 published values, 91 are reproduced to their last decimal, 1 differ" in page
        assert page.count("known difference</span>") == 1
        assert "0.749" in page
        assert address in client.get(reverse("project", args=[project.slug])).content.decode()
    name = reverse("reproduction_table", args=[project.slug, "8", "csv"])
    rows = list(csv.DictReader(StringIO(client.get(name).content.decode())))
    row = next(row for row in rows if row["figure"] == "mean-A2 kendall")
    assert (row["faithfulness_published"], row["faithfulness_note"]) == ("0.76", "known difference")
    assert float(row["faithfulness_computed"]) == pytest.approx(0.749024, abs=5.1e-7)
    latex = client.get(name.replace(".csv", ".tex")).content.decode()
    assert r"mean-A2 kendall & 0.67 & 0.666 &  &" in latex
    assert client.get(name.replace("table-8", "table-3")).status_code == 404
    client.force_login(people[Role.ANNOTATOR])
    assert client.get(name).status_code == 404
    assert client.get(address).status_code == 404
