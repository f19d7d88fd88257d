"""Routes of the API of annotate, below /api/v1/."""

from django.urls import path

from annotate.api import (
    dimensions,
    disputes,
    documentation,
    exports,
    material,
    people,
    projects,
    ratings,
    rounds,
    webhooks,
    work,
)

app_name = "api"
P = "projects/<slug:slug>/"

urlpatterns = [
    path("", documentation.documentation, name="documentation"),
    path("openapi.json", documentation.openapi, name="openapi"),
    path("me/", projects.WhoAmI.as_view(), name="me"),
    path("projects/", projects.Projects.as_view(), name="projects"),
    path(P, projects.OneProject.as_view(), name="project"),
    path(f"{P}dimensions/", dimensions.Dimensions.as_view(), name="dimensions"),
    path(f"{P}dimensions/<slug:key>/", dimensions.OneDimension.as_view(), name="dimension"),
    path(f"{P}documents/", material.Documents.as_view(), name="documents"),
    path(f"{P}systems/", material.Systems.as_view(), name="systems"),
    path(f"{P}items/", material.Items.as_view(), name="items"),
    path(f"{P}raters/", people.Raters.as_view(), name="raters"),
    path(f"{P}people/", people.People.as_view(), name="people"),
    path(f"{P}people/<int:pk>/", people.OnePlace.as_view(), name="place"),
    path(f"{P}invitations/", people.Invitations.as_view(), name="invitations"),
    path(f"{P}invitations/<int:pk>/", people.OneInvitation.as_view(), name="invitation"),
    path(f"{P}rounds/", rounds.Rounds.as_view(), name="rounds"),
    path(f"{P}rounds/<int:number>/deadline/", rounds.RoundDeadline.as_view(), name="deadline"),
    path(f"{P}rounds/<int:number>/coefficients/", rounds.Coefficients.as_view(), name="coefficients"),
    path(f"{P}rounds/<slug:step>/", rounds.RoundStep.as_view(), name="step"),
    path(f"{P}assignments/", ratings.Assignments.as_view(), name="assignments"),
    path(f"{P}ratings/", ratings.Ratings.as_view(), name="ratings"),
    path(f"{P}ratings/history/", ratings.RatingChanges.as_view(), name="history"),
    path(f"{P}disputes/", disputes.Disputes.as_view(), name="disputes"),
    path(f"{P}disputes/<int:number>/", disputes.OneDispute.as_view(), name="dispute"),
    path(f"{P}disputes/<int:number>/answer/", disputes.AnswerToDispute.as_view(), name="answer"),
    path(f"{P}disputes/<int:number>/thread/", disputes.ThreadOfDispute.as_view(), name="thread"),
    path(f"{P}disputes/<int:number>/decision/", disputes.DecisionOnDispute.as_view(), name="decision"),
    path(f"{P}exports/", exports.Exports.as_view(), name="exports"),
    path(f"{P}exports/<int:pk>/", exports.OneExport.as_view(), name="export"),
    path(f"{P}exports/<int:pk>/pushes/", exports.Pushes.as_view(), name="pushes"),
    path(f"{P}exports/<int:pk>/file/", exports.ExportFile.as_view(), name="export_file"),
    path(f"{P}webhooks/", webhooks.Webhooks.as_view(), name="webhooks"),
    path(f"{P}webhooks/<int:pk>/", webhooks.OneWebhook.as_view(), name="webhook"),
    path(f"{P}webhooks/<int:pk>/secret/", webhooks.SecretOfWebhook.as_view(), name="webhook_secret"),
    path(f"{P}webhooks/<int:pk>/enabled/", webhooks.EnabledWebhook.as_view(), name="webhook_enabled"),
    path(f"{P}webhooks/<int:pk>/deliveries/", webhooks.Deliveries.as_view(), name="deliveries"),
    path(
        f"{P}webhooks/<int:pk>/deliveries/<int:delivery>/again/",
        webhooks.DeliveryAgain.as_view(),
        name="delivery_again",
    ),
    path(f"{P}work/", work.Work.as_view(), name="work"),
    path(f"{P}work/<int:position>/", work.OneWork.as_view(), name="work_item"),
    path(f"{P}work/<int:position>/<slug:key>/", work.OwnRating.as_view(), name="own_rating"),
]
