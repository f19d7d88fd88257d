from typing import Any, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.auth_backends import AuthenticationBackend
from allauth.core import context as allauth_context
from django.contrib import messages
from django.contrib.sites.shortcuts import get_current_site
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotate.core.audit import log_security
from annotate.core.errors import InvitationUnusableError
from annotate.core.models import User
from annotate.core.preferences import PERSON
from annotate.people.account_mail import post_account_mail
from annotate.people.attempts import count_attempt, take_back
from annotate.people.commands import accept_invitation
from annotate.people.session import ADDRESS_IN_SESSION, INVITATION_IN_SESSION, invitation_of, mailed_address
from annotate.people.sessions import SIGNED_IN_AT
from annotate.people.sign_in_limits import guess_counters, remember_device


class Backend(AuthenticationBackend):  # type: ignore[misc]
    def get_user(self, user_id: int) -> User | None:
        user = PERSON.first(user_id)
        return user if user is not None and self.user_can_authenticate(user) else None


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Restricts sign-up to invited people, redirects them to the invitation's project, and limits
    guessing.
    """

    error_messages: ClassVar[dict[str, Any]] = {
        **DefaultAccountAdapter.error_messages,
        "too_many_login_attempts": _(
            "Too many wrong passwords. Try again in a few minutes, or get a link for a new password by mail."
        ),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return True if the session has an invitation that can still be accepted."""
        return invitation_of(request.session) is not None

    def is_email_verified(self, request: HttpRequest, email: str) -> bool:
        return email.lower() == mailed_address(request.session)

    def save_user(self, request: HttpRequest, user: Any, form: Any, commit: bool = True) -> Any:
        user.name = form.cleaned_data.get("name", "")
        return super().save_user(request, user, form, commit)

    def post_login(self, request: HttpRequest, user: User, *, signup: bool, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, signup=signup, **kwargs)
        if signup and INVITATION_IN_SESSION in request.session:
            response = join_project(request, user)
        remember_device(request, response, user.email)
        return response

    def login(self, request: HttpRequest, user: User) -> None:
        super().login(request, user)
        request.session[SIGNED_IN_AT] = timezone.now().timestamp()
        log_security("sign_in", user)

    def logout(self, request: HttpRequest) -> None:
        user = request.user if isinstance(request.user, User) else None
        super().logout(request)
        log_security("sign_out", user)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Queue a mail of allauth, so that no request depends on a mail server."""
        site = get_current_site(allauth_context.request)
        message = self.render_mail(template_prefix, email, {"email": email, "current_site": site, **context})
        post_account_mail(
            user=context.get("user"), to=email, subject=str(message.subject), body=str(message.body)
        )

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count a wrong password before the check, so that no concurrent attempt escapes the limit."""
        if not count_attempt(guess_counters(request, str(credentials.get("email", "")))):
            log_security("sign_in.too_many", None)
            raise self.validation_error("too_many_login_attempts")

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        user: User | None = super().authenticate(request, **credentials)
        if user is None:  # not the input: it may be a password in the wrong field
            typed = str(credentials.get("email", "")).lower()
            log_security("sign_in.refused", User.objects.filter(email=typed).first())
        else:
            take_back(guess_counters(request, str(credentials.get("email", ""))))
        return user


def join_project(request: HttpRequest, user: User) -> HttpResponse:
    """Accept the session's invitation and redirect to its project, or show why it cannot be accepted."""
    request.session.pop(ADDRESS_IN_SESSION, None)
    try:
        membership = accept_invitation(token=request.session.pop(INVITATION_IN_SESSION, ""), user=user)
    except InvitationUnusableError as error:
        messages.error(request, error.message)
        return redirect("projects")
    return redirect("project", membership.project.slug)
