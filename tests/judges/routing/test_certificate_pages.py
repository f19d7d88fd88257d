"""Certificates in the browser and from the command line: planned, drawn, computed, lapsed; and by whom."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.core.models import Role, Round
from annotate.templatetags.figures import decimals
from concord_client import RefusedError
from judges.core.models import Calibration, Judge, RoutingPolicy
from judges.core.specification import policy_from_certificates
from judges.routing.commands.certificates import compute_certificates, draw_calibration
from judges.routing.commands.policies import make_policy
from tests.api.client import concord
from tests.factories import make_member, make_project
from tests.judges.certified import calibrated_project, calibration_spec, rate_all_units, rate_sample
from tests.judges.pages import HTMX, address, file_of, html_of, text_of
from tests.judges.routing.project import judges_of

pytestmark = pytest.mark.django_db
NEW = "certificates/new/"


make_scene = calibrated_project


@pytest.fixture
def cast(client, cast):
    client.force_login(cast.admin)
    return cast


def entered(cast, **fields):
    rts, mcq = judges_of(cast)
    usual = {"name": "First", "judge": rts.pk, "other": mcq.pk, "confidence": "closeness", "raters": 2}
    test = {"dimensions": ["fluency", "coherence"], "loss": "another_point", "risk": 0.2}
    rest = {"significance_level": 0.1, "accepted_share": 0.5, "size": 60}
    return {**usual, **test, **rest, **fields}


def page_of(calibration, path=""):
    return f"/projects/{calibration.project.slug}/judges/certificates/{calibration.pk}/{path}"


def certified(cast, **fields):
    spec = calibration_spec(cast, **fields)
    calibration = draw_calibration(project=cast.project, spec=spec, by=cast.admin)
    rate_sample(cast, calibration)
    compute_certificates(calibration=calibration, by=cast.admin)
    calibration.refresh_from_db()
    return calibration


def test_calibration_is_planned_sampled_rated_and_computed_on_pages(client, cast):
    shown = client.post(address(cast, NEW), entered(cast, size=""), headers=HTMX)
    assert "Fluency 120" in text_of(shown)
    assert "Needed: for a chance of 80" in text_of(shown)
    assert not Round.objects.exists()
    plan = client.post(address(cast, NEW), entered(cast), headers=HTMX).context["plan"]
    fields = {**entered(cast), "shown": plan.digest}
    page = text_of(client.post(address(cast, NEW), fields, follow=True))
    assert "Fluency 60 0 60" in page
    calibration = Calibration.objects.get()
    page = text_of(client.post(page_of(calibration, "compute/"), follow=True))
    assert "Compute the certificates" in page
    rate_sample(cast, calibration)
    page = text_of(client.post(page_of(calibration, "compute/"), follow=True))
    assert "With 95 % confidence, up to 20 % of the 72 units of Reasoner are" in page
    assert "60 % 72 of 120" in page
    assert "Coherence all units go to people" in page
    assert "No number of ratings will change this while 100.0%" in page
    assert "60 % stay" in text_of(client.get(address(cast, "certificates/")))


def test_proposed_name_skips_a_name_in_use(client, cast):
    calibration = certified(cast, name="Calibration 2")
    assert calibration.name == "Calibration 2"
    assert client.get(address(cast, NEW)).context["form"]["name"].value() == "Calibration 3"


def test_tables_download_with_their_values(client, cast):
    calibration = certified(cast)
    page = client.get(page_of(calibration)).content.decode()
    found = {each.dimension.name: each for each in calibration.certificates.all()}
    rows = {row["dimension"]: row for row in file_of(client, cast, page, "certificates")}
    assert rows.keys() == found.keys()
    fluency, coherence = rows["Fluency"], rows["Coherence"]
    assert (fluency["status"], fluency["kept"], fluency["units"]) == ("certified", "72", "120")
    assert float(fluency["upper_bound"]) == found["Fluency"].upper_bound
    assert coherence["threshold"] == ""
    assert coherence["threshold_reason"] == found["Coherence"].reason
    steps = [row for row in file_of(client, cast, page, "thresholds") if row["dimension"] == "Fluency"]
    assert [float(row["p_value"]) for row in steps] == [each["p_value"] for each in found["Fluency"].steps]
    assert all(decimals(float(row["bound"])) in page for row in steps)
    assert "Dimensions share delta" in page
    for person, status in [(cast.annotators[0].user, 404), (cast.outsider, 404), (cast.researcher, 200)]:
        client.force_login(person)
        assert client.get(page_of(calibration, "certificates.md")).status_code == status


def test_lapsed_certificate_reports_the_change(client, cast):
    calibration = certified(cast)
    Judge.objects.filter(name="Reasoner").update(temperature=1)
    sentence = "The temperature of Reasoner was 0, and is 1."
    page = text_of(client.get(page_of(calibration)))
    assert "These certificates have lapsed" in page
    assert sentence in page
    page = text_of(client.get(address(cast, "certificates/")))
    assert "First lapsed" in page
    assert sentence in page
    shown = concord(cast.admin, "certificates", "show", cast.project.slug, calibration.pk)
    assert shown["can_route"] is False
    assert all(sentence in each["lapses"] for each in shown["dimensions"])


def test_invalid_input_is_reported_at_the_field_or_above_the_plan(client, cast):
    response = client.post(address(cast, NEW), entered(cast, other=""), headers=HTMX)
    assert response.status_code == 422
    assert "Second judge: Closeness needs a second judge" in text_of(response)
    page = text_of(client.post(address(cast, NEW), entered(cast, size=10), headers=HTMX))
    assert "not even a judge without an error is certified" in page
    page = text_of(client.post(address(cast, NEW), entered(cast, dimensions=[]), headers=HTMX))
    assert "Dimensions: This field is required." in page


def test_the_fragment_is_its_part_of_the_page(client, cast):
    fragment = html_of(client.post(address(cast, NEW), entered(cast), headers=HTMX))
    assert fragment in html_of(client.post(address(cast, NEW), entered(cast)))


def test_plan_of_a_fully_rated_project_needs_no_people(client, cast):
    rate_all_units(cast)
    page = text_of(client.post(address(cast, NEW), entered(cast), headers=HTMX))
    assert "no further ratings are needed" in page


def test_pages_without_a_judge_name_the_missing_judge(client):
    cast = make_project()
    client.force_login(cast.admin)
    for path in ("certificates/", NEW):
        assert "No judge that gives scores has judgments yet" in text_of(client.get(address(cast, path)))
    with pytest.raises(RefusedError, match="No judge that gives scores has judgments yet"):
        concord(cast.admin, "certificates", "preview", cast.project.slug)


@pytest.mark.parametrize("documents", [60, 70])
def test_the_pages_take_a_fixed_number_of_queries(client, documents):
    cast = calibrated_project(documents=documents)
    client.force_login(cast.admin)
    calibration = certified(cast)
    counts = []
    for path in (address(cast, "certificates/"), address(cast, NEW), page_of(calibration)):
        with CaptureQueriesContext(connection) as counted:
            client.get(path)
        counts.append(len(counted))
    with CaptureQueriesContext(connection) as counted:
        client.post(address(cast, NEW), entered(cast, name="Second"), headers=HTMX)
    spec = policy_from_certificates(calibration, name="By First", raters=2)
    policy = make_policy(project=cast.project, spec=spec, by=cast.admin)
    with CaptureQueriesContext(connection) as of_policy:
        client.get(f"/projects/{cast.project.slug}/judges/routing/{policy.pk}/")
    assert [*counts, len(counted), len(of_policy)] == [16, 18, 20, 28, 52]


def test_researchers_read_and_others_find_nothing(client, cast):
    calibration = certified(cast)
    client.force_login(cast.researcher)
    assert "With 95 % confidence" in text_of(client.get(page_of(calibration)))
    assert "New calibration" not in text_of(client.get(address(cast, "certificates/")))
    assert client.get(address(cast, NEW)).status_code == 404
    for user in (cast.researcher, cast.outsider, cast.annotators[0].user):
        client.force_login(user)
        for step in ("compute", "withdraw"):
            assert client.post(page_of(calibration, f"{step}/")).status_code == 404
    for path in (address(cast, "certificates/"), address(cast, NEW), page_of(calibration)):
        assert client.get(path).status_code == 404


def test_admin_with_ratings_sees_nothing_while_round_one_is_open(client, cast):
    calibration = certified(cast)
    make_member(cast.project, Role.ANNOTATOR, user=cast.admin)
    assert client.get(page_of(calibration)).status_code == 403
    assert "Certificates" not in text_of(client.get(address(cast, "")))


def test_another_projects_calibration_is_not_found(client, cast):
    calibration = certified(cast)
    other = calibrated_project(documents=3)
    client.force_login(other.admin)
    assert client.get(address(other, f"certificates/{calibration.pk}/")).status_code == 404


def test_certificates_are_routed_by_and_lapse_on_the_page_of_the_policy(client, cast):
    calibration = certified(cast)
    page = text_of(client.post(page_of(calibration, "route/"), follow=True))
    assert "Reasoner, by the certificates of First · audit 0.05 · at least 20 units of each system ·" in page
    assert "Fluency judge where its confidence is at least 0.000 72 48" in page
    assert "Coherence people no certificate" in page
    policy = RoutingPolicy.objects.get()
    own = f"/projects/{cast.project.slug}/judges/routing/{policy.pk}/"
    fields = {"name": "By First", "audit_share": 0.2, "audit_least": 0, "raters": 2, "confidence_level": 0.95}
    digest = client.post(own, {**fields, "show": "preview"}, headers=HTMX).context["plan"].digest
    page = text_of(client.post(f"{own}route/", {**fields, "shown": digest}, follow=True))
    policy.refresh_from_db()
    assert (policy.status, policy.name, policy.audit_share) == ("routed", "By First", 0.2)
    assert "into Round I, which is open" in page
    assert "Wrong: another point than people" in page
    Judge.objects.filter(name="Chooser").update(max_tokens=999)
    page = text_of(client.get(own))
    assert "The certificates of this policy have lapsed" in page
    assert "The maximum output tokens of Chooser was" in page
    assert "New judgments would change this" not in page


# From the command line


def run_concord(cast, operation, *options):
    """Run an operation on certificates with the test of `entered`; options count before it."""
    sent = {name: value for name, value in entered(cast).items() if f"--{name}" not in options}
    given = [word for name, value in sent.items() for word in (f"--{name.replace('_', '-')}", *words(value))]
    return concord(cast.admin, "certificates", operation, cast.project.slug, *given, *options)


def words(value):
    return value if isinstance(value, list) else [value]


def test_command_plans_samples_and_computes(cast):
    plan = run_concord(cast, "preview")
    fluency = plan["dimensions"][0]
    assert (fluency["dimension"], fluency["units"], plan["ratings"], plan["size"]) == (
        "fluency",
        120,
        240,
        60,
    )
    assert (fluency["drawn"], fluency["needed"] >= fluency["least"] > 0) == (60, True)
    assert not Calibration.objects.exists()
    drawn = run_concord(cast, "add")["calibration"]
    step = (cast.project.slug, drawn["id"])
    assert drawn["name"] == "First"
    with pytest.raises(RefusedError, match="No unit of the sample has been rated yet"):
        concord(cast.admin, "certificates", "compute", *step)
    rate_sample(cast, Calibration.objects.get())
    shown = concord(cast.admin, "certificates", "show", *step)
    assert [(each["rated"], each["drawn"]) for each in shown["dimensions"]] == [(60, 60)] * 2
    computed = concord(cast.admin, "certificates", "compute", *step)
    assert computed["dimensions"][0]["says"].startswith("With 95 % confidence")
    fluency, coherence = concord(cast.admin, "certificates", "show", *step)["dimensions"]
    assert (fluency["certificate"]["threshold"], fluency["certificate"]["kept_share"]) == (0, 0.6)
    assert (fluency["valid"], coherence["certificate"]["threshold"]) == (True, None)
    assert computed["bound"]["judges"]["judge"]["model"] == "gpt-3.5-turbo-0301"
    with pytest.raises(RefusedError, match="First is computed, so you cannot change it"):
        concord(cast.admin, "certificates", "withdraw", *step)


def test_the_command_that_routes_follows_certificates(cast):
    certified(cast)
    out = StringIO()
    for options in (("--certificates=First", "--dry-run"), ("--certificates=First", "--json")):
        call_command("route", cast.project.slug, *options, stdout=out)
    shown, printed = out.getvalue().split("Nothing was written.\n")
    assert "fluency: 72 units stay." in shown
    assert "coherence: 0 units stay. Among the surest units" in shown
    said = json.loads(printed)
    assert (said["status"], said["calibration"], said["kept"]) == ("routed", "First", 72)
    with pytest.raises(CommandError, match="There is no calibration 'Other'; there are: First"):
        call_command("route", cast.project.slug, "--certificates=Other", stdout=out)
    with pytest.raises(CommandError, match="Say --rts, or --certificates"):
        call_command("route", cast.project.slug, stdout=out)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("preview", "--risk", "2"), "risk: .* less than or equal to 0.99|risk: "),
        (("preview", "--dimensions", "style"), "dimensions: choose one of fluency, coherence"),
        (("preview", "--other", "999"), r"other: choose one of \d+ \(Chooser\)"),
    ],
)
def test_the_command_rejects_with_a_sentence(cast, options, sentence):
    with pytest.raises(RefusedError, match=sentence):
        run_concord(cast, *options)
    assert not Calibration.objects.exists()


def test_a_sample_that_needs_a_size_is_not_drawn(cast):
    other = ("--other", judges_of(cast)[1].pk, "--risk", 0.01)
    with pytest.raises(RefusedError, match="Or enter the number of calibration units yourself"):
        concord(cast.admin, "certificates", "add", cast.project.slug, *other)
    assert not Calibration.objects.exists()


def test_a_missing_calibration_is_named(cast):
    with pytest.raises(RefusedError, match="no such calibration"):
        concord(cast.admin, "certificates", "show", cast.project.slug, 999)
