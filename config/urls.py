"""All routes."""

from django.apps import apps
from django.urls import include, path

urlpatterns = [
    path("accounts/", include("allauth.urls")),
    path("", include("annotate.urls")),
]

if apps.is_installed("judges"):
    urlpatterns.append(path("", include("judges.urls")))
