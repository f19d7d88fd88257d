from celery import current_app
from django.apps import AppConfig
from django.core import checks
from django.utils.translation import gettext_lazy


class JudgesConfig(AppConfig):
    """Configures the app, registers judgments with the workers and extends annotate."""

    name = "judges"
    verbose_name = "Judges"

    def ready(self) -> None:
        # These modules need all models, which Django has loaded only at this point.
        from annotate.extension import Extension, extend
        from annotate.watching.registry import Watched
        from judges.additions.queries import route_section
        from judges.core.material import KindPrompts
        from judges.core.page import JUDGES_PAGES
        from judges.endpoints.evaluation_steps import STEPS_JOB
        from judges.endpoints.prices import check_price_list
        from judges.interchange.kind import JUDGMENTS_KIND
        from judges.interchange.queries.export import (
            ITEM_LEAD,
            ITEM_MARKS,
            JUDGE_TABLES,
            judges_in_checklist,
            judges_in_datasheet,
            scores_by_item,
        )
        from judges.interchange.reproduction.llm_summeval import LLM_SUMMEVAL
        from judges.interchange.reproduction.topical_chat import TOPICAL_CHAT
        from judges.interchange.restoring import restore_judges
        from judges.laboratory.drafting import DRAFTING_JOB
        from judges.laboratory.pages import LABORATORY_RESULTS
        from judges.laboratory.searching import SEARCH_JOB
        from judges.methods.questions import ask_with
        from judges.metrics.kind import METRICS_KIND
        from judges.periodic_tasks import (
            CheckForDrift,
            CollectDueRuns,
            DrainCalls,
            RemoveOldReplies,
            StopContradictedJudges,
            SweepLeases,
        )
        from judges.results.queries.disagreements import JUDGES_AND_PEOPLE
        from judges.results.queries.estimates import JUDGED_SCORES
        from judges.results.tables.pages import JUDGES_RESULTS
        from judges.routing.commands.policies import ask_for_routed_units
        from judges.routing.forecasts import ROUTES_PAGE
        from judges.routing.paper import judges_in_paper
        from judges.routing.queries.preview import needs_of_routing
        from judges.routing.results import TRUST_PAGE, VERDICTS_PAGE
        from judges.runs.commands.corrections import REREADING_JOB
        from judges.runs.commands.endings import RUN_FINISHED, RUN_STOPPED, STOP_MAIL
        from judges.runs.queries.drift import needs_of_drift
        from judges.runs.queries.pages import needs_of_runs, spending_section, work_waits

        # Methods use no tables, so they get the prompts of question kinds from here.
        ask_with(KindPrompts())
        checks.register(check_price_list)
        # A web process registers these steps, too, and never starts them.
        current_app.steps["worker"].update(
            (
                CheckForDrift,
                CollectDueRuns,
                SweepLeases,
                RemoveOldReplies,
                StopContradictedJudges,
                DrainCalls,
            )
        )
        extend(
            Extension(
                app="judges",
                jobs=[REREADING_JOB, STEPS_JOB, DRAFTING_JOB, SEARCH_JOB, STOP_MAIL],
                pages=JUDGES_PAGES,
                import_kinds=[JUDGMENTS_KIND, METRICS_KIND],
                export_tables=JUDGE_TABLES,
                results_pages=(
                    *JUDGES_RESULTS,
                    *LABORATORY_RESULTS,
                    VERDICTS_PAGE,
                    TRUST_PAGE,
                    ROUTES_PAGE,
                ),
                papers=[LLM_SUMMEVAL, TOPICAL_CHAT],
                results_parts=[JUDGES_AND_PEOPLE.part],
                disagreements=[JUDGES_AND_PEOPLE],
                unit_part="unit_judgments",
                item_marks=ITEM_MARKS,
                item_lead=ITEM_LEAD,
                collection_lines=judges_in_datasheet,
                checklist_lines=judges_in_checklist,
                paper_section=judges_in_paper,
                judge_scores=scores_by_item,
                judged=JUDGED_SCORES,
                addition_section=route_section,
                restorer=restore_judges,
                finish_round_one=ask_for_routed_units,
                watched=Watched(
                    work_waits,
                    lambda project: [
                        *needs_of_routing(project),
                        *needs_of_drift(project),
                        *needs_of_runs(project),
                    ],
                    spending_section,
                ),
                events={
                    RUN_FINISHED: gettext_lazy("a run of judges is finished"),
                    RUN_STOPPED: gettext_lazy("a run of judges stopped"),
                },
            )
        )
