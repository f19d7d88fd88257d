"""Routes of judges, all of them below a project's own."""

from django.urls import path

from annotate.material import views as material_views
from annotate.results import views as annotate_results_views
from judges.additions import views as additions_views
from judges.endpoints.views import endpoints, templates
from judges.interchange import views as interchange_views
from judges.interchange.commands import JUDGMENTS
from judges.laboratory import views as laboratory_views
from judges.metrics import views as metrics_views
from judges.metrics.commands import METRICS
from judges.results import views as results_views
from judges.routing import views as routing_views
from judges.runs import views as runs_views

PROJECT = "projects/<slug:slug>/judges/"

urlpatterns = [
    path(f"{PROJECT}", endpoints.judges, name="judges"),
    path(f"{PROJECT}new/", endpoints.judge_new, name="judge_new"),
    path(f"{PROJECT}<int:pk>/", endpoints.judge, name="judge"),
    path(f"{PROJECT}<int:pk>/watch/", runs_views.judge_watch, name="judge_watch"),
    path(f"{PROJECT}<int:pk>/watch/<slug:step>/", runs_views.watch_step, name="watch_step"),
    path(f"{PROJECT}<int:pk>/archive/", endpoints.judge_archive, name="judge_archive"),
    path(f"{PROJECT}<int:pk>/delete/", endpoints.judge_delete, name="judge_delete"),
    path(f"{PROJECT}<int:pk>/judgments/<slug:status>/", runs_views.judge_judgments, name="judge_judgments"),
    path(f"{PROJECT}judgments/", runs_views.find_judgments, name="find_judgments"),
    path(f"{PROJECT}read-again/", runs_views.rereadings, name="rereadings"),
    path(f"{PROJECT}read-again/<int:pk>/", runs_views.rereading, name="rereading"),
    path(f"{PROJECT}judgment/<int:pk>/", runs_views.judgment, name="judgment"),
    path(f"{PROJECT}judgment/<int:pk>/ask/", runs_views.judgment_ask, name="judgment_ask"),
    path(f"{PROJECT}import/", interchange_views.judgment_imports, name="judgment_imports"),
    path(
        f"{PROJECT}import/<int:pk>/", material_views.data_import, {"kind": JUDGMENTS}, name="judgment_import"
    ),
    path(f"{PROJECT}metrics/", metrics_views.metrics, name="metrics"),
    path(f"{PROJECT}metrics/<int:pk>/", material_views.data_import, {"kind": METRICS}, name="metric_import"),
    path(f"{PROJECT}metrics/<int:pk>/remove/", metrics_views.metric_remove, name="metric_remove"),
    path(f"{PROJECT}of-unit/<int:item>/<slug:key>/", results_views.unit_judgments, name="unit_judgments"),
    path(
        f"{PROJECT}beside-people/",
        annotate_results_views.redirect_to_new_url,
        {"name": "judges"},
        name="judge_comparison",
    ),
    path(
        f"{PROJECT}beside-people/<path:rest>", annotate_results_views.redirect_to_new_url, {"name": "judges"}
    ),
    path(f"{PROJECT}<int:pk>/beside-people/", results_views.judge_figures, name="judge_figures"),
    path(f"{PROJECT}<int:pk>/beside-people/<path:rest>", results_views.judge_figures),
    path(
        f"{PROJECT}reliability/",
        annotate_results_views.redirect_to_new_url,
        {"name": "reliability"},
        name="judge_reliability",
    ),
    path(
        f"{PROJECT}reliability/<path:rest>",
        annotate_results_views.redirect_to_new_url,
        {"name": "reliability"},
    ),
    path(
        f"{PROJECT}estimates/",
        annotate_results_views.redirect_to_new_url,
        {"name": "estimates"},
        name="judge_estimates",
    ),
    path(
        f"{PROJECT}estimates/<path:rest>", annotate_results_views.redirect_to_new_url, {"name": "estimates"}
    ),
    path(
        f"{PROJECT}replacement/",
        annotate_results_views.redirect_to_new_url,
        {"name": "replacement"},
        name="judge_replacement",
    ),
    path(
        f"{PROJECT}replacement/<path:rest>",
        annotate_results_views.redirect_to_new_url,
        {"name": "replacement"},
    ),
    path(f"{PROJECT}addition/<slug:step>/", additions_views.addition_step, name="addition_step"),
    path(f"{PROJECT}certificates/", routing_views.certificates, name="certificates"),
    path(f"{PROJECT}certificates/new/", routing_views.certificate_new, name="certificate_new"),
    path(f"{PROJECT}certificates/<int:pk>/", routing_views.certificate, name="certificate"),
    path(
        f"{PROJECT}certificates/<int:pk>/<slug:key>.<slug:format>",
        routing_views.certificate_table,
        name="certificate_table",
    ),
    path(
        f"{PROJECT}certificates/<int:pk>/<slug:step>/",
        routing_views.certificate_step,
        name="certificate_step",
    ),
    path(f"{PROJECT}routing/", routing_views.routing, name="routing"),
    path(f"{PROJECT}routing/new/", routing_views.routing_new, name="routing_new"),
    path(f"{PROJECT}routing/<int:pk>/", routing_views.routing_policy, name="routing_policy"),
    path(f"{PROJECT}routing/<int:pk>/<slug:step>/", routing_views.routing_step, name="routing_step"),
    path(f"{PROJECT}endpoints/", endpoints.endpoints, name="endpoints"),
    path(f"{PROJECT}endpoints/new/", endpoints.endpoint_new, name="endpoint_new"),
    path(f"{PROJECT}endpoints/<int:pk>/", endpoints.endpoint, name="endpoint"),
    path(
        f"{PROJECT}endpoints/<int:pk>/key/remove/", endpoints.endpoint_key_remove, name="endpoint_key_remove"
    ),
    path(f"{PROJECT}endpoints/<int:pk>/archive/", endpoints.endpoint_archive, name="endpoint_archive"),
    path(f"{PROJECT}endpoints/<int:pk>/delete/", endpoints.endpoint_delete, name="endpoint_delete"),
    path(f"{PROJECT}endpoints/<int:pk>/prices/", endpoints.endpoint_price, name="endpoint_price"),
    path(
        f"{PROJECT}endpoints/<int:pk>/prices/<int:price>/remove/",
        endpoints.endpoint_price_remove,
        name="endpoint_price_remove",
    ),
    path(f"{PROJECT}endpoints/<int:pk>/test/", endpoints.endpoint_test, name="endpoint_test"),
    path(f"{PROJECT}prompts/", templates.templates, name="templates"),
    path(f"{PROJECT}prompts/new/<slug:key>/", templates.template_new, name="template_new"),
    path(f"{PROJECT}prompts/<int:pk>/", templates.template, name="template"),
    path(f"{PROJECT}prompts/<int:pk>/text/", templates.template_text, name="template_text"),
    path(f"{PROJECT}prompts/<int:pk>/steps/", templates.template_steps, name="template_steps"),
    path(f"{PROJECT}experiments/new/", laboratory_views.experiment_new, name="experiment_new"),
    path(f"{PROJECT}panels/new/", laboratory_views.panel_new, name="panel_new"),
    path(f"{PROJECT}panels/<int:pk>/", laboratory_views.panel, name="panel"),
    path(f"{PROJECT}pilot/", laboratory_views.pilot, name="pilot"),
    path(f"{PROJECT}align/", laboratory_views.alignment, name="alignment"),
    path(f"{PROJECT}align/draw/", laboratory_views.alignment_draw, name="alignment_draw"),
    path(f"{PROJECT}align/propose/", laboratory_views.alignment_propose, name="alignment_propose"),
    path(f"{PROJECT}align/write/", laboratory_views.alignment_write, name="alignment_write"),
    path(f"{PROJECT}align/drafts/<int:pk>/", laboratory_views.alignment_drafting, name="alignment_drafting"),
    path(f"{PROJECT}align/search/", laboratory_views.alignment_search_new, name="alignment_search_new"),
    path(f"{PROJECT}align/search/<int:pk>/", laboratory_views.alignment_search, name="alignment_search"),
    path(f"{PROJECT}align/<int:pk>/<slug:step>/", laboratory_views.alignment_decide, name="alignment_decide"),
    path(f"{PROJECT}runs/", runs_views.runs, name="runs"),
    path(f"{PROJECT}runs/new/", runs_views.run_plan, name="run_plan"),
    path(f"{PROJECT}runs/<int:pk>/", runs_views.run, name="run"),
    # Before `<slug:step>`, which also matches this URL.
    path(f"{PROJECT}runs/<int:pk>/budget/", runs_views.run_budget, name="run_budget"),
    path(f"{PROJECT}runs/<int:pk>/judgments/<slug:status>/", runs_views.run_judgments, name="run_judgments"),
    path(f"{PROJECT}runs/<int:pk>/<slug:step>/", runs_views.run_step, name="run_step"),
]
