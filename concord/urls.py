"""All routes."""

from django.apps import apps
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.decorators.http import require_GET
from django.views.generic import RedirectView

from annotate.api.documentation import not_there
from annotate.people.views.account import signup
from annotate.people.views.sign_in import (
    Activate,
    AddPasskey,
    CodeAgain,
    Deactivate,
    MakeRecoveryCodes,
    PasskeyAgain,
    RemovePasskey,
    callback,
    sign_in,
)


@require_GET
def styleguide(request: HttpRequest) -> HttpResponse:
    if not settings.DEBUG:
        raise Http404
    return render(request, "styleguide.html")


handler500 = "annotate.core.responses.fault"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("annotate.urls")),
    # An e-mail must be proven before it counts, which allauth's own page does not enforce.
    path("accounts/email/", RedirectView.as_view(pattern_name="address")),
    path("accounts/sessions/", RedirectView.as_view(pattern_name="sessions")),
    path("accounts/signup/", signup),
    path("accounts/2fa/totp/activate/", Activate.as_view()),
    path("accounts/2fa/totp/deactivate/", Deactivate.as_view()),
    path("accounts/2fa/recovery-codes/generate/", MakeRecoveryCodes.as_view()),
    path("accounts/2fa/webauthn/", RedirectView.as_view(pattern_name="mfa_index")),
    path("accounts/2fa/webauthn/add/", AddPasskey.as_view()),
    path("accounts/2fa/webauthn/keys/<int:pk>/remove/", RemovePasskey.as_view()),
    path("accounts/2fa/webauthn/keys/<int:pk>/edit/", RedirectView.as_view(url="/accounts/2fa/")),
    path("accounts/2fa/reauthenticate/", CodeAgain.as_view()),
    path("accounts/2fa/webauthn/reauthenticate/", PasskeyAgain.as_view()),
    path("accounts/oidc/<str:provider_id>/login/", sign_in),
    path("accounts/oidc/<str:provider_id>/login/callback/", callback),
    # An identity belongs to the account with its e-mail: none is connected or disconnected by hand.
    path("accounts/3rdparty/", RedirectView.as_view(pattern_name="preferences")),
    path("accounts/3rdparty/signup/", RedirectView.as_view(pattern_name="account_login")),
    path("accounts/3rdparty/login/cancelled/", RedirectView.as_view(pattern_name="account_login")),
    # A password for who signed in by a provider: by a mailed link, not by an open computer.
    path("accounts/password/set/", RedirectView.as_view(pattern_name="account_reset_password")),
    path("accounts/", include("allauth.urls")),
    path("api/v1/", include("annotate.api_urls")),
    path("styleguide/", styleguide, name="styleguide"),
]

if apps.is_installed("judges"):
    urlpatterns.append(path("", include("judges.urls")))
    urlpatterns.append(path("api/v1/", include("judges.api_urls")))

# Last, so that an unknown URL of the API answers with an error of the API.
urlpatterns.append(path("api/", include([re_path(r"^(?P<rest>[\s\S]*)$", not_there)])))  # line ends too
