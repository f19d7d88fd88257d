"""Several judges as one: values by hand, weights that find the judge that knows, a panel in the product."""

from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client

from agreement.comparison.between_judges import (
    MAJORITY,
    MEAN,
    MEDIAN,
    WEIGHTS,
    NoWeights,
    Weights,
    combine,
    learn_weights,
    majority_of_categories,
    spread,
)
from annotate.core.models import AuditEntry
from annotate.setup.commands import delete_project
from concord_client import RefusedError
from judges.core.models import Judge, Judgment, Panel
from judges.laboratory.commands.proposals import draw_parts
from judges.laboratory.queries.cases import explain_in_use
from judges.runs.commands.corrections import set_value
from tests.api.client import concord
from tests.factories import Cast
from tests.judges.factories import make_judge
from tests.judges.measured import MCQ, RTS, measured_project
from tests.judges.pages import address, text_of

GAP = np.nan
SAID = np.array([[1.0, 2, 5, GAP], [1, 4, 4, 3], [4, 3, 1, 3]])


def test_values_by_hand() -> None:
    assert combine(SAID, MEAN).tolist()[:3] == [2, 3, pytest.approx(10 / 3)]
    assert combine(SAID, MEDIAN).tolist()[:3] == [1, 3, 4]
    # 2, 4 and 3 are as frequent, and 3 is the mean; of 5, 4 and 1 the one nearest to 10/3 is 4.
    assert combine(SAID, MAJORITY).tolist()[:3] == [1, 3, 4]
    assert combine(SAID, WEIGHTS, Weights((0.5, 0.5, 0), 1.0, 9)).tolist()[:3] == [2, 4, 5.5]
    assert np.isnan([combine(SAID, rule)[3] for rule in (MEAN, MEDIAN, MAJORITY)]).all()
    assert spread(SAID)[:2].tolist() == [pytest.approx(np.sqrt(3)), 1]
    assert majority_of_categories(np.array([[1.0, 1, 0], [1, 2, 2], [0, 0, 2]])).tolist()[::2] == [1, 2]
    assert np.isnan(majority_of_categories(np.array([[1.0], [2], [0]]))).all()


def test_weights_find_the_judge_that_knows_and_do_better_on_other_units() -> None:
    generator = np.random.default_rng(17)
    truth = generator.uniform(1, 5, 400)
    good = 0.5 * truth + 2 + generator.normal(0, 0.2, 400)
    said = np.array([good, generator.uniform(1, 5, 400), 6 - truth + generator.normal(0, 0.2, 400)])
    human = truth + generator.normal(0, 0.2, 400)
    learned = learn_weights(said[:, :100], human[:100])
    assert isinstance(learned, Weights)
    assert learned.weights[0] == pytest.approx(2, abs=0.25)
    assert learned.weights[1] == pytest.approx(0, abs=0.05)
    assert learned.weights[2] == 0
    rest, wanted = said[:, 100:], human[100:]
    errors = [np.mean((combine(rest, rule, learned) - wanted) ** 2) for rule in (WEIGHTS, MEAN, MEDIAN)]
    assert errors[0] < 0.5 * min(errors[1:])


def test_where_weights_cannot_be_learned_there_is_a_reason() -> None:
    few, same = learn_weights(SAID, np.array([1.0, 2, 3, 4])), learn_weights(np.ones((2, 20)), np.ones(20))
    assert isinstance(few, NoWeights)
    assert "15 units" in few.reason
    assert isinstance(same, NoWeights)


def make(cast: Cast, name: str, members: list[str], *options: object) -> Any:
    """Make a panel by the command `concord` and return what it prints."""
    ids = dict(cast.project.judges.values_list("name", "pk"))
    chosen = [ids[member] for member in members]
    named = ("--name", name, "--members", *chosen)
    return concord(cast.admin, "panels", "add", cast.project.slug, *named, *options)


@pytest.mark.django_db
def test_a_panel_is_a_judge_whose_values_follow_its_members(client: Client) -> None:
    cast = measured_project()
    project = cast.project
    made = make(cast, "Both", ["Reasoner", "Chooser"])
    judge = Judge.objects.get(name="Both")
    key = cast.dimensions[0].key

    def values() -> list[float | None]:
        found = dict(Judgment.objects.filter(judge=judge).values_list("item", "value"))
        return [found[item.pk] for item in cast.items]

    assert values() == [(one + other) / 2 for one, other in zip(RTS, MCQ, strict=True)]
    first = Judgment.objects.get(judge=judge, item=cast.items[0])
    assert first.rationale == "Mean of Chooser: 2, Reasoner: 1. Standard deviation among them: 0.707."
    row = next(each for each in made["dimensions"] if each["dimension"] == key)
    assert (row["values"], row["mean_spread"] > 0, row["problem"]) == (len(RTS), True, "")
    assert made["panel"]["members"] == ["Chooser", "Reasoner"], "by name, as on the page"
    client.force_login(cast.admin)
    page = text_of(client.get(address(cast, f"{judge.pk}/")))
    assert "A panel: the mean of the judges below" in page
    set_value(judgment=first, value=5, note="Both are wrong.", by=cast.admin)
    changed = Judgment.objects.get(judge__name="Reasoner", item=cast.items[1])
    Judgment.objects.filter(pk=changed.pk).update(value=1)
    for _ in range(2):
        concord(cast.admin, "panels", "compute", project.slug, judge.pk)
    assert values()[:2] == [5, (1 + MCQ[1]) / 2]
    assert AuditEntry.objects.filter(act="panel.computed").count() == 2
    compared = StringIO()
    call_command("compare_judges", project.slug, stdout=compared)
    assert "Both" in compared.getvalue()
    delete_project(project=project, name=project.name, by=cast.admin)
    assert not Panel.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("teaching", [0, 4])
def test_a_panel_with_weights_has_no_values_on_the_documents_that_they_were_learned_from(
    teaching: int,
) -> None:
    documents, systems = 10, 3
    generator = np.random.default_rng(3)
    people = generator.integers(1, 6, documents * systems)
    other = generator.integers(1, 6, documents * systems).tolist()
    both = [people.tolist(), people.tolist()]
    cast = measured_project(rts=people.tolist(), mcq=other, people=both, documents=documents, systems=systems)
    if teaching:  # then these are the documents, whatever share is named
        draw_parts(project=cast.project, teach=teaching, select=2, by=cast.admin)
    learned_from = teaching or documents / 2
    weights = ("--rule", "weights", "--development-percent", 50)
    found = make(cast, "Weighed", ["Reasoner", "Chooser"], *weights)
    (row,) = [each for each in found["dimensions"] if not each["problem"]]
    learned = dict(zip(found["panel"]["members"], row["weights"], strict=True))
    assert learned == {"Reasoner": pytest.approx(1), "Chooser": pytest.approx(0, abs=1e-12)}
    assert len(found["development_documents"]) == learned_from
    assert bool(explain_in_use(cast.project)) == bool(teaching)
    judged = Judgment.objects.filter(judge__name="Weighed")
    assert judged.count() == row["values"] == (documents - learned_from) * systems
    assert not judged.filter(item__document__key__in=found["development_documents"]).exists()
    truth = dict(zip((item.pk for item in cast.items), people.tolist(), strict=True))
    assert all(each.value == pytest.approx(truth[each.item_id]) for each in judged)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ((["Reasoner"],), "two judges at least"),
        ((["Reasoner", "Reasoner"],), "two judges at least|each once"),
        ((["Reasoner", "Chooser"], "--rule", "weights"), "share of the documents"),
        ((["Reasoner", "Pairs"],), "members: choose one of"),
    ],
)
def test_invalid_panel_is_rejected(how: Any, sentence: str) -> None:
    cast = measured_project(people=[])
    pairs = make_judge(cast.project, "h2h", name="Pairs")
    Judgment.objects.create(
        **{"judge": pairs, "item": cast.items[0], "other": cast.items[1], "dimension": cast.dimensions[0]},
        **{"status": "done", "value": 1},
    )
    with pytest.raises(RefusedError, match=sentence):
        make(cast, "New", *how)
    assert not Judge.objects.filter(name="New").exists()


@pytest.mark.django_db
def test_admin_makes_and_changes_a_panel_in_the_browser(client: Client) -> None:
    cast = measured_project()
    client.force_login(cast.admin)
    form = address(cast, "panels/new/")
    assert "Reasoner" in text_of(client.get(form))
    members = list(Judge.objects.order_by("pk").values_list("pk", flat=True))
    few = client.post(form, {"name": "Both", "members": members[:1], "rule": "mean"})
    assert few.status_code == 422
    assert "two judges at least" in text_of(few)
    client.post(form, {"name": "Both", "members": members, "rule": "mean"})
    panel = Panel.objects.get()
    count = panel.judge.judgments.count()
    assert count == len(RTS)
    change = address(cast, f"panels/{panel.judge_id}/")
    assert 'value="Both"' in client.get(change).content.decode()
    client.post(change, {"name": "Middle", "members": members, "rule": "majority"})
    panel.refresh_from_db()
    panel.judge.refresh_from_db()
    assert (panel.rule, panel.judge.name, panel.judge.judgments.count()) == ("majority", "Middle", count)
    assert AuditEntry.objects.filter(act="panel.changed").count() == 1


@pytest.mark.django_db
def test_panel_with_a_corrected_value_is_not_changed(client: Client) -> None:
    cast = measured_project()
    client.force_login(cast.admin)
    members = list(Judge.objects.order_by("pk").values_list("pk", flat=True))
    client.post(address(cast, "panels/new/"), {"name": "Both", "members": members, "rule": "mean"})
    panel = Panel.objects.get()
    set_value(judgment=panel.judge.judgments.earliest("pk"), value=1, note="It is empty.", by=cast.admin)
    change = address(cast, f"panels/{panel.judge_id}/")
    assert "make another panel" in text_of(client.get(change))
    sent = client.post(change, {"name": "Middle", "members": members, "rule": "majority"})
    assert sent.status_code == 409
    assert Panel.objects.get().rule == "mean"
