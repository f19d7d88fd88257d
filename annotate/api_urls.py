"""Routes of the API of annotate, below /api/v1/."""

from django.urls import path

from annotate.api import documentation
from annotate.disputes import api as disputes_api
from annotate.exports import api as exports_api
from annotate.leaderboard import api as leaderboard_api
from annotate.material import api as material_api
from annotate.people import api as people_api
from annotate.quality import api as quality_api
from annotate.rating.api import ratings as ratings_api
from annotate.rating.api import rounds as rounds_api
from annotate.results import api as results_api
from annotate.setup import api as setup_api
from annotate.versions import api as versions_api
from annotate.watching import api as watching_api
from annotate.webhooks import api as webhooks_api

app_name = "api"
P = "projects/<slug:slug>/"

urlpatterns = [
    path("", documentation.documentation, name="documentation"),
    path("openapi.json", documentation.openapi, name="openapi"),
    path("me/", setup_api.WhoAmI.as_view(), name="me"),
    path("templates/", setup_api.Templates.as_view(), name="templates"),
    path("projects/", setup_api.Projects.as_view(), name="projects"),
    path(P, setup_api.ProjectView.as_view(), name="project"),
    path(f"{P}template/", setup_api.TemplateOfProject.as_view(), name="project_template"),
    path(f"{P}dimensions/", setup_api.Dimensions.as_view(), name="dimensions"),
    path(f"{P}dimensions/<slug:key>/", setup_api.DimensionView.as_view(), name="dimension"),
    path(f"{P}documents/", material_api.Documents.as_view(), name="documents"),
    path(f"{P}systems/", material_api.Systems.as_view(), name="systems"),
    path(f"{P}items/", material_api.Items.as_view(), name="items"),
    path(f"{P}comparisons/", material_api.Comparisons.as_view(), name="comparisons"),
    path(f"{P}parts/", material_api.Parts.as_view(), name="parts"),
    path(f"{P}imports/", material_api.Imports.as_view(), name="imports"),
    path(f"{P}imports/<int:pk>/undo/", material_api.UndoneImport.as_view(), name="import_undo"),
    path(f"{P}raters/", people_api.Raters.as_view(), name="raters"),
    path(f"{P}people/", people_api.People.as_view(), name="people"),
    path(f"{P}people/<int:pk>/", people_api.MembershipView.as_view(), name="membership"),
    path(f"{P}people/<int:pk>/role/", people_api.MembershipRole.as_view(), name="role"),
    path(f"{P}people/<int:pk>/label/", people_api.MembershipLabel.as_view(), name="label_of_membership"),
    path(f"{P}people/<int:pk>/join/", people_api.RecordedMembership.as_view(), name="join_membership"),
    path(f"{P}people/<int:pk>/hand-over/", people_api.HandOver.as_view(), name="hand_over"),
    path(f"{P}gold/", quality_api.Gold.as_view(), name="gold"),
    path(f"{P}gold/bar/", quality_api.BarOfPractice.as_view(), name="practice_bar"),
    path(f"{P}gold/<int:pk>/", quality_api.GoldItemView.as_view(), name="gold_item"),
    path(f"{P}plan/", rounds_api.Plan.as_view(), name="plan"),
    path(f"{P}audit/", watching_api.Audit.as_view(), name="audit"),
    path(f"{P}invitations/", people_api.Invitations.as_view(), name="invitations"),
    path(f"{P}invitations/several/", people_api.SeveralInvitations.as_view(), name="invitations_several"),
    path(f"{P}invitations/<int:pk>/", people_api.InvitationView.as_view(), name="invitation"),
    path(f"{P}invitations/<int:pk>/mail/", people_api.MailOfInvitation.as_view(), name="invitation_mail"),
    path(f"{P}rounds/", rounds_api.Rounds.as_view(), name="rounds"),
    path(f"{P}rounds/<int:number>/deadline/", rounds_api.RoundDeadline.as_view(), name="deadline"),
    path(f"{P}rounds/<slug:step>/", rounds_api.RoundStep.as_view(), name="step"),
    path(f"{P}results/", results_api.Results.as_view(), name="results"),
    path(f"{P}results/<slug:name>/", results_api.ResultView.as_view(), name="result"),
    path(
        f"{P}results/<slug:name>/<slug:key>.<slug:ending>",
        results_api.ResultFile.as_view(),
        name="result_file",
    ),
    path(f"{P}assignments/", ratings_api.Assignments.as_view(), name="assignments"),
    path(f"{P}ratings/", ratings_api.Ratings.as_view(), name="ratings"),
    path(f"{P}ratings/recorded/", material_api.RecordedRatings.as_view(), name="recorded_ratings"),
    path(f"{P}ratings/history/", ratings_api.RatingChanges.as_view(), name="history"),
    path(f"{P}disputes/", disputes_api.Disputes.as_view(), name="disputes"),
    path(f"{P}disputes/rules/", disputes_api.RulesOfDisputes.as_view(), name="dispute_rules"),
    path(f"{P}disputes/nudges/", disputes_api.Nudges.as_view(), name="nudges"),
    path(f"{P}disputes/<int:number>/", disputes_api.DisputeView.as_view(), name="dispute"),
    path(f"{P}disputes/<int:number>/answer/", disputes_api.AnswerToDispute.as_view(), name="answer"),
    path(f"{P}disputes/<int:number>/thread/", disputes_api.ThreadOfDispute.as_view(), name="thread"),
    path(f"{P}disputes/<int:number>/decision/", disputes_api.DecisionOnDispute.as_view(), name="decision"),
    path(f"{P}datasheet/", exports_api.DatasheetOfProject.as_view(), name="datasheet"),
    path(f"{P}versions/", versions_api.Versions.as_view(), name="versions"),
    path(f"{P}exports/", exports_api.Exports.as_view(), name="exports"),
    path(f"{P}exports/<int:pk>/", exports_api.ExportView.as_view(), name="export"),
    path(f"{P}exports/<int:pk>/pushes/", exports_api.Pushes.as_view(), name="pushes"),
    path(f"{P}exports/<int:pk>/file/", exports_api.ExportFile.as_view(), name="export_file"),
    path(
        "benchmarks/<slug:key>/submissions/",
        leaderboard_api.BenchmarkSubmissions.as_view(),
        name="benchmark_submissions",
    ),
    path(f"{P}webhooks/", webhooks_api.Webhooks.as_view(), name="webhooks"),
    path(f"{P}webhooks/<int:pk>/", webhooks_api.WebhookView.as_view(), name="webhook"),
    path(f"{P}webhooks/<int:pk>/secret/", webhooks_api.SecretOfWebhook.as_view(), name="webhook_secret"),
    path(f"{P}webhooks/<int:pk>/enabled/", webhooks_api.EnabledWebhook.as_view(), name="webhook_enabled"),
    path(f"{P}webhooks/<int:pk>/deliveries/", webhooks_api.Deliveries.as_view(), name="deliveries"),
    path(
        f"{P}webhooks/<int:pk>/deliveries/<int:delivery>/again/",
        webhooks_api.DeliveryAgain.as_view(),
        name="delivery_again",
    ),
    path(f"{P}work/", ratings_api.Work.as_view(), name="work"),
    path(f"{P}work/<position:position>/", ratings_api.AssignmentView.as_view(), name="work_item"),
    path(f"{P}work/<position:position>/<slug:key>/", ratings_api.OwnRating.as_view(), name="own_rating"),
]
