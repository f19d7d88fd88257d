"""Routes of the judges API, below /api/v1/."""

from django.urls import path

from judges.endpoints import api as endpoints_api
from judges.laboratory import api as laboratory_api
from judges.routing import api as routing_api
from judges.runs import api as runs_api

app_name = "judges-api"
P = "projects/<slug:slug>/"

urlpatterns = [
    path(f"{P}endpoints/", endpoints_api.Endpoints.as_view(), name="endpoints"),
    path(f"{P}endpoints/<int:pk>/", endpoints_api.EndpointView.as_view(), name="endpoint"),
    path(
        f"{P}endpoints/<int:pk>/archive/", endpoints_api.ArchiveOfEndpoint.as_view(), name="endpoint_archive"
    ),
    path(f"{P}endpoints/<int:pk>/key/", endpoints_api.KeyOfEndpoint.as_view(), name="endpoint_key"),
    path(f"{P}endpoints/<int:pk>/prices/", endpoints_api.PricesOfEndpoint.as_view(), name="prices"),
    path(
        f"{P}endpoints/<int:pk>/prices/<int:price>/",
        endpoints_api.EndpointPriceView.as_view(),
        name="price",
    ),
    path(f"{P}endpoints/<int:pk>/test/", endpoints_api.TrialOfEndpoint.as_view(), name="endpoint_test"),
    path(f"{P}experiments/", laboratory_api.Experiments.as_view(), name="experiments"),
    path(f"{P}experiments/preview/", laboratory_api.ExperimentPreview.as_view(), name="experiment_preview"),
    path(f"{P}panels/", laboratory_api.Panels.as_view(), name="panels"),
    path(f"{P}panels/<int:pk>/", laboratory_api.PanelView.as_view(), name="panel"),
    path(f"{P}panels/<int:pk>/compute/", laboratory_api.ComputedPanel.as_view(), name="panel_compute"),
    path(f"{P}content-units/", runs_api.ContentUnitsView.as_view(), name="content_units"),
    path(f"{P}prompts/", endpoints_api.Prompts.as_view(), name="prompts"),
    path(f"{P}prompts/<int:pk>/", endpoints_api.PromptView.as_view(), name="prompt"),
    path(f"{P}judges/", endpoints_api.Judges.as_view(), name="judges"),
    path(f"{P}judges/<int:pk>/archive/", endpoints_api.ArchiveOfJudge.as_view(), name="judge_archive"),
    path(f"{P}judges/<int:pk>/", endpoints_api.JudgeView.as_view(), name="judge"),
    path(f"{P}runs/", runs_api.Runs.as_view(), name="runs"),
    path(f"{P}runs/preview/", runs_api.RunPreview.as_view(), name="run_preview"),
    path(f"{P}runs/<int:pk>/", runs_api.RunView.as_view(), name="run"),
    # Before `<slug:step>`, which also matches this URL.
    path(f"{P}runs/<int:pk>/budget/", runs_api.RunBudget.as_view(), name="run_budget"),
    path(f"{P}runs/<int:pk>/<slug:step>/", runs_api.RunStep.as_view(), name="run_step"),
    path(f"{P}judgments/", runs_api.Judgments.as_view(), name="judgments"),
    path(f"{P}judgments/found/", runs_api.SelectedJudgments.as_view(), name="judgments_found"),
    path(f"{P}judgments/ask-again/", runs_api.RetryView.as_view(), name="judgments_ask_again"),
    path(f"{P}judgments/exclude/", runs_api.ExcludedJudgments.as_view(), name="judgments_exclude"),
    path(f"{P}judgments/read-again/", runs_api.Rereadings.as_view(), name="rereadings"),
    path(f"{P}judgments/read-again/<int:pk>/", runs_api.RereadingView.as_view(), name="rereading"),
    path(f"{P}development/", laboratory_api.PartsOfProject.as_view(), name="development"),
    path(f"{P}proposals/", laboratory_api.Proposals.as_view(), name="proposals"),
    path(f"{P}proposals/examples/", laboratory_api.ProposedExamples.as_view(), name="proposals_examples"),
    path(f"{P}proposals/<int:pk>/", laboratory_api.ProposalView.as_view(), name="proposal"),
    path(f"{P}proposals/<int:pk>/<slug:step>/", laboratory_api.ProposalStep.as_view(), name="proposal_step"),
    path(f"{P}draftings/", laboratory_api.Draftings.as_view(), name="draftings"),
    path(f"{P}draftings/<int:pk>/", laboratory_api.DraftingView.as_view(), name="drafting"),
    path(f"{P}draftings/<int:pk>/<slug:step>/", laboratory_api.DraftingStep.as_view(), name="drafting_step"),
    path(f"{P}searches/", laboratory_api.PromptSearches.as_view(), name="searches"),
    path(f"{P}searches/<int:pk>/", laboratory_api.PromptSearchView.as_view(), name="search"),
    path(f"{P}searches/<int:pk>/<slug:step>/", laboratory_api.PromptSearchStep.as_view(), name="search_step"),
    path(f"{P}certificates/", routing_api.Certificates.as_view(), name="certificates"),
    path(f"{P}certificates/preview/", routing_api.CertificatePreview.as_view(), name="certificate_preview"),
    path(
        f"{P}certificates/<int:pk>/policy/",
        routing_api.PolicyOfCalibration.as_view(),
        name="certificate_policy",
    ),
    path(
        f"{P}certificates/<int:pk>/<slug:step>/",
        routing_api.CalibrationStep.as_view(),
        name="certificate_step",
    ),
    path(f"{P}certificates/<int:pk>/", routing_api.CalibrationView.as_view(), name="certificate"),
    path(f"{P}policies/", routing_api.Policies.as_view(), name="policies"),
    path(f"{P}policies/<int:pk>/", routing_api.PolicyView.as_view(), name="policy"),
    path(f"{P}policies/<int:pk>/<slug:step>/", routing_api.PolicyStep.as_view(), name="policy_step"),
]
