from io import BytesIO

import pytest

from annotate.core.models import Role
from judges.core.models import Judgment, PromptTemplate
from judges.methods import METHODS
from judges.runs.asking import call_of
from judges.runs.queries.judgments import rereadings
from judges.runs.queries.work import work_of
from tests.api.client import ApiClient
from tests.factories import make_member, make_project
from tests.judges.factories import make_judge, make_judgment, make_run, make_template
from tests.judges.pages import HTMX, address, html_of, text_of

pytestmark = pytest.mark.django_db

PAPER = "Score the {{ dimension }} of {{ text }} from {{ minimum }} to {{ maximum }}.\n"


@pytest.fixture
def cast(client):
    cast = make_project(dimensions=("fluency", "coherence"))
    client.force_login(cast.admin)
    return cast


def write(client, cast, method="rts", **sent):
    return client.post(address(cast, f"prompts/new/{method}/"), {"name": "Paper", "text": PAPER, **sent})


def change(client, cast, template, **sent):
    return client.post(address(cast, f"prompts/{template.pk}/"), {"text": PAPER, **sent})


def file(content):
    upload = BytesIO(content)
    upload.name = "paper.txt"
    return upload


@pytest.mark.parametrize("method", METHODS)
def test_new_prompt_starts_with_the_shipped_content(client, cast, method):
    reply = client.get(address(cast, f"prompts/new/{method}/"))
    text = reply.context["form"]["text"].value()
    assert text == METHODS[method].default_template
    assert write(client, cast, method, text=text).status_code == 302
    assert PromptTemplate.objects.get().version == 1


def test_prompt_is_stored_verbatim(client, cast):
    text = "  {{ text }}\r\n\r\nEnd  \n"
    write(client, cast, text=text)
    assert PromptTemplate.objects.get().text == "  {{ text }}\n\nEnd  \n"


def test_uploaded_file_replaces_the_typed_prompt(client, cast):
    write(client, cast, text="", file=file(b"\xef\xbb\xbf" + PAPER.encode()))
    assert PromptTemplate.objects.get().text == PAPER


def test_written_prompt_downloads_as_a_file(client, cast):
    template = make_template(cast.project, text=PAPER)
    reply = client.get(address(cast, f"prompts/{template.pk}/text/"))
    assert reply.content.decode() == PAPER
    assert reply["Content-Type"] == "text/plain; charset=utf-8"
    assert "attachment" in reply["Content-Disposition"]


@pytest.mark.parametrize(
    ("method", "sent", "says"),
    [
        ("rts", {"text": "Score {{ text }} by {{ mood }}."}, "{{ mood }} is not a placeholder here"),
        ("rts", {"text": "Score it."}, "The template needs the placeholder {{ text }}."),
        ("mcq", {"text": "Choose for {{ text }}."}, "The template needs the placeholder {{ options }} or"),
        ("h2h", {"text": "{{ text_1 }}"}, "The template needs the placeholder {{ text_2 }}."),
        ("rts", {"text": ""}, "The template needs the placeholder {{ text }}."),
        ("rts", {"name": ""}, "This field is required."),
        ("rts", {"name": "Taken"}, "The project has a prompt Taken already"),
        ("rts", {"file": file(b"\xff\xfe\x00")}, "This file is not valid UTF-8"),
        ("rts", {"file": file(b" " * 200_001)}, "This file is too large for a prompt."),
    ],
)
def test_unusable_prompt_is_rejected(client, cast, method, sent, says):
    make_template(cast.project, name="Taken")
    reply = write(client, cast, method, **sent)
    assert reply.status_code == 422
    assert says in text_of(reply)
    assert PromptTemplate.objects.count() == 1


def test_an_unknown_method_is_not_there(client, cast):
    assert client.get(address(cast, "prompts/new/oracle/")).status_code == 404


# Versions


def test_unused_prompt_changes_directly(client, cast):
    judge = make_judge(cast.project)
    make_run(cast.project, judge)
    change(client, cast, judge.template)
    assert list(PromptTemplate.objects.values_list("version", "text")) == [(1, PAPER)]


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"status": Judgment.Status.FAILED, "value": None, "reason": "No answer."},
        {"status": Judgment.Status.PLANNED, "value": None, "attempts": 1},
    ],
)
def test_used_prompt_stays_and_gets_a_new_version(client, cast, asked):
    judge = make_judge(cast.project, "rts")
    make_judgment(judge, cast.items[0], cast.dimensions[0], **asked)
    reply = change(client, cast, judge.template)
    old, new = PromptTemplate.objects.order_by("version")
    assert reply.url == address(cast, f"prompts/{new.pk}/")
    assert (old.text, old.version) == (METHODS["rts"].default_template, 1)
    assert (new.text, new.version, new.name, new.method) == (PAPER, 2, old.name, "rts")
    judge.refresh_from_db()
    assert judge.template == old
    assert "so it cannot change" in text_of(client.get(address(cast, f"prompts/{old.pk}/")))


def test_saving_the_same_content_makes_no_version(client, cast):
    judge = make_judge(cast.project)
    make_judgment(judge, cast.items[0], cast.dimensions[0])
    change(client, cast, judge.template, text=METHODS["rts"].default_template)
    assert PromptTemplate.objects.count() == 1


def test_the_list_shows_every_version_and_its_judges(client, cast):
    judge = make_judge(cast.project)
    make_judgment(judge, cast.items[0], cast.dimensions[0])
    change(client, cast, judge.template)
    listed = text_of(client.get(address(cast, "prompts/")))
    assert "version 2 for 0 judges · version 1 for 1 judge" in listed


# Wordings of single dimensions

OWN = "How well does {{ text }} read?"


def wording_of(cast, template, dimension="fluency"):
    return address(cast, f"prompts/{template.pk}/?dimension={dimension}")


def test_dimension_gets_its_own_wording_and_loses_it_again(client, cast):
    template, fluency = make_template(cast.project, text=PAPER), cast.dimensions[0]
    page = client.get(wording_of(cast, template))
    assert page.context["form"]["text"].value() == PAPER
    assert "Fluency uses the wording for all dimensions." in text_of(page)
    reply = client.post(wording_of(cast, template), {"text": OWN})
    assert reply.url == wording_of(cast, template)
    template.refresh_from_db()
    assert (template.text, template.wordings) == (PAPER, {str(fluency.pk): OWN})
    page = client.get(wording_of(cast, template))
    assert page.context["form"]["text"].value() == OWN
    assert "Fluency own Coherence" in text_of(page)
    client.post(wording_of(cast, template), {"text": OWN, "common": "on"})
    template.refresh_from_db()
    assert template.wordings == {}


def test_each_dimension_uses_its_wording_and_others_the_common_one(cast):
    template = make_template(cast.project, text=PAPER, wordings={str(cast.dimensions[0].pk): OWN})
    run = make_run(cast.project, make_judge(cast.project, template=template))
    works = work_of(list(run.judgments.order_by("pk").values_list("pk", flat=True)))
    asked = {work.question.messages[-1].content for work in works}
    for item in cast.items:
        assert f"How well does {item.text} read?" in asked
        assert f"Score the Coherence of {item.text} from 1 to 5.\n" in asked
    assert len({call_of(work).messages_hash for work in works}) == len(works) == 8


def test_used_wording_stays_and_the_next_version_keeps_the_others(client, cast):
    first, second = (str(dimension.pk) for dimension in cast.dimensions)
    judge = make_judge(cast.project, template=make_template(cast.project, wordings={first: OWN}))
    make_judgment(judge, cast.items[0], cast.dimensions[0])
    reply = client.post(wording_of(cast, judge.template, "coherence"), {"text": PAPER})
    old, new = PromptTemplate.objects.order_by("version")
    assert reply.url == wording_of(cast, new, "coherence")
    assert (old.wordings, new.wordings) == ({first: OWN}, {first: OWN, second: PAPER})
    client.post(address(cast, f"prompts/{new.pk}/"), {"text": PAPER, "pattern": ""})
    new.refresh_from_db()
    assert (new.text, new.wordings) == (PAPER, {first: OWN, second: PAPER})
    assert PromptTemplate.objects.count() == 2


def test_unusable_wording_is_rejected(client, cast):
    template = make_template(cast.project)
    reply = client.post(wording_of(cast, template), {"text": "Score it."})
    assert reply.status_code == 422
    assert "The template needs the placeholder {{ text }}." in text_of(reply)
    assert client.get(wording_of(cast, template, "style")).status_code == 404


def test_a_wording_is_previewed_on_its_dimension_and_given_as_a_file(client, cast):
    template = make_template(cast.project, text=PAPER, wordings={str(cast.dimensions[1].pk): OWN})
    common = preview(client, cast, template, text="{{ text }}", on_dimension="coherence")
    assert f"Coherence · about 16 tokens {cast.items[0].text}" not in text_of(common)
    assert f"How well does {cast.items[0].text} read?" in text_of(common)
    typed = {"text": "Is {{ text }} coherent?", "show": "preview", "on_dimension": "fluency"}
    own = client.post(wording_of(cast, template, "coherence"), typed, headers=HTMX)
    assert "item 1 of 4, Coherence" in text_of(own)
    assert f"Is {cast.items[0].text} coherent?" in text_of(own)
    file = client.get(address(cast, f"prompts/{template.pk}/text/?dimension=coherence"))
    assert file.content.decode() == OWN
    assert "coherence.txt" in file["Content-Disposition"]


def test_the_api_gives_the_wordings_by_dimension(cast):
    make_template(cast.project, wordings={str(cast.dimensions[1].pk): OWN})
    (row,) = ApiClient(cast.admin).get(f"projects/{cast.project.slug}/prompts/").json()["results"]
    assert row["wordings"] == {"coherence": OWN}


# Preview


def preview(client, cast, template, **sent):
    sent = {"text": PAPER, "show": "preview", **sent}
    return client.post(address(cast, f"prompts/{template.pk}/"), sent, headers=HTMX)


def test_the_preview_shows_a_real_item_and_counts_tokens(client, cast):
    template = make_template(cast.project)
    shown = text_of(preview(client, cast, template, on_dimension="coherence", on_item=2))
    assert "item 2 of 4, Coherence · about 19 tokens" in shown  # 73 characters, 4 a token
    assert shown.endswith("Score the Coherence of What system-2 wrote about product 1. from 1 to 5.")
    template.refresh_from_db()
    assert template.text != PAPER


def test_preview_of_head_to_head_shows_two_outputs(client, cast):
    template = make_template(cast.project, "h2h")
    shown = text_of(preview(client, cast, template, text="{{ text_1 }} OR {{ text_2 }}"))
    assert f"{cast.items[0].text} OR {cast.items[1].text}" in shown


def test_preview_shows_the_error(client, cast):
    template = make_template(cast.project)
    assert "{{ mood }} is not a placeholder here" in text_of(
        preview(client, cast, template, text="{{ mood }}")
    )


@pytest.mark.parametrize("sent", [{"on_dimension": "style"}, {"on_item": "0"}, {"on_item": "x"}])
def test_preview_of_a_missing_item_shows_the_first(client, cast, sent):
    assert "item 1 of 4, Fluency" in text_of(preview(client, cast, make_template(cast.project), **sent))


def test_a_project_without_items_previews_nothing(client):
    cast = make_project(documents=0)
    client.force_login(cast.admin)
    assert "import items to see" in text_of(client.get(address(cast, "prompts/new/rts/")))


def test_the_fragment_of_the_preview_is_its_part_of_the_page(client, cast):
    template = make_template(cast.project)
    fragment = html_of(preview(client, cast, template))
    assert fragment.startswith('<div class="preview"')
    page = client.post(address(cast, f"prompts/{template.pk}/"), {"text": PAPER, "show": "preview"})
    assert fragment in html_of(page)


# Access and queries


def test_a_researcher_reads_prompts_and_changes_none(client, cast):
    template = make_template(cast.project)
    client.force_login(cast.researcher)
    page = client.get(address(cast, f"prompts/{template.pk}/")).content.decode()
    assert "Judge one quality" in page
    assert "Save the prompt" not in page
    assert client.get(address(cast, f"prompts/{template.pk}/text/")).status_code == 200
    assert client.get(address(cast, "prompts/new/rts/")).status_code == 404
    assert change(client, cast, template).status_code == 404


def test_admin_with_ratings_can_still_set_up_judges(client, cast):
    make_member(cast.project, Role.ANNOTATOR, user=cast.admin)
    template = make_template(cast.project)
    assert client.get(address(cast, "prompts/")).status_code == 200
    assert change(client, cast, template).status_code == 302


def test_prompts_of_another_project_are_not_there(client, cast):
    other = make_template(make_project().project)
    for path in ("", "text/"):
        assert client.get(address(cast, f"prompts/{other.pk}/{path}")).status_code == 404


def test_more_prompts_need_no_more_queries(client, cast, django_assert_max_num_queries):
    def queries(path):
        with django_assert_max_num_queries(25) as counted:
            client.get(address(cast, path))
        return len(counted)

    first = make_template(cast.project)
    before = queries("prompts/"), queries(f"prompts/{first.pk}/")
    for version in (2, 3):
        make_template(cast.project, name=first.name, version=version)
        make_template(cast.project)
    assert (queries("prompts/"), queries(f"prompts/{first.pk}/")) == before


def test_a_pattern_is_tried_on_pasted_replies_and_belongs_to_the_version(client, cast):
    pattern, page = r"grade (\d)", address(cast, "prompts/new/rts/")
    typed = {"name": "Paper", "text": PAPER, "pattern": pattern, "replies": "Grade 4\r\n---\r\nHm."}
    html = client.post(page, {**typed, "show": "replies"}).content.decode().split('id="tried"')[1]
    assert "<strong>4</strong>" in html
    assert "The prompt&#x27;s pattern does not match." in html
    assert not PromptTemplate.objects.exists()
    for asked in ({}, {"show": "replies"}):
        html = client.post(page, {**typed, "pattern": "(a+", **asked}).content.decode()
        assert "This is no regular expression" in html
    assert not PromptTemplate.objects.exists()
    client.post(page, typed)
    first = PromptTemplate.objects.get()
    assert first.pattern == pattern
    judge = make_judge(cast.project, template=first)
    make_judgment(judge, cast.items[0], cast.dimensions[0], reply="It is grade 2", value=3)
    assert [found.value for found in rereadings([judge])] == [2]
    change(client, cast, first, pattern="")
    assert list(PromptTemplate.objects.order_by("version").values_list("pattern", flat=True)) == [pattern, ""]


def test_a_prompt_about_several_dimensions_shows_all_of_them_and_has_one_wording(client, cast):
    template = make_template(cast.project, "several")
    page = client.get(address(cast, f"prompts/{template.pk}/"))
    assert (
        "Fluency: a number from 1 to 5\nCoherence: a number from 1 to 5"
        in page.context["preview"].messages[0].content
    )
    assert "Wordings" not in page.content.decode()
    refused = client.post(wording_of(cast, template), {"text": "{{ dimensions }} {{ text }}"})
    assert refused.status_code == 422
    assert "One call asks about all dimensions" in text_of(refused)
    typed = {"text": template.text, "show": "replies", "replies": "Fluency: 4\nCoherence: 2"}
    shown = client.post(address(cast, f"prompts/{template.pk}/"), {**typed, "on_dimension": "coherence"})
    assert [reading.value for _, reading in shown.context["tried"]] == [2]
