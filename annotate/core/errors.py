"""What a person must learn that went wrong: a code, one sentence, and the fields it is about."""

from django.utils.translation import gettext_noop


class DomainError(Exception):
    """A refusal with a code for programs and a sentence for people; nothing was changed."""

    code = "refused"
    status = 422

    def __init__(self, message: str, *, fields: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields or {}


class UndefinedResultError(DomainError):
    """A result lacks what it is computed from; the message names it."""

    code = "undefined_result"


class InvalidValueError(DomainError):
    """A value that the scale, or the form, does not have."""

    code = "invalid_value"


class RoundClosedError(DomainError):
    """The round takes no more ratings."""

    code = "round_closed"
    status = 409


ROUND_ONE_CLOSED = gettext_noop("Round I was closed, so ratings can no longer be changed.")


class DisputeClosedError(DomainError):
    """The dispute was adjudicated or left open."""

    code = "dispute_closed"
    status = 409


class ChangedElsewhereError(DomainError):
    """What a page showed of one's own answer is no longer current."""

    code = "changed_elsewhere"
    status = 409


class NotReadyError(DomainError):
    """A project is not in the state that a step needs."""

    code = "not_ready"
    status = 409


class FrozenError(DomainError):
    """An open round froze what was to be changed."""

    code = "frozen"
    status = 409


class InvitationUnusableError(DomainError):
    """An invitation that was used, withdrawn, forged or has ended."""

    code = "invitation_unusable"
    status = 410


class AddressLinkError(DomainError):
    """A link to prove an address that was forged, used, is too old or another account's."""

    code = "address_link_unusable"
    status = 410


class SingleSignOnError(DomainError):
    """Somebody whom a provider knows, and who gets no account here by that."""

    code = "single_sign_on_refused"
    status = 403


class MailError(DomainError):
    """A message that no mail server took."""

    code = "mail_failed"
    status = 502


class ImportRefusedError(DomainError):
    """A file that cannot be imported as it is."""

    code = "import_refused"


class SignedOutError(DomainError):
    """The session ended while a page was open."""

    code = "signed_out"
    status = 401


class NotYoursError(DomainError):
    """Sent under another person's session than the one that the page was made for."""

    code = "not_yours"
    status = 404


class NotFoundError(DomainError):
    """What does not exist, or is not this person's."""

    code = "not_found"
    status = 404


class MembershipClosedError(DomainError):
    """A person's place in the project was closed while a page was open."""

    code = "membership_closed"
    status = 410


class PlaceGoneError(DomainError):
    """An item that was reserved and not used, and is another rater's now."""

    code = "place_gone"
    status = 410
