"""Routes of annotate."""

from django.urls import path, register_converter
from django.views.generic import RedirectView

from annotate.additions import views as additions_views
from annotate.calibration import views as calibration_views
from annotate.disputes import views as disputes_views
from annotate.exports import views as exports_views
from annotate.items import views as items_views
from annotate.leaderboard import public_views as benchmark_views
from annotate.leaderboard import views as leaderboard_views
from annotate.material import views as material_views
from annotate.people.views import account, installation, members, outside
from annotate.quality import views as quality_views
from annotate.rating import views as rating_views
from annotate.rating.commands.rounds import STEPS
from annotate.results import views as results_views
from annotate.setup import views as setup_views
from annotate.versions import views as version_views
from annotate.watching import views as watching_views
from annotate.webhooks import views as webhooks_views


class StepConverter:
    regex = "|".join(STEPS)

    def to_python(self, value: str) -> str:
        return value

    to_url = to_python


register_converter(StepConverter, "step")

# Pages of a project that have moved: bookmarks and links in mails lead to the new URL.
MOVED = {
    "plan/": "assignment-plan/",
    "quality/": "annotator-quality/",
    "disputes/adjudicate/": "adjudication/",
    "disputes/rules/": "dispute-rules/",
    "guidelines/": "guideline-versions/",
}

urlpatterns = [
    # First, because they are requested thousands of times, and each preceding route costs time.
    path("projects/<slug:slug>/rate/", rating_views.rate, name="rate"),
    path("projects/<slug:slug>/rate/mine/", rating_views.my_work, name="my_work"),
    path("projects/<slug:slug>/rate/mine/values/", rating_views.my_values, name="my_values"),
    path(
        "projects/<slug:slug>/rate/answers/<position:position>/",
        rating_views.save_answers,
        name="save_answers",
    ),
    path("projects/<slug:slug>/rate/hold/<position:position>/", rating_views.hold_items, name="hold_items"),
    path("projects/<slug:slug>/rate/wording/", rating_views.acknowledge, name="acknowledge"),
    path(
        "projects/<slug:slug>/rate/note/<position:position>/",
        rating_views.save_private_note,
        name="save_note",
    ),
    path("projects/<slug:slug>/rate/progress/", rating_views.rate_progress, name="rate_progress"),
    path("projects/<slug:slug>/rate/<position:position>/", rating_views.rate_item, name="rate_item"),
    path("projects/<slug:slug>/rate/<position:position>/<slug:key>/", rating_views.save, name="save_rating"),
    path("", watching_views.projects, name="projects"),
    path("projects/", RedirectView.as_view(pattern_name="projects"), name="projects_moved"),
    path("account/preferences/", account.preferences, name="preferences"),
    path("account/address/", account.address, name="address"),
    path("account/address/<str:token>/", account.address_confirm, name="address_confirm"),
    path("signup/<str:token>/", account.signup_address, name="signup_address"),
    path("account/keys/", account.keys, name="keys"),
    path("account/data.json", account.own_data, name="own_data"),
    path("account/again/", account.sign_in_again, name="sign_in_again"),
    path("account/sessions/", account.sessions, name="sessions"),
    path("account/sessions/<int:pk>/end/", account.session_end, name="session_end"),
    path("installation/people/", installation.people, name="installation_people"),
    path("installation/people/<int:pk>/", installation.person, name="installation_person"),
    path("installation/people/<int:pk>/erase/", installation.erase, name="installation_erase"),
    path("account/tokens/", account.tokens, name="tokens"),
    path("account/tokens/<int:pk>/revoke/", account.token_revoke, name="token_revoke"),
    path("account/digest/<str:token>/", disputes_views.digest_stop, name="digest_stop"),
    path("first-account/<str:token>/", account.first_account, name="first_account"),
    path("projects/new/from-export/", exports_views.project_from_export, name="project_from_export"),
    path("projects/new/", setup_views.project_new, name="project_new"),
    path("templates/", setup_views.templates, name="templates"),
    path(
        "templates/<slug:key>.<slug:ending>",
        setup_views.template_file,
        name="template_file",
    ),
    path("templates/<int:pk>/remove/", setup_views.template_remove, name="template_remove"),
    path("projects/<slug:slug>/review/", setup_views.review, name="review"),
    path("projects/<slug:slug>/preview/", setup_views.preview, name="preview"),
    path("projects/<slug:slug>/as-template/", setup_views.as_template, name="as_template"),
    path("projects/<slug:slug>/template/", setup_views.project_template, name="project_template"),
    path("invitations/<str:token>/", account.invitation, name="invitation"),
    path("join/<slug:token>/", outside.join, name="join"),
    path("projects/<slug:slug>/settings/", setup_views.settings, name="settings"),
    path("projects/<slug:slug>/dimensions/", setup_views.dimensions, name="dimensions"),
    path("projects/<slug:slug>/dimensions/new/", setup_views.dimension_new, name="dimension_new"),
    path("projects/<slug:slug>/dimensions/<slug:key>/", setup_views.dimension, name="dimension"),
    path(
        "projects/<slug:slug>/dimensions/<slug:key>/move/", setup_views.dimension_move, name="dimension_move"
    ),
    path(
        "projects/<slug:slug>/dimensions/<slug:key>/duplicate/",
        setup_views.dimension_duplicate,
        name="dimension_duplicate",
    ),
    path(
        "projects/<slug:slug>/dimensions/<slug:key>/remove/",
        setup_views.dimension_remove,
        name="dimension_remove",
    ),
    path("projects/<slug:slug>/guideline/", rating_views.guideline, name="guideline"),
    path("projects/<slug:slug>/rate/how/", rating_views.how_rating_works, name="how_rating_works"),
    path("projects/<slug:slug>/guideline-versions/", setup_views.versions, name="guideline_versions"),
    path("projects/<slug:slug>/guideline-versions/<slug:key>/again/", setup_views.ask, name="ask_again"),
    path("projects/<slug:slug>/webhooks/", webhooks_views.webhooks, name="webhooks"),
    path("projects/<slug:slug>/webhooks/<int:pk>/", webhooks_views.webhook, name="webhook"),
    path(
        "projects/<slug:slug>/webhooks/<int:pk>/secret/", webhooks_views.webhook_secret, name="webhook_secret"
    ),
    path("projects/<slug:slug>/webhooks/<int:pk>/test/", webhooks_views.webhook_test, name="webhook_test"),
    path(
        "projects/<slug:slug>/webhooks/<int:pk>/enable/", webhooks_views.webhook_enable, name="webhook_enable"
    ),
    path(
        "projects/<slug:slug>/webhooks/<int:pk>/remove/", webhooks_views.webhook_remove, name="webhook_remove"
    ),
    path(
        "projects/<slug:slug>/webhooks/<int:pk>/deliveries/<int:delivery>/again/",
        webhooks_views.delivery_again,
        name="delivery_again",
    ),
    path("benchmarks/<slug:key>/", benchmark_views.page, name="public_page"),
    path("benchmarks/<slug:key>/embed/", benchmark_views.embed, name="public_embed"),
    path("benchmarks/<slug:key>/leaderboard.json", benchmark_views.download_json, name="public_json"),
    path("benchmarks/<slug:key>/leaderboard.csv", benchmark_views.download_csv, name="public_csv"),
    path("benchmarks/<slug:key>/documents.json", benchmark_views.documents, name="public_documents"),
    path("benchmarks/<slug:key>/submit/", benchmark_views.submit, name="public_submit"),
    path("projects/<slug:slug>/public-page/", leaderboard_views.public_page, name="public_leaderboard"),
    path("projects/<slug:slug>/versions/", version_views.versions, name="versions"),
    path("projects/<slug:slug>/versions/edition/", version_views.new_edition, name="new_edition"),
    path("projects/<slug:slug>/submissions/", leaderboard_views.submissions, name="submissions"),
    path("projects/<slug:slug>/submissions/<int:pk>/", leaderboard_views.submission, name="submission"),
    path("projects/<slug:slug>/calibration/", calibration_views.sessions, name="calibration"),
    path("projects/<slug:slug>/additions/", additions_views.additions, name="additions"),
    path("projects/<slug:slug>/additions/<int:number>/", additions_views.addition, name="addition"),
    path("projects/<slug:slug>/calibration/<int:pk>/", calibration_views.session, name="calibration_session"),
    path("projects/<slug:slug>/images/", setup_views.images, name="images"),
    path("projects/<slug:slug>/images/<image:key>", setup_views.image, name="image"),
    path("projects/<slug:slug>/images/<image:key>/remove/", setup_views.image_remove, name="image_remove"),
    path("projects/<slug:slug>/comparisons/", material_views.comparisons, name="comparisons"),
    path("projects/<slug:slug>/parts/", material_views.item_parts, name="item_parts"),
    path("projects/<slug:slug>/imports/", material_views.imports, name="imports"),
    path("projects/<slug:slug>/imports/<int:pk>/", material_views.data_import, name="data_import"),
    path("projects/<slug:slug>/imports/<int:pk>/part/", material_views.import_part, name="import_part"),
    path("projects/<slug:slug>/imports/<int:pk>/again/", material_views.import_again, name="import_again"),
    path("projects/<slug:slug>/imports/<int:pk>/cancel/", material_views.import_cancel, name="import_cancel"),
    path(
        "projects/<slug:slug>/imports/<int:pk>/discard/", material_views.import_discard, name="import_discard"
    ),
    path("projects/<slug:slug>/imports/<int:pk>/undo/", material_views.import_undo, name="import_undo"),
    path(
        "projects/<slug:slug>/imports/<int:pk>/refused.<slug:format>",
        material_views.import_refused,
        name="import_refused",
    ),
    path("projects/<slug:slug>/items/", items_views.items, name="items"),
    path("projects/<slug:slug>/items/<int:pk>/", items_views.item, name="item"),
    path("projects/<slug:slug>/gold/", quality_views.gold, name="gold"),
    path("projects/<slug:slug>/gold/bar/", quality_views.practice_bar, name="practice_bar"),
    path("projects/<slug:slug>/gold/<int:pk>/", quality_views.gold_item, name="gold_item"),
    path("projects/<slug:slug>/practice/", quality_views.practice, name="practice"),
    path("projects/<slug:slug>/practice/again/", quality_views.practice_again, name="practice_again"),
    path("projects/<slug:slug>/practice/<int:pk>/", quality_views.practice_item, name="practice_item"),
    path(
        "projects/<slug:slug>/practice/<int:pk>/feedback/",
        quality_views.practice_feedback,
        name="practice_feedback",
    ),
    path(
        "projects/<slug:slug>/practice/<int:pk>/answers/",
        quality_views.save_practice_answers,
        name="save_practice_answers",
    ),
    path(
        "projects/<slug:slug>/practice/<int:pk>/answer/<slug:key>/",
        quality_views.save_practice_answer,
        name="save_practice_answer",
    ),
    path("projects/<slug:slug>/annotator-quality/", quality_views.quality, name="quality"),
    path(
        "projects/<slug:slug>/annotator-quality/<int:pk>/", quality_views.quality_rater, name="quality_rater"
    ),
    path("projects/<slug:slug>/assignment-plan/", rating_views.plan, name="plan"),
    path("projects/<slug:slug>/people/", members.people, name="people"),
    path("projects/<slug:slug>/people/invite/", members.invite_several, name="invite_several"),
    path("projects/<slug:slug>/people/outside/", outside.study_settings, name="outside_study"),
    path("projects/<slug:slug>/people/outside/link/", outside.study_link, name="outside_link"),
    path("projects/<slug:slug>/end/", outside.end, name="outside_end"),
    path("projects/<slug:slug>/people/<int:pk>/", members.person, name="person"),
    path("projects/<slug:slug>/people/<int:pk>/role/", members.membership_role, name="membership_role"),
    path(
        "projects/<slug:slug>/people/<int:pk>/hand-over/",
        members.membership_hand_over,
        name="membership_hand_over",
    ),
    path(
        "projects/<slug:slug>/invitations/<int:pk>/send/",
        members.invitation_send,
        name="invitation_send",
    ),
    path("projects/<slug:slug>/people/<int:pk>/label/", members.membership_label, name="membership_label"),
    path("projects/<slug:slug>/people/<int:pk>/join/", members.membership_join, name="membership_join"),
    path("projects/<slug:slug>/people/<int:pk>/invite/", members.membership_invite, name="membership_invite"),
    path("projects/<slug:slug>/people/<int:pk>/change/", members.membership_change, name="membership_change"),
    path(
        "projects/<slug:slug>/invitations/<int:pk>/withdraw/",
        members.invitation_withdraw,
        name="invitation_withdraw",
    ),
    path("projects/<slug:slug>/", watching_views.project, name="project"),
    path("projects/<slug:slug>/rounds/1/", watching_views.round_one, name="round_one"),
    path("projects/<slug:slug>/rounds/<step:step>/", watching_views.step, name="step"),
    path("projects/<slug:slug>/so-far/", results_views.so_far, name="so_far"),
    path("projects/<slug:slug>/rounds/<int:number>/deadline/", watching_views.deadline, name="deadline"),
    path(
        "projects/<slug:slug>/agreement/",
        results_views.redirect_to_new_url,
        {"name": "agreement"},
        name="agreement",
    ),
    path(
        "projects/<slug:slug>/agreement/<path:rest>", results_views.redirect_to_new_url, {"name": "agreement"}
    ),
    path("projects/<slug:slug>/reproduction/", results_views.reproduction_page, name="reproduction"),
    path(
        "projects/<slug:slug>/reproduction/table-<slug:name>.<slug:format>",
        results_views.reproduction_table,
        name="reproduction_table",
    ),
    path("projects/<slug:slug>/results/", results_views.results, name="results"),
    path("projects/<slug:slug>/results/disagreements/", results_views.disagreements, name="disagreements"),
    path(
        "projects/<slug:slug>/results/disagreements.csv",
        results_views.disagreements_file,
        name="disagreements_file",
    ),
    path(
        "projects/<slug:slug>/results/disagreements/<int:pk>/<slug:key>/",
        results_views.disagreement,
        name="disagreement",
    ),
    path("projects/<slug:slug>/results/<slug:name>/", results_views.results_page, name="results_page"),
    path("projects/<slug:slug>/results/<slug:name>/<slug:key>/", results_views.result, name="result"),
    path(
        "projects/<slug:slug>/results/<slug:name>/<slug:key>.<slug:format>",
        results_views.result_file,
        name="result_file",
    ),
    path("projects/<slug:slug>/export/", exports_views.exports, name="exports"),
    path("projects/<slug:slug>/export/datasheet/", exports_views.datasheet, name="datasheet"),
    path("projects/<slug:slug>/export/<int:pk>/", exports_views.export, name="export"),
    path("projects/<slug:slug>/export/<int:pk>/file/", exports_views.export_file, name="export_file"),
    path("projects/<slug:slug>/export/<int:pk>/again/", exports_views.export_again, name="export_again"),
    path("projects/<slug:slug>/export/<int:pk>/push/", exports_views.export_push, name="export_push"),
    path("projects/<slug:slug>/export/<int:pk>/delete/", exports_views.export_delete, name="export_delete"),
    path(
        "projects/<slug:slug>/export/<slug:table>.<slug:format>", exports_views.export_one, name="export_one"
    ),
    path("projects/<slug:slug>/audit/", watching_views.audit, name="audit"),
    path(
        "projects/<slug:slug>/audit/audit.<slug:format>", watching_views.audit_download, name="audit_download"
    ),
    path("projects/<slug:slug>/delete/", watching_views.project_delete, name="project_delete"),
    path("projects/<slug:slug>/disputes/", disputes_views.disputes, name="disputes"),
    path("projects/<slug:slug>/adjudication/", disputes_views.queue, name="adjudicate"),
    path("projects/<slug:slug>/dispute-rules/", disputes_views.dispute_rules, name="dispute_rules"),
    path("projects/<slug:slug>/disputes/nudge/", disputes_views.dispute_nudge, name="dispute_nudge"),
    path("projects/<slug:slug>/disputes/<int:number>/", disputes_views.dispute, name="dispute"),
    path("projects/<slug:slug>/disputes/<int:number>/answer/", disputes_views.answer, name="dispute_answer"),
    path("projects/<slug:slug>/disputes/<int:number>/undo/", disputes_views.undo, name="dispute_undo"),
    path(
        "projects/<slug:slug>/disputes/<int:number>/wording/",
        disputes_views.read_wording,
        name="dispute_wording",
    ),
    path("projects/<slug:slug>/disputes/<int:number>/decide/", disputes_views.decide, name="dispute_decide"),
    *(
        path(
            f"projects/<slug:slug>/{old}<path:rest>" if rest else f"projects/<slug:slug>/{old}",
            RedirectView.as_view(
                url=f"/projects/%(slug)s/{new}{'%(rest)s' if rest else ''}", query_string=True, permanent=True
            ),
            name="moved",
        )
        for old, new in MOVED.items()
        for rest in (False, True)
    ),
]
