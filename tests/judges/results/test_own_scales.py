"""A judge with a scale of its own: from its form to its figures."""

from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from agreement import spearman
from agreement.comparison import Level, alpha_with_people, correlation_with_humans
from annotate.core.guidelines import current_guideline
from annotate.core.rounds import rounds_of
from judges.core.models import Judge, Judgment
from judges.core.specification import Scope
from judges.endpoints.queries import refusal
from judges.results.queries.scores import material_of, samples_of, scores_of
from judges.runs.commands.corrections import set_value
from judges.runs.commands.runs import plan_run, start_run
from judges.runs.queries.judgments import AnswerSelection, Selection, answers_of
from tests.factories import make_project
from tests.judges.factories import make_endpoint, make_judge, make_priced_endpoint
from tests.judges.measured import PEOPLE, RTS, as_scores, let_judge, measured_project
from tests.judges.pages import address, text_of
from tests.judges.provider import providing
from tests.judges.running import worked

pytestmark = pytest.mark.django_db
TEN: dict[str, Any] = {"scale_minimum": 1, "scale_maximum": 10}
HALVES = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def test_correlations_take_values_as_read_and_all_else_mapped_ones() -> None:
    cast = measured_project(rts=None)
    of_ten = [2 * value - index % 2 for index, value in enumerate(RTS)]
    judge = let_judge(make_judge(cast.project, **TEN, scale_table=HALVES), cast, of_ten)
    material = material_of(cast.project, rounds_of(cast.project)[1], current_guideline(cast.project))
    scores = scores_of(material, "fluency", samples_of([judge], material)[judge.pk, "fluency"])
    assert scores.as_read.tolist() == of_ten
    assert scores.judge.tolist() == RTS
    by_hand = as_scores(of_ten)
    found, finer = (
        correlation_with_humans(each, spearman, Level.DATASET).value for each in (scores, by_hand)
    )
    assert found == finer != correlation_with_humans(as_scores(RTS), spearman, Level.DATASET).value
    alphas = [
        alpha_with_people(each, measurement_level="ordinal").with_mean.value
        for each in (scores, as_scores(RTS))
    ]
    assert alphas[0] == alphas[1] is not None
    far = answers_of(cast.project, Selection(judge=judge.pk, which=AnswerSelection.FAR))
    assert far.count() == int((np.abs(np.array(RTS) - np.mean(PEOPLE, axis=0)) >= 2).sum())


@pytest.mark.django_db(transaction=True)
def test_judge_runs_on_its_own_scale_and_its_page_shows_both_values(client: Client) -> None:
    cast = make_project(documents=1, systems=1)
    with providing(reply="It flows. Score: 10/10") as provider:
        judge = make_judge(
            cast.project, endpoint=make_priced_endpoint(cast.project, provider.base_url), **TEN
        )
        run = plan_run(project=cast.project, scope=Scope([judge], ["fluency"]), by=None)
        start_run(run=run)
        worked(run)
    assert "from 1 to 10" in provider.asked[0]["messages"][0]["content"]
    judgment = Judgment.objects.get()
    assert (judgment.value, judgment.mapped_value) == (10, 5)
    client.force_login(cast.admin)
    set_value(judgment=judgment, value=7.75, note="It says so.", by=cast.admin)
    page = text_of(client.get(reverse("judgment", args=[cast.project.slug, judgment.pk])))
    assert "Value: 7.75 on the judge’s scale from 1 to 10, 4 on the dimension’s" in page


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"scale_maximum": ""}, "Enter both ends"),
        ({"scale_maximum": 1}, "enter a larger upper end"),
        ({"scale_table": "1, x"}, "Enter numbers with commas"),
        ({"scale_table": "1, 2"}, "each of the 10 points"),
        ({"template": "shipped:h2h"}, "compared without a scale"),
        ({"template": "shipped:mcq", "scale_modifiers": "on"}, "Multiple choice has no"),
        ({"scale_modifiers": "on", "score_from": "probabilities"}, "more than one token"),
        ({"scale_minimum": "", "scale_maximum": "", "scale_table": "1, 2"}, "Enter both ends"),
    ],
)
def test_page_rejects_an_invalid_scale_and_keeps_the_input(
    client: Client, changes: dict[str, object], sentence: str
) -> None:
    cast = make_project()
    client.force_login(cast.admin)
    usual = {"name": "Of ten", "endpoint": make_endpoint(cast.project).pk, "model": "gpt-x", "samples": 1}
    usual |= {"template": "shipped:rts", "score_from": "text", "temperature": 0, **TEN}
    answer = client.post(address(cast, "new/"), {**usual, **changes})
    assert answer.status_code == 422
    assert sentence in text_of(answer)
    table = ", ".join(str(value) for value in HALVES)
    assert client.post(address(cast, "new/"), {**usual, "scale_table": table}).status_code == 302
    judge = Judge.objects.get()
    assert judge.scale_table == HALVES
    assert f'value="{table}"' in client.get(address(cast, f"{judge.pk}/")).content.decode()
    outside = current_guideline(cast.project).dimensions[0]
    judge.scale_table = [9] * 9 + [10]
    assert "table gives 9" in (refusal(judge, outside) or "")
