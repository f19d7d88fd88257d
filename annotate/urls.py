"""Routes of annotate."""

from django.urls import path, register_converter

from annotate.views import (
    agreement,
    audit,
    digests,
    dimensions,
    disagreements,
    dispute_steering,
    disputes,
    exports,
    gold,
    images,
    import_steps,
    imports,
    overview,
    people,
    plans,
    practice,
    preferences,
    projects,
    quality,
    rating,
    reproduction,
    results,
    settings,
    setup,
    templates,
    tokens,
    webhooks,
    wording,
)


class StepConverter:
    """The four steps of the rounds, as they stand in a URL."""

    regex = "|".join(overview.STEPS)

    def to_python(self, value: str) -> str:
        """Take the step as it is."""
        return value

    to_url = to_python


register_converter(StepConverter, "step")

urlpatterns = [
    # First, as they are asked for thousands of times, and each route before costs time.
    path("projects/<slug:slug>/rate/", rating.rate, name="rate"),
    path("projects/<slug:slug>/rate/flagged/", rating.rate_flagged, name="rate_flagged"),
    path("projects/<slug:slug>/rate/note/<int:position>/", rating.save_private_note, name="save_note"),
    path("projects/<slug:slug>/rate/progress/", rating.rate_progress, name="rate_progress"),
    path("projects/<slug:slug>/rate/<int:position>/", rating.rate_item, name="rate_item"),
    path("projects/<slug:slug>/rate/<int:position>/<slug:key>/", rating.save, name="save_rating"),
    path("", projects.projects, name="projects"),
    path("account/preferences/", preferences.preferences, name="preferences"),
    path("account/keys/", preferences.keys, name="keys"),
    path("account/tokens/", tokens.tokens, name="tokens"),
    path("account/tokens/<int:pk>/revoke/", tokens.token_revoke, name="token_revoke"),
    path("account/digest/<str:token>/", digests.digest_stop, name="digest_stop"),
    path("projects/new/", projects.project_new, name="project_new"),
    path("templates/", templates.templates, name="templates"),
    path("templates/<slug:key>.json", templates.template_file, name="template_file"),
    path("templates/<int:pk>/remove/", templates.template_remove, name="template_remove"),
    path("projects/<slug:slug>/review/", setup.review, name="review"),
    path("projects/<slug:slug>/preview/", setup.preview, name="preview"),
    path("projects/<slug:slug>/template/", templates.project_template, name="project_template"),
    path("invitations/<str:token>/", people.invitation, name="invitation"),
    path("projects/<slug:slug>/settings/", settings.settings, name="settings"),
    path("projects/<slug:slug>/dimensions/", dimensions.dimensions, name="dimensions"),
    path("projects/<slug:slug>/dimensions/new/", dimensions.dimension_new, name="dimension_new"),
    path("projects/<slug:slug>/dimensions/<slug:key>/", dimensions.dimension, name="dimension"),
    path(
        "projects/<slug:slug>/dimensions/<slug:key>/move/", dimensions.dimension_move, name="dimension_move"
    ),
    path(
        "projects/<slug:slug>/dimensions/<slug:key>/duplicate/",
        dimensions.dimension_duplicate,
        name="dimension_duplicate",
    ),
    path(
        "projects/<slug:slug>/dimensions/<slug:key>/remove/",
        dimensions.dimension_remove,
        name="dimension_remove",
    ),
    path("projects/<slug:slug>/guidelines/", wording.versions, name="guideline_versions"),
    path("projects/<slug:slug>/guidelines/<slug:key>/again/", wording.ask, name="ask_again"),
    path("projects/<slug:slug>/webhooks/", webhooks.webhooks, name="webhooks"),
    path("projects/<slug:slug>/webhooks/<int:pk>/", webhooks.webhook, name="webhook"),
    path("projects/<slug:slug>/webhooks/<int:pk>/secret/", webhooks.webhook_secret, name="webhook_secret"),
    path("projects/<slug:slug>/webhooks/<int:pk>/test/", webhooks.webhook_test, name="webhook_test"),
    path("projects/<slug:slug>/webhooks/<int:pk>/enable/", webhooks.webhook_enable, name="webhook_enable"),
    path("projects/<slug:slug>/webhooks/<int:pk>/remove/", webhooks.webhook_remove, name="webhook_remove"),
    path(
        "projects/<slug:slug>/webhooks/<int:pk>/deliveries/<int:delivery>/again/",
        webhooks.delivery_again,
        name="delivery_again",
    ),
    path("projects/<slug:slug>/images/", images.images, name="images"),
    path("projects/<slug:slug>/images/<str:key>", images.image, name="image"),
    path("projects/<slug:slug>/images/<str:key>/remove/", images.image_remove, name="image_remove"),
    path("projects/<slug:slug>/imports/", imports.imports, name="imports"),
    path("projects/<slug:slug>/imports/<int:pk>/", imports.data_import, name="data_import"),
    path("projects/<slug:slug>/imports/<int:pk>/part/", import_steps.import_part, name="import_part"),
    path("projects/<slug:slug>/imports/<int:pk>/again/", import_steps.import_again, name="import_again"),
    path("projects/<slug:slug>/imports/<int:pk>/cancel/", import_steps.import_cancel, name="import_cancel"),
    path(
        "projects/<slug:slug>/imports/<int:pk>/discard/", import_steps.import_discard, name="import_discard"
    ),
    path("projects/<slug:slug>/imports/<int:pk>/undo/", import_steps.import_undo, name="import_undo"),
    path(
        "projects/<slug:slug>/imports/<int:pk>/refused.<slug:format>",
        import_steps.import_refused,
        name="import_refused",
    ),
    path("projects/<slug:slug>/gold/", gold.gold, name="gold"),
    path("projects/<slug:slug>/gold/bar/", gold.practice_bar, name="practice_bar"),
    path("projects/<slug:slug>/gold/<int:pk>/", gold.gold_item, name="gold_item"),
    path("projects/<slug:slug>/practice/", practice.practice, name="practice"),
    path("projects/<slug:slug>/practice/again/", practice.practice_again, name="practice_again"),
    path("projects/<slug:slug>/practice/<int:pk>/", practice.practice_item, name="practice_item"),
    path("projects/<slug:slug>/quality/", quality.quality, name="quality"),
    path("projects/<slug:slug>/quality/<int:pk>/", quality.quality_rater, name="quality_rater"),
    path("projects/<slug:slug>/plan/", plans.plan, name="plan"),
    path("projects/<slug:slug>/people/", people.people, name="people"),
    path("projects/<slug:slug>/people/<int:pk>/", people.person, name="person"),
    path("projects/<slug:slug>/people/<int:pk>/role/", people.place_role, name="place_role"),
    path("projects/<slug:slug>/people/<int:pk>/hand-over/", people.place_hand_over, name="place_hand_over"),
    path("projects/<slug:slug>/invitations/<int:pk>/send/", people.invitation_send, name="invitation_send"),
    path("projects/<slug:slug>/people/<int:pk>/invite/", people.place_invite, name="place_invite"),
    path("projects/<slug:slug>/people/<int:pk>/change/", people.place_change, name="place_change"),
    path(
        "projects/<slug:slug>/invitations/<int:pk>/withdraw/",
        people.invitation_withdraw,
        name="invitation_withdraw",
    ),
    path("projects/<slug:slug>/", overview.project, name="project"),
    path("projects/<slug:slug>/rounds/<step:step>/", overview.step, name="step"),
    path("projects/<slug:slug>/so-far/", overview.so_far, name="so_far"),
    path("projects/<slug:slug>/rounds/<int:number>/deadline/", overview.deadline, name="deadline"),
    path("projects/<slug:slug>/agreement/", agreement.agreement, name="agreement"),
    path(
        "projects/<slug:slug>/agreement/<slug:key>/",
        agreement.agreement_dimension,
        name="agreement_dimension",
    ),
    path(
        "projects/<slug:slug>/agreement/<slug:table>.<slug:format>",
        agreement.agreement_file,
        name="agreement_file",
    ),
    path(
        "projects/<slug:slug>/agreement/<slug:key>/<slug:table>.<slug:format>",
        agreement.dimension_file,
        name="dimension_file",
    ),
    path("projects/<slug:slug>/reproduction/", reproduction.reproduction_page, name="reproduction"),
    path(
        "projects/<slug:slug>/reproduction/table-<slug:name>.<slug:format>",
        reproduction.reproduction_table,
        name="reproduction_table",
    ),
    path("projects/<slug:slug>/results/", results.results, name="results"),
    path("projects/<slug:slug>/results/disagreements/", disagreements.disagreements, name="disagreements"),
    path(
        "projects/<slug:slug>/results/disagreements/<int:pk>/<slug:key>/",
        disagreements.disagreement,
        name="disagreement",
    ),
    path("projects/<slug:slug>/results/<slug:name>/", results.results_page, name="results_page"),
    path("projects/<slug:slug>/results/<slug:name>/<slug:key>/", results.result, name="result"),
    path(
        "projects/<slug:slug>/results/<slug:name>/<slug:key>.<slug:format>",
        results.result_file,
        name="result_file",
    ),
    path("projects/<slug:slug>/export/", exports.exports, name="exports"),
    path("projects/<slug:slug>/export/<int:pk>/", exports.export, name="export"),
    path("projects/<slug:slug>/export/<int:pk>/file/", exports.export_file, name="export_file"),
    path("projects/<slug:slug>/export/<int:pk>/again/", exports.export_again, name="export_again"),
    path("projects/<slug:slug>/export/<int:pk>/push/", exports.export_push, name="export_push"),
    path("projects/<slug:slug>/export/<int:pk>/delete/", exports.export_delete, name="export_delete"),
    path("projects/<slug:slug>/export/<slug:table>.<slug:format>", exports.export_one, name="export_one"),
    path("projects/<slug:slug>/audit/", audit.audit, name="audit"),
    path("projects/<slug:slug>/audit/audit.<slug:format>", audit.audit_download, name="audit_download"),
    path("projects/<slug:slug>/delete/", audit.project_delete, name="project_delete"),
    path("projects/<slug:slug>/disputes/", disputes.disputes, name="disputes"),
    path("projects/<slug:slug>/disputes/rules/", dispute_steering.dispute_rules, name="dispute_rules"),
    path("projects/<slug:slug>/disputes/nudge/", dispute_steering.dispute_nudge, name="dispute_nudge"),
    path("projects/<slug:slug>/disputes/<int:number>/", disputes.dispute, name="dispute"),
    path("projects/<slug:slug>/disputes/<int:number>/answer/", disputes.answer, name="dispute_answer"),
    path("projects/<slug:slug>/disputes/<int:number>/undo/", disputes.undo, name="dispute_undo"),
    path("projects/<slug:slug>/disputes/<int:number>/post/", disputes.post, name="dispute_post"),
    path("projects/<slug:slug>/disputes/<int:number>/decide/", disputes.decide, name="dispute_decide"),
]
