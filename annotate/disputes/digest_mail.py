"""The digest of disputes as a message, and the link that ends it."""

from django.core.signing import Signer
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.core.access import DIGEST
from annotate.core.mails import send_mail
from annotate.core.models import User
from annotate.disputes.queries.digests import NeedingDispute

LISTED = 30  # disputes of which a message holds the links


def digest_token(user: User) -> str:
    """Return the part of the link that ends this person's digests, which only this installation can make."""
    return Signer(salt=DIGEST).sign(str(user.pk))


def send_digest_message(user: User, needing: list[NeedingDispute], address: str) -> None:
    """Send what is new, with links below the address; call it outside any transaction. Raises MailError."""
    stop = f"{address}{reverse('digest_stop', args=[digest_token(user)])}"
    new = [each for each in needing if each.is_new]
    subject = ngettext("%(count)s dispute needs you", "%(count)s disputes need you", len(needing))
    send_mail(
        to=user.email,
        subject=f"Concord: {subject % {'count': len(needing)}}",
        body="\n".join(
            [
                _("New since the last message:"),
                "",
                *(line for each in new[:LISTED] for line in _lines(each, address)),
                *([_("and %(count)s more.") % {"count": len(new) - LISTED}, ""] if new[LISTED:] else []),
                _("No more of these messages:"),
                stop,
                "",
            ]
        ),
        headers={"List-Unsubscribe": f"<{stop}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"},
    )


def _lines(dispute: NeedingDispute, address: str) -> list[str]:
    named = {"project": dispute.project, "number": dispute.number, "dimension": dispute.dimension}
    return [
        _("%(project)s: dispute %(number)s, %(dimension)s") % named,
        f"{address}{reverse('dispute', args=[dispute.slug, dispute.number])}",
        "",
    ]
