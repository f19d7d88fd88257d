"""Routes of judges, all of them below a project's own."""

from django.urls import path

from judges.views import (
    certificates,
    comparison,
    endpoints,
    imports,
    judges,
    plans,
    reliability,
    routing,
    runs,
    templates,
)

PROJECT = "projects/<slug:slug>/judges/"

urlpatterns = [
    path(f"{PROJECT}", judges.judges, name="judges"),
    path(f"{PROJECT}new/", judges.judge_new, name="judge_new"),
    path(f"{PROJECT}<int:pk>/", judges.judge, name="judge"),
    path(f"{PROJECT}<int:pk>/judgments/<slug:status>/", judges.judge_judgments, name="judge_judgments"),
    path(f"{PROJECT}import/", imports.judgment_imports, name="judgment_imports"),
    path(f"{PROJECT}import/<int:pk>/", imports.judgment_import, name="judgment_import"),
    path(f"{PROJECT}of-unit/<int:item>/<slug:key>/", comparison.unit_judgments, name="unit_judgments"),
    path(f"{PROJECT}beside-people/", comparison.judge_comparison, name="judge_comparison"),
    path(
        f"{PROJECT}beside-people/<slug:key>.<slug:format>",
        comparison.judge_comparison_table,
        name="judge_comparison_table",
    ),
    path(f"{PROJECT}<int:pk>/beside-people/", comparison.judge_figures, name="judge_figures"),
    path(
        f"{PROJECT}<int:pk>/beside-people/<slug:key>.<slug:format>",
        comparison.judge_figures_table,
        name="judge_figures_table",
    ),
    path(f"{PROJECT}reliability/", reliability.measured, {"name": "reliability"}, name="judge_reliability"),
    path(
        f"{PROJECT}reliability/<slug:key>.<slug:format>",
        reliability.measured_table,
        {"name": "reliability"},
        name="judge_reliability_table",
    ),
    path(f"{PROJECT}estimates/", reliability.measured, {"name": "estimates"}, name="judge_estimates"),
    path(
        f"{PROJECT}estimates/<slug:key>.<slug:format>",
        reliability.measured_table,
        {"name": "estimates"},
        name="judge_estimates_table",
    ),
    path(f"{PROJECT}replacement/", reliability.measured, {"name": "replacement"}, name="judge_replacement"),
    path(
        f"{PROJECT}replacement/<slug:key>.<slug:format>",
        reliability.measured_table,
        {"name": "replacement"},
        name="judge_replacement_table",
    ),
    path(f"{PROJECT}certificates/", certificates.certificates, name="certificates"),
    path(f"{PROJECT}certificates/new/", certificates.certificate_new, name="certificate_new"),
    path(f"{PROJECT}certificates/<int:pk>/", certificates.certificate, name="certificate"),
    path(
        f"{PROJECT}certificates/<int:pk>/<slug:key>.<slug:format>",
        certificates.certificate_table,
        name="certificate_table",
    ),
    path(
        f"{PROJECT}certificates/<int:pk>/<slug:step>/", certificates.certificate_step, name="certificate_step"
    ),
    path(f"{PROJECT}routing/", routing.routing, name="routing"),
    path(f"{PROJECT}routing/new/", routing.routing_new, name="routing_new"),
    path(f"{PROJECT}routing/<int:pk>/", routing.routing_policy, name="routing_policy"),
    path(f"{PROJECT}routing/<int:pk>/<slug:step>/", routing.routing_step, name="routing_step"),
    path(f"{PROJECT}endpoints/", endpoints.endpoints, name="endpoints"),
    path(f"{PROJECT}endpoints/new/", endpoints.endpoint_new, name="endpoint_new"),
    path(f"{PROJECT}endpoints/<int:pk>/", endpoints.endpoint, name="endpoint"),
    path(f"{PROJECT}endpoints/<int:pk>/test/", endpoints.endpoint_test, name="endpoint_test"),
    path(f"{PROJECT}prompts/", templates.templates, name="templates"),
    path(f"{PROJECT}prompts/new/<slug:method>/", templates.template_new, name="template_new"),
    path(f"{PROJECT}prompts/<int:pk>/", templates.template, name="template"),
    path(f"{PROJECT}prompts/<int:pk>/text/", templates.template_text, name="template_text"),
    path(f"{PROJECT}runs/", runs.runs, name="runs"),
    path(f"{PROJECT}runs/new/", plans.run_plan, name="run_plan"),
    path(f"{PROJECT}runs/<int:pk>/", runs.run, name="run"),
    path(f"{PROJECT}runs/<int:pk>/budget/", runs.run_budget, name="run_budget"),
    path(f"{PROJECT}runs/<int:pk>/judgments/<slug:status>/", runs.run_judgments, name="run_judgments"),
    path(f"{PROJECT}runs/<int:pk>/<slug:step>/", runs.run_step, name="run_step"),
]
