"""Redirects to and from a provider of OpenID Connect."""

from time import time
from typing import Any
from urllib.parse import urlencode

from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.core.exceptions import ImproperlyConfigured
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods
from requests import RequestException

from annotate.core.password_again import PROVIDER_ASKED_AT

UNREADABLE = (
    ImproperlyConfigured,
    KeyError,
    TypeError,
    ValueError,
)  # what answers of a broken provider raise


ASK_AGAIN = urlencode({"prompt": "login", "max_age": 0})


class CheckedTokens(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """Checks more of a provider's response than allauth, and stores less."""

    signed_in_at: float | None = None  # when the person entered something there, as far as the provider says

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: SocialToken, **options: Any
    ) -> SocialLogin:
        """Return the identity. Raises OAuth2Error."""
        # allauth skips the signature check for a token that it fetched itself over TLS. A proxy may end TLS
        # before the provider does, and fetching the keys takes one request.
        self.did_fetch_access_token = False
        try:
            login = super().complete_login(request, app, token, **options)
            claims = login.account.extra_data
            self.signed_in_at = _timestamp(claims["id_token"].get("auth_time"))
            subjects = {claims["id_token"]["sub"], *(each["sub"] for each in claims.values())}
        except UNREADABLE as error:
            raise OAuth2Error("The provider's answer cannot be read") from error
        if len(subjects) != 1:
            raise OAuth2Error("The provider's two answers are about different people")
        login.account.extra_data = {}  # names, groups, photos: not needed here
        return login


@never_cache
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Redirect to the provider, only from the button on the sign-in page: no other site can start it."""
    if request.method == "GET":
        return redirect("account_login")
    adapter = _adapter(request, provider_id)
    # A signed-in person comes from the page that requires the password again: an open session at the provider
    # proves nothing. The URL's value is replaced in any case.
    asked = request.GET.dict() | {"auth_params": ASK_AGAIN if request.user.is_authenticated else ""}
    request.GET = QueryDict(urlencode(asked))
    try:
        response: HttpResponse = OAuth2LoginView.adapter_view(adapter)(request)
    except (RequestException, *UNREADABLE) as error:
        response = render_authentication_error(request, adapter.get_provider(), exception=error)
    return response


@never_cache
@require_GET
def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    adapter = _adapter(request, provider_id)
    try:
        response: HttpResponse = OAuth2CallbackView.adapter_view(adapter)(request)
        if request.user.is_authenticated and adapter.signed_in_at is not None:
            request.session[PROVIDER_ASKED_AT] = min(adapter.signed_in_at, time())
    except (RequestException, *UNREADABLE) as error:
        response = render_authentication_error(request, adapter.get_provider(), exception=error)
    return response


def _timestamp(claim: object) -> float | None:
    return float(claim) if isinstance(claim, int | float) and not isinstance(claim, bool) else None


def _adapter(request: HttpRequest, provider_id: str) -> CheckedTokens:
    # Not allauth's own look-up: it takes the word openid_connect for any of them.
    if provider_id not in {each.provider_id for each in get_adapter().list_apps(request)}:
        raise Http404
    return CheckedTokens(request, provider_id)
