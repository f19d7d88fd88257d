"""Routes of the API of judges, below /api/v1/."""

from django.urls import path

from judges.api import indicators, judges, policies, runs

app_name = "judges-api"
P = "projects/<slug:slug>/"

urlpatterns = [
    path(f"{P}endpoints/", judges.Endpoints.as_view(), name="endpoints"),
    path(f"{P}endpoints/<int:pk>/", judges.OneEndpoint.as_view(), name="endpoint"),
    path(f"{P}endpoints/<int:pk>/test/", judges.TrialOfEndpoint.as_view(), name="endpoint_test"),
    path(f"{P}prompts/", judges.Prompts.as_view(), name="prompts"),
    path(f"{P}judges/", judges.Judges.as_view(), name="judges"),
    path(f"{P}judges/<int:pk>/", judges.OneJudge.as_view(), name="judge"),
    path(f"{P}runs/", runs.Runs.as_view(), name="runs"),
    path(f"{P}runs/preview/", runs.RunPreview.as_view(), name="run_preview"),
    path(f"{P}runs/<int:pk>/", runs.OneRun.as_view(), name="run"),
    path(f"{P}runs/<int:pk>/budget/", runs.RunBudget.as_view(), name="run_budget"),
    path(f"{P}runs/<int:pk>/<slug:step>/", runs.RunStep.as_view(), name="run_step"),
    path(f"{P}judgments/", runs.Judgments.as_view(), name="judgments"),
    path(f"{P}indicators/", indicators.ReliabilityIndicators.as_view(), name="indicators"),
    path(f"{P}policies/", policies.Policies.as_view(), name="policies"),
    path(f"{P}policies/<int:pk>/", policies.OnePolicy.as_view(), name="policy"),
    path(f"{P}policies/<int:pk>/<slug:step>/", policies.PolicyStep.as_view(), name="policy_step"),
]
