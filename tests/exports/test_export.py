import csv
import io
import json
import re
import zipfile
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.core.metadata import ordered_metadata
from annotate.core.models import (
    Acknowledgement,
    Dimension,
    Dispute,
    Document,
    Guideline,
    Item,
    Membership,
    Rating,
    RatingChange,
    Role,
    User,
)
from annotate.core.version import VERSION
from annotate.disputes.commands.disputes import adjudicate, answer_dispute, post_message
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.files import write_folder
from annotate.exports.formats.text import CHUNK, FORMATS, comma_separated, export_table
from annotate.exports.registry import TABLES, ColumnRows
from annotate.rating.commands.assignments import acknowledge_wording
from annotate.rating.commands.plans import choose_plan
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_two
from tests.exports.document import DOCUMENT, described_document
from tests.factories import Cast, make_member
from tests.factories import make_project as project_of_people
from tests.rating.rounds import assigned, discussed, frozen, opened, rate

pytestmark = pytest.mark.django_db

STRANGE = 'One, "two"\r\nthree\n; شكرا\u2028\u202e=1+1\t\U0001f642 </script> NA \\'
ALL = ["project", "guidelines", "documents", "items", "benchmark", "ratings", "assignments", "final_values"]
OF_COMPARISONS = ["comparisons", "parts"]  # no rows without a question about them
ALL += [
    "soft_labels",
    "disputes",
    "posts",
    "dispute_events",
    "history",
    "acknowledgements",
    "raters",
    "spans",
    "development_documents",
    "judges",
    "proposals",
    "runs",
    "judgments",
    "judgment_changes",
    "metrics",
    "indicators",
    "certificates",
]
OF_PEOPLE = ALL[:13]
ALL[4:4] = OF_COMPARISONS


def make_project(**wanted: Any) -> Cast:
    """Make a project in which exports call its raters Rater A and so on, as they call each other."""
    cast = project_of_people(**wanted)
    for membership in cast.annotators:
        membership.pseudonym = f"Rater {membership.alias}"
        membership.save(update_fields=["pseudonym"])
    return cast


@pytest.fixture
def cast():
    """One unit was rated 1, 3, 5, discussed and decided; the other has two ratings, 2 and 3."""
    cast = make_project(documents=1)
    metadata = ordered_metadata({STRANGE: [1, 0.5, None, {"z": True, "aa": STRANGE}], "b": STRANGE})
    Document.objects.update(parts=[{"label": "Review 1", "text": STRANGE}], metadata=metadata)
    Item.objects.update(text=STRANGE, metadata=metadata)
    choose_plan(project=cast.project, kind="queue")
    round = opened(cast)
    disputed, other = cast.items
    first, second, third = cast.annotators
    rate(cast, round, first, disputed, 1, comment=STRANGE)
    rate(cast, round, second, disputed, 2)
    rate(cast, round, second, disputed, 3)
    rate(cast, round, third, disputed, 5)
    rate(cast, round, first, other, 2)
    rate(cast, round, second, other, 3)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    Dimension.objects.update(name="Changed since")
    dispute = Dispute.objects.get()
    answer_dispute(dispute=dispute, rater=first, value=4, comment="You are right.")
    post_message(dispute=dispute, author=second, text=STRANGE)
    adjudicate(dispute=dispute, value=3, note="Two of three.", by=cast.admin)
    return cast


def content(client, cast, table, format="jsonl", user=None):
    client.force_login(user or cast.researcher)
    reply = client.get(reverse("export_one", args=[cast.project.slug, table, format]))
    assert reply.status_code == 200
    return b"".join(reply.streaming_content)


def rows(client, cast, table):
    return [json.loads(line) for line in content(client, cast, table).decode().split("\n") if line]


def picked(found, *columns):
    return [tuple(row[column] for column in columns) for row in found]


# Tables and columns


def test_a_table_that_the_database_writes_has_the_same_bytes(cast: Cast) -> None:
    rating, *others = Rating.objects.order_by("pk")
    others[0].evidence = [{"part": 1, "start": 0, "end": 7, "text": STRANGE}]
    others[0].active_seconds = 0.00001
    others[1].active_seconds, others[1].unsure = 1234567.1, True
    others[2].value, others[2].cannot_rate, others[2].comment = None, True, "  \\. "
    Rating.objects.bulk_update(
        others, ["evidence", "active_seconds", "unsure", "value", "cannot_rate", "comment"]
    )
    Rating.objects.filter(pk=rating.pk).update(updated_at=timezone.now().replace(microsecond=0))
    written = []
    for table in TABLES.values():
        found = table.rows(cast.project)
        if isinstance(found, ColumnRows):
            expected = "".join(comma_separated(table, found)).encode()
            assert b"".join(export_table(cast.project, table, "csv")) == expected, table.name
            written.append(table.name)
    assert {"ratings", "items", "disputes", "posts", "metrics"} <= set(written)


def test_who_read_which_wording_is_exported(client, cast):
    reader, version = cast.annotators[1], Guideline.objects.get().version
    acknowledge_wording(annotator=reader, version=version, by=reader.user)
    (read,) = rows(client, cast, "acknowledgements")
    assert (read["rater"], read["guideline_version"]) == ("Rater B", version)
    assert read["at"] == Acknowledgement.objects.get().at.isoformat()


def test_the_documentation_lists_the_declared_tables_and_columns():
    assert list(TABLES) == ALL
    assert DOCUMENT.read_text() == described_document(), "make docs"


def test_every_column_has_a_description():
    said = [(table.name, each.name, each.meaning) for table in TABLES.values() for each in table.columns]
    assert [each for each in said if not re.fullmatch(r"\S.{4,}[.]", each[2])] == []


@pytest.mark.parametrize("table", OF_PEOPLE)
def test_headers_and_keys_are_the_documented_columns(client, cast, table):
    found = rows(client, cast, table)
    assert found
    for row in found:
        assert list(row) == table_of(cast, table).names
    header = content(client, cast, table, "csv").decode().split("\r\n")[0]
    assert header == ",".join(table_of(cast, table).names)


def table_of(cast, name):
    return TABLES[name].for_dimensions(cast.project.dimensions.values_list("key", flat=True))


@pytest.mark.parametrize("table", ALL[1:])
def test_an_empty_table_is_empty_with_its_header_in_csv(client, table):
    cast = make_project(documents=0, dimensions=())
    assert content(client, cast, table) == b""
    assert content(client, cast, table, "csv").decode() == ",".join(table_of(cast, table).names) + "\r\n"


def test_the_project_comes_with_concords_version(client, cast):
    (row,) = rows(client, cast, "project")
    assert (row["concord_version"], row["project"]) == (VERSION, cast.project.slug)
    assert (row["raters_per_item"], row["dispute_threshold"], row["tolerance"]) == (3, 2, 1)


def test_dimensions_match_the_frozen_ones_of_the_rounds(client, cast):
    found = rows(client, cast, "guidelines")
    assert picked(found, "round", "dimension", "name", "scale_minimum", "scale_maximum", "status") == [
        (1, "fluency", "Fluency", 1, 5, "closed"),
        (2, "fluency", "Fluency", 1, 5, "open"),
    ]
    assert found[0]["points"] == [
        {"value": 1, "label": "fluency 1", "description": "What 1 means."},
        {"value": 5, "label": "fluency 5", "description": "What 5 means."},
    ]


def test_documents_and_items_come_with_their_systems(client, cast):
    assert picked(rows(client, cast, "documents"), "document", "title", "part", "label", "text") == [
        ("product-1", "Product 1", 1, "Review 1", STRANGE)
    ]
    assert picked(rows(client, cast, "items"), "document", "system", "text") == [
        ("product-1", "system-1", STRANGE),
        ("product-1", "system-2", STRANGE),
    ]


def test_ratings_of_both_rounds_state_their_assignment_plan(client, cast):
    found = rows(client, cast, "ratings")
    assert picked(found, "round", "system", "dimension", "rater", "value", "revision", "plan") == [
        (1, "system-1", "fluency", "Rater A", 1, 1, "n_of_m"),
        (1, "system-1", "fluency", "Rater B", 3, 2, "n_of_m"),
        (1, "system-1", "fluency", "Rater C", 5, 1, "n_of_m"),
        (1, "system-2", "fluency", "Rater A", 2, 1, "n_of_m"),
        (1, "system-2", "fluency", "Rater B", 3, 1, "n_of_m"),
        (2, "system-1", "fluency", "Rater A", 4, 1, "disputes"),
    ]
    assert {row["inclusion_probability"] for row in found} == {1.0}
    assert found[0]["comment"] == STRANGE
    assert datetime.fromisoformat(found[0]["first_saved_at"]).utcoffset() is not None


def test_history_lists_every_save_with_values_and_author(client, cast):
    columns = ("round", "system", "rater", "revision", "cause", "value_before", "value_after", "by")
    assert picked(rows(client, cast, "history"), *columns) == [
        (1, "system-1", "Rater A", 1, "rated", None, 1, "Rater A"),
        (1, "system-1", "Rater B", 1, "rated", None, 2, "Rater B"),
        (1, "system-1", "Rater B", 2, "rated", 2, 3, "Rater B"),
        (1, "system-1", "Rater C", 1, "rated", None, 5, "Rater C"),
        (1, "system-2", "Rater A", 1, "rated", None, 2, "Rater A"),
        (1, "system-2", "Rater B", 1, "rated", None, 3, "Rater B"),
        (2, "system-1", "Rater A", 1, "changed", 1, 4, "Rater A"),
    ]


def test_disputes_come_with_thread_and_events(client, cast):
    columns = ("dispute", "document", "system", "dimension")
    unit = (1, "product-1", "system-1", "fluency")
    assert picked(rows(client, cast, "disputes"), *columns, "spread", "status", "adjudicated_value") == [
        (*unit, 4, "adjudicated", 3)
    ]
    assert picked(rows(client, cast, "posts"), *columns, "rater", "text") == [(*unit, "Rater B", STRANGE)]
    assert picked(rows(client, cast, "dispute_events"), *columns, "event", "value", "note", "by") == [
        (*unit, "opened", None, "", "admin"),
        (*unit, "adjudicated", 3, "Two of three.", "admin"),
    ]


# Final values

FINAL = ("system", "status", "values", "mean", "adjudicated_value", "final_value")


def test_soft_labels_are_the_shares_of_round_one_whatever_followed(client, cast):
    found = rows(client, cast, "soft_labels")
    assert picked(found, "system", "dimension", "values", "shares", "dawid_skene") == [
        ("system-1", "fluency", 3, {"1": 0.333333, "3": 0.333333, "5": 0.333333}, None),
        ("system-2", "fluency", 2, {"2": 0.5, "3": 0.5}, None),
    ]


def test_final_values_are_the_last_of_each_rater_and_a_decision_goes_before_their_mean(client, cast):
    assert picked(rows(client, cast, "final_values"), *FINAL) == [
        ("system-1", "adjudicated", {"Rater A": 4, "Rater B": 3, "Rater C": 5}, 4.0, 3, 3),
        ("system-2", "undisputed", {"Rater A": 2, "Rater B": 3}, 2.5, None, 2.5),
    ]


def test_only_undisputed_settled_or_decided_units_have_a_final_value(client):
    cast = make_project(documents=1)
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        for item in cast.items:
            rate(cast, round, annotator, item, value)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    settled = Dispute.objects.get(item=cast.items[0])
    for annotator in cast.annotators[:2]:
        answer_dispute(dispute=settled, rater=annotator, value=4)
    assert picked(rows(client, cast, "final_values"), "status", "final_value") == [
        ("settled", pytest.approx(13 / 3)),
        ("open", None),
    ]
    close_round_two(project=cast.project, by=cast.admin)
    assert picked(rows(client, cast, "final_values"), "status", "mean", "final_value") == [
        ("settled", pytest.approx(13 / 3), pytest.approx(13 / 3)),
        ("left_open", 3, None),
    ]


def test_while_round_one_is_open_no_unit_is_called_undisputed(client):
    cast = make_project(documents=1)
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 1)
    rate(cast, round, cast.annotators[1], cast.items[0], 5)
    assert picked(rows(client, cast, "final_values"), *FINAL) == [
        ("system-1", "round_one_open", {"Rater A": 1, "Rater B": 5}, 3.0, None, None)
    ]


def test_unit_without_a_possible_rating_has_no_final_value(client):
    cast = make_project(documents=1)
    round = opened(cast)
    save_rating(
        assignment=assigned(cast, round, cast.annotators[0], cast.items[0]),
        dimension=frozen(round),
        answer=Answer(cannot_rate=True, unsure=True),
        by=cast.annotators[0].user,
    )
    (rating,) = rows(client, cast, "ratings")
    assert (rating["value"], rating["cannot_rate"], rating["unsure"]) == (None, True, True)
    assert picked(rows(client, cast, "final_values"), *FINAL[2:]) == [({}, None, None, None)]


def test_undisputed_unit_gets_the_mean(client):
    cast = make_project(documents=1)
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (3, 4, 4), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    close_round_one(project=cast.project, by=cast.admin)
    assert picked(rows(client, cast, "final_values"), "status", "final_value") == [
        ("undisputed", pytest.approx(11 / 3))
    ]


def test_categories_have_no_mean(client):
    cast = make_project(documents=1)
    Dimension.objects.update(measurement_level="nominal")
    round = opened(cast)
    for annotator, values in zip(cast.annotators, [(1, 4), (2, 4), (5, 4)], strict=True):
        for item, value in zip(cast.items, values, strict=True):
            rate(cast, round, annotator, item, value)
    close_round_one(project=cast.project, by=cast.admin)
    assert picked(rows(client, cast, "final_values"), "status", "mean", "final_value") == [
        ("open", None, None),
        ("undisputed", None, 4),
    ]


# Formats


@pytest.mark.parametrize("table", OF_PEOPLE)
def test_both_formats_hold_the_same_and_nothing_is_lost_on_the_way(client, cast, table):
    text = content(client, cast, table, "csv").decode()
    from_csv = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [
        {name: as_cell(value) for name, value in row.items()} for row in rows(client, cast, table)
    ] == from_csv


def as_cell(value):
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


@pytest.mark.parametrize("format", ["jsonl", "csv"])
@pytest.mark.parametrize("table", ["ratings", "history"])
def test_command_writes_the_same_bytes_as_the_page(client, cast, tmp_path, table, format):
    file = tmp_path / "table"
    call_command("export", cast.project.slug, table=table, format=format, to=file)
    assert file.read_bytes() == content(client, cast, table, format)
    assert list(tmp_path.iterdir()) == [file]


def test_command_reports_unsupported_requests(cast, tmp_path):
    with pytest.raises(CommandError, match="There is no project 'nothing'"):
        call_command("export", "nothing")
    with pytest.raises(CommandError, match=r"cannot be written: .*No such file or directory"):
        call_command("export", cast.project.slug, to=tmp_path / "nowhere" / "file.zip")


# Pseudonyms


def everything_sent(client, cast):
    for format in FORMATS:
        for table in ALL:
            yield content(client, cast, table, format)
    with TemporaryDirectory() as name:
        for format in Format:
            folder = Path(name, format)
            folder.mkdir()
            write_folder(cast.project, ExportChoice(format), folder)
            for path in folder.rglob("*"):
                if path.suffix == ".xlsx":
                    with zipfile.ZipFile(path) as archive:
                        yield from map(archive.read, archive.namelist())
                elif path.is_file():
                    yield path.name.encode() + path.read_bytes()


def test_no_name_email_or_label_appears_in_any_byte(client, cast):
    for number, user in enumerate(User.objects.all()):
        user.name, user.email = f"SECRET-NAME-{number}", f"secret-address-{number}@example.org"
        user.save()
    for membership in Membership.objects.all():
        membership.label = f"SECRET-LABEL-{membership.pk}"
        membership.save()
    sent = list(everything_sent(client, cast))
    assert len(sent) > 2 * len(ALL)
    for each in sent:
        assert b"secret" not in each.lower()
        assert b"example.org" not in each


def test_admin_actions_do_not_reveal_a_rater_with_admin_role(client):
    cast = make_project()
    rater = cast.annotators[0]
    assert rater.user is not None
    make_member(cast.project, Role.ADMIN, user=rater.user)
    cast = replace(cast, admin=rater.user)
    dispute = discussed(cast, 1, 3, 5)
    answer_dispute(dispute=dispute, rater=rater, value=4)
    answer_dispute(dispute=dispute, rater=cast.annotators[1], value=4)
    adjudicate(dispute=dispute, value=3, note="So it is.", by=rater.user)
    assert picked(rows(client, cast, "dispute_events"), "event", "by") == [
        ("opened", "admin"),
        ("settled", "Rater B"),
        ("adjudicated", "admin"),
    ]
    RatingChange.objects.create(
        rating=Rating.objects.get(assignment__annotator=cast.annotators[2]),
        revision=2,
        at=timezone.now(),
        actor=rater.user,
        cause="imported",
    )
    by = {(row["rater"], row["cause"], row["by"]) for row in rows(client, cast, "history")}
    assert ("Rater C", "imported", "admin") in by
    assert ("Rater A", "changed", "Rater A") in by


def test_pseudonyms_are_stable_in_a_project_and_have_nothing_in_common_with_another(client):
    first, second = (project_of_people(documents=1) for _ in range(2))
    people = [membership.user for membership in first.annotators]
    for user, membership in zip(people, second.annotators, strict=True):
        membership.user = user
        membership.save()
    found = []
    for cast in (first, first, second):
        if not cast.project.rounds.exists():
            round = opened(cast)
            for annotator in cast.annotators:
                rate(cast, round, annotator, cast.items[0], 3)
        found.append([row["rater"] for row in rows(client, cast, "ratings")])
    assert found[0] == found[1]
    assert len(set(found[0])) == 3
    assert not set(found[0]) & set(found[2])
    assert not any(re.search(r"Rater", name) for name in found[0])


# Pages and access


def test_the_page_offers_every_table_and_everything(client, cast):
    client.force_login(cast.researcher)
    html = client.get(reverse("exports", args=[cast.project.slug])).content.decode()
    for format in FORMATS:
        for table in ALL:
            assert reverse("export_one", args=[cast.project.slug, table, format]) in html


def addresses(cast):
    slug = cast.project.slug
    return [
        reverse("exports", args=[slug]),
        reverse("export_one", args=[slug, "ratings", "csv"]),
    ]


@pytest.mark.parametrize("who", ["admin", "researcher"])
def test_admins_and_researchers_may_take_data_away(client, cast, who):
    client.force_login(getattr(cast, who))
    assert [client.get(address).status_code for address in addresses(cast)] == [200, 200]


@pytest.mark.parametrize("who", ["annotator", "outsider"])
def test_user_without_results_access_gets_not_found(client, cast, who):
    client.force_login(cast.annotators[0].user if who == "annotator" else cast.outsider)
    assert [client.get(address).status_code for address in addresses(cast)] == [404, 404]


def test_what_no_table_or_format_is_called_is_not_found(client, cast):
    client.force_login(cast.admin)
    folder = reverse("exports", args=[cast.project.slug])
    for name in ("users.csv", "ratings.xlsx", "xlsx.zip", "ratings.zip"):
        assert client.get(folder + name).status_code == 404


def test_table_is_served_with_its_media_type(client, cast):
    client.force_login(cast.admin)
    for format, content_type in (("csv", "text/csv; charset=utf-8"), ("jsonl", "application/jsonl")):
        reply = client.get(reverse("export_one", args=[cast.project.slug, "ratings", format]))
        assert reply.headers["Content-Type"] == content_type
        assert reply.headers["Content-Disposition"] == (
            f'attachment; filename="{cast.project.slug}-ratings.{format}"'
        )


# Streaming


def test_rows_are_read_only_on_sending(client, cast):
    client.force_login(cast.admin)
    with CaptureQueriesContext(connection) as counted:
        reply = client.get(reverse("export_one", args=[cast.project.slug, "ratings", "jsonl"]))
    assert reply.streaming
    assert len(counted) == 5  # session, user, place, rates, and that it is taken away


def test_all_tables_take_a_fixed_number_of_queries(cast):
    with CaptureQueriesContext(connection) as counted:
        for table in TABLES.values():
            list(table.rows(cast.project))
    # project 0, guidelines 4 (rounds, versions of each and of none), documents 1, items 1, ratings 1, items
    # with what came of them 11 (dimensions thrice, items, sides, disputes, rounds twice, ratings, scales,
    # judgments), comparisons 1, parts 1,
    # assignments 4 (round, places, units, ratings), final values 4 (disputes, dimensions, round, ratings),
    # soft labels 4 (rounds, items, ratings, raters), disputes 1, posts 1, events 2 (raters), history 2
    # (raters), development documents 1, judges 2 (dimensions), proposals 2
    # (numbers), runs 1, judgments 4 (runs, scales,
    # dimensions), their changes 1 (dimensions), metrics 1, indicators 1,
    # new wording that was read 1, raters 3 (items, seconds), spans 1, certificates 1
    assert len(counted) == 59


@pytest.mark.parametrize("saves", [10, 5000])
def test_a_long_table_comes_in_pieces_with_the_same_queries(saves):
    cast = make_project()
    rate(cast, opened(cast), cast.annotators[0], cast.items[0], 3)
    rating, now = Rating.objects.get(), timezone.now()
    RatingChange.objects.bulk_create(
        RatingChange(rating=rating, revision=n, at=now, cause="rated", value_after=3, comment="x" * 50)
        for n in range(2, saves + 1)
    )
    with CaptureQueriesContext(connection) as counted:
        pieces = list(export_table(cast.project, TABLES["history"], "jsonl"))
    assert len(counted) == 2
    assert max(map(len, pieces)) < 2 * CHUNK
    assert b"".join(pieces).count(b"\n") == saves
