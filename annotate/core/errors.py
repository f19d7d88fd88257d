"""Errors for people: a code, a message, and the fields."""

from annotate.core.translation import gettext_noop


class DomainError(Exception):
    """A rejection with a code for programs and a message for people. Nothing was changed."""

    # Programs compare codes, so a code never changes. Messages can.
    code = "refused"
    status = 422

    def __init__(self, message: str, *, fields: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields or {}


class UndefinedResultError(DomainError):
    """An input of a result is missing; the message names it."""

    code = "undefined_result"


class InvalidValueError(DomainError):
    code = "invalid_value"


class RoundClosedError(DomainError):
    code = "round_closed"
    status = 409


ROUND_ONE_CLOSED = gettext_noop("Round I was closed, so ratings can no longer be changed.")


class DisputeClosedError(DomainError):
    """The dispute was adjudicated or left open."""

    code = "dispute_closed"
    status = 409


class ChangedElsewhereError(DomainError):
    """The state that a page showed of the user's answer is no longer current."""

    code = "changed_elsewhere"
    status = 409


class NotReadyError(DomainError):
    """A project is not in the state that a step needs."""

    code = "not_ready"
    status = 409


class FrozenError(DomainError):
    """An open round froze the configuration."""

    code = "frozen"
    status = 409


class InvitationUnusableError(DomainError):
    """An invitation that was used, withdrawn, forged or has ended."""

    code = "invitation_unusable"
    status = 410


class AddressLinkError(DomainError):
    """A link to confirm an e-mail that was forged or used, is too old, or belongs to another account."""

    code = "address_link_unusable"
    status = 410


class SingleSignOnError(DomainError):
    """A user known to a provider who cannot get an account through it."""

    code = "single_sign_on_refused"
    status = 403


class MailError(DomainError):
    """No mail server accepted a message."""

    code = "mail_failed"
    status = 502


class ImportRefusedError(DomainError):
    """A file that cannot be imported unchanged."""

    code = "import_refused"


class SignedOutError(DomainError):
    """The session ended while a page was open."""

    code = "signed_out"
    status = 401


class NotYoursError(DomainError):
    """A request under the session of another person than the page's."""

    code = "not_yours"
    status = 404


class NotFoundError(DomainError):
    """The object does not exist, or does not belong to this person."""

    code = "not_found"
    status = 404


class MembershipClosedError(DomainError):
    """A person's membership in the project was closed while a page was open."""

    code = "membership_closed"
    status = 410


class AssignmentGoneError(DomainError):
    """An item that was reserved, not used, and is now another rater's."""

    # Open pages and programs compare this code, so its spelling is fixed.
    code = "place_gone"
    status = 410
