"""What a run would ask, cost and take, with numbers by hand."""

from decimal import Decimal

import pytest

from annotate.core.models import Item
from annotate.rating.commands.ratings import Answer, save_rating
from judges.core.errors import RunRefusedError
from judges.core.models import Judgment
from judges.core.specification import Scope
from judges.endpoints.queries import usable_judges
from judges.runs.commands.runs import cancel_run
from judges.runs.queries.plans import plan_of
from judges.runs.queries.samples import all_pairs, neighbouring_pairs
from tests.factories import make_project
from tests.judges.factories import (
    make_endpoint,
    make_judge,
    make_judgment,
    make_priced_endpoint,
    make_run,
    make_template,
)
from tests.rating.rounds import assigned, frozen, opened

pytestmark = pytest.mark.django_db

FAILED = {"status": Judgment.Status.FAILED, "value": None, "reason": "No answer."}


def plan(cast, **scope):
    dimensions = scope.pop("dimensions", ["fluency"])
    return plan_of(cast.project, Scope(list(usable_judges(cast.project)), dimensions, **scope))


def test_probabilities_are_rejected_if_they_give_no_value():
    cast = make_project(documents=2, systems=2)
    judge = make_judge(cast.project, "h2h", score_from="probabilities")
    problem = "A text wins, loses or ties; read the answer from the reply's text."
    pairs = list(all_pairs(cast.project))
    assert plan(cast, pairs=pairs).problems == [f"{judge.name}: {problem}"]
    with pytest.raises(RunRefusedError, match="A text wins, loses or ties"):
        make_run(cast.project, judge, pairs=pairs)


def test_every_item_dimension_and_sample_is_a_call():
    cast = make_project(dimensions=("fluency", "style", "order"), documents=5, systems=4)
    make_judge(cast.project, samples=2, temperature=1)
    make_judge(cast.project)
    found = plan(cast, dimensions=["fluency", "style"])
    assert [each.calls for each in found.judges] == [5 * 4 * 2 * 2, 5 * 4 * 2]
    assert (found.judgments, found.there, found.calls) == (120, 0, 120)


def test_system_pair_runs_in_both_orders_for_each_common_document():
    cast = make_project(documents=5, systems=3)
    make_judge(cast.project, "h2h")
    pairs = list(all_pairs(cast.project))
    assert plan(cast, pairs=pairs).calls == 2 * 3 * 5
    assert plan(cast, pairs=pairs[:1]).calls == 2 * 5
    Item.objects.filter(system=pairs[0][0], document__key="product-1").delete()
    assert plan(cast, pairs=pairs[:1]).calls == 2 * 4
    assert plan(cast).calls == 0


def test_existing_judgments_are_not_repeated_and_failures_are_reported():
    cast = make_project(dimensions=("fluency", "style"))
    judge = make_judge(cast.project)
    fluency, style = cast.dimensions
    make_judgment(judge, cast.items[0], fluency)
    make_judgment(judge, cast.items[1], fluency, **FAILED)
    make_judgment(judge, cast.items[0], style)
    found = plan(cast)
    assert (found.judgments, found.there, found.failed, found.calls) == (4, 2, 1, 2)


def test_what_another_run_has_planned_is_there_until_it_is_cancelled():
    cast = make_project()
    judge = make_judge(cast.project)
    run = make_run(cast.project, judge)
    assert plan(cast).calls == 0
    cancel_run(run=run)
    assert plan(cast).calls == 4


def test_pairs_outside_the_scope_do_not_count_as_there():
    cast = make_project(documents=1, systems=3)
    judge = make_judge(cast.project, "h2h")
    first, second, third = cast.items
    make_judgment(judge, second, cast.dimensions[0], other=first, value=1)
    make_judgment(judge, first, cast.dimensions[0], other=third, value=1)
    found = plan(cast, pairs=[(first.system_id, second.system_id)])
    assert (found.judgments, found.there, found.calls) == (2, 1, 1)


# Tokens and money


def test_before_any_answer_tokens_are_estimated_from_prompts_and_the_longest_reply():
    cast = make_project()
    template = make_template(cast.project, text="{{ text }}")
    endpoint = make_priced_endpoint(cast.project)
    make_judge(cast.project, endpoint=endpoint, template=template, max_tokens=50)
    found = plan(cast)
    # "What system-1 wrote about product 1." has 36 characters, so 9 tokens; four calls.
    assert found.judges[0].input_tokens == 4 * 9
    assert found.judges[0].output_tokens == 4 * 50
    assert found.judges[0].usage.answers == 0
    assert found.cost == Decimal("36") * 2 / 1_000_000 + Decimal("200") * 8 / 1_000_000


def test_pair_prompts_contain_two_outputs():
    cast = make_project()
    template = make_template(cast.project, "h2h", text="{{ text_1 }}{{ text_2 }}")
    make_judge(cast.project, "h2h", template=template)
    found = plan(cast, pairs=list(all_pairs(cast.project)))
    assert found.judges[0].input_tokens == 4 * 18  # two documents, one pair, both orders


def test_with_answers_their_mean_counts():
    cast = make_project()
    judge = make_judge(cast.project, endpoint=make_priced_endpoint(cast.project))
    for item, tokens in zip(cast.items, (100, 300), strict=False):
        make_judgment(judge, item, cast.dimensions[0], input_tokens=tokens, output_tokens=tokens // 10)
    found = plan(cast)
    assert found.judges[0].usage.answers == 2
    assert (found.judges[0].input_tokens, found.judges[0].output_tokens) == (2 * 200, 2 * 20)
    assert found.cost == Decimal(400 * 2 + 40 * 8) / 1_000_000


def test_unknown_prices_are_unknown_for_the_judge_and_for_the_whole():
    cast = make_project()
    make_judge(cast.project, name="A", endpoint=make_priced_endpoint(cast.project))
    make_judge(cast.project, name="B", endpoint=make_endpoint(cast.project, input_price=1))
    known, unknown = plan(cast).judges
    assert known.cost is not None
    assert unknown.cost is None
    assert plan(cast).cost is None


def test_nothing_to_ask_costs_nothing_whatever_the_prices():
    cast = make_project()
    make_run(cast.project, make_judge(cast.project))
    assert plan(cast).cost == 0


def test_servers_of_ones_own_cost_nothing():
    cast = make_project()
    make_judge(cast.project, endpoint=make_endpoint(cast.project, input_price=0, output_price=0))
    assert plan(cast).cost == 0


# Time


def test_time_follows_the_tighter_limit():
    cast = make_project(documents=30)
    judge = make_judge(
        cast.project, endpoint=make_endpoint(cast.project, requests_per_minute=20, tokens_per_minute=3000)
    )
    make_judgment(judge, cast.items[0], cast.dimensions[0], input_tokens=80, output_tokens=20)
    (time,) = plan(cast).endpoints
    assert time.calls == 59
    assert time.seconds_by_limits == pytest.approx(max(60 * 59 / 20, 60 * 59 * 100 / 3000))
    assert time.seconds_by_pace is None
    assert plan(cast).seconds == pytest.approx(177)


def test_time_follows_the_pace_if_it_is_slower():
    cast = make_project(documents=30)
    endpoint = make_endpoint(cast.project, requests_per_minute=600, calls_in_flight=4)
    judge = make_judge(cast.project, endpoint=endpoint)
    make_judgment(judge, cast.items[0], cast.dimensions[0], seconds=2.0)
    (time,) = plan(cast).endpoints
    assert time.seconds_by_pace == pytest.approx(59 * 2 / 4)
    assert time.seconds_by_limits == pytest.approx(5.9)
    assert plan(cast).seconds == pytest.approx(29.5)


def test_judges_of_one_endpoint_share_it_and_endpoints_work_at_the_same_time():
    cast = make_project()
    slow = make_endpoint(cast.project, requests_per_minute=1)
    for endpoint in (slow, slow, make_endpoint(cast.project, requests_per_minute=4)):
        make_judge(cast.project, endpoint=endpoint)
    assert sorted(each.seconds_by_limits for each in plan(cast).endpoints) == [60, 480]
    assert plan(cast).seconds == 480


def test_time_without_data_is_unknown():
    cast = make_project()
    make_judge(cast.project)
    assert plan(cast).seconds is None


def test_a_dimension_that_a_method_cannot_judge_is_a_problem_not_a_crash():
    cast = make_project()
    cast.project.dimensions.update(measurement_level="nominal")
    judge = make_judge(cast.project, "stars")
    (problem,) = plan(cast).problems
    assert problem.startswith(f"{judge.name}: Fluency has named categories")


def test_planning_takes_as_many_queries_for_much_as_for_little(django_assert_num_queries):
    small, large = make_project(), make_project(dimensions=("fluency", "style"), documents=30, systems=5)
    for cast, judges in ((small, 1), (large, 6)):
        for _ in range(judges):
            judge = make_judge(cast.project, "h2h")
            make_judgment(judge, cast.items[0], cast.dimensions[0], other=cast.items[1])
        scope = Scope(
            list(usable_judges(cast.project)),
            [each.key for each in cast.dimensions],
            list(all_pairs(cast.project)),
        )
        with django_assert_num_queries(9 + judges):  # each has an endpoint with prices of its own
            plan_of(cast.project, scope)


# Pairs


def test_neighbours_are_ranked_by_the_mean_of_all_dimensions_on_their_own_scales():
    cast = make_project(dimensions=("fluency", "style"), documents=1, systems=3)
    cast.project.dimensions.filter(key="style").update(scale_minimum=0, scale_maximum=100)
    round = opened(cast)
    # Shares: system 1: (0 + .9) / 2 = .45, system 2: (1 + .1) / 2 = .55, system 3: (.5 + .5) / 2 = .5
    for item, values in zip(cast.items, ((1, 90), (5, 10), (3, 50)), strict=True):
        for key, value in zip(("fluency", "style"), values, strict=True):
            assignment = assigned(cast, round, cast.annotators[0], item)
            answer = Answer(value=value)
            save_rating(
                assignment=assignment, dimension=frozen(round, key), answer=answer, by=cast.annotators[0].user
            )
    assert list(neighbouring_pairs(cast.project).values()) == [
        "system-2 and system-3",
        "system-3 and system-1",
    ]


def test_neighbours_need_ratings():
    cast = make_project()
    with pytest.raises(RunRefusedError, match="need ratings by people"):
        neighbouring_pairs(cast.project)


def test_calls_with_the_same_prompt_prefix_are_planned_consecutively():
    cast = make_project(dimensions=("fluency", "style"), documents=2, systems=2)
    single, pairs = make_judge(cast.project), make_judge(cast.project, "h2h")
    (pair,) = list(all_pairs(cast.project))
    planned = make_run(cast.project, single, pairs, pairs=[pair]).judgments.order_by("pk")
    by_prompt = [(f"product-{number}", key) for number in (1, 2) for key in ("fluency", "style")]
    for judge in (single, pairs):
        asked = planned.filter(judge=judge).values_list("item__document__key", "dimension__key")
        assert list(asked) == [each for each in by_prompt for _ in range(2)]
