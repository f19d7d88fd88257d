"""One POST to an address that anyone may have typed: checked, timed, not redirected, and hardly read."""

import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Event, Timer
from urllib.parse import urlsplit

from django.utils.translation import gettext

from annotate.core.outbound.guard import PrivateAddressError
from annotate.webhooks.addresses import WEBHOOK_GUARD

SILENCE = 10.0  # seconds without a byte
LONGEST = 20.0  # seconds altogether, however steadily it drips
READ = 500  # bytes of an answer


@dataclass(frozen=True)
class DeliveryResponse:
    """What an address said to a delivery: its status and how it begins, or why there is none."""

    status: int | None
    says: str

    @property
    def took_it(self) -> bool:
        """Whether the receiver has the delivery."""
        return self.status is not None and 200 <= self.status < 300


class _Plain(HTTPConnection):
    def connect(self) -> None:
        """Connect to a checked address of the host."""
        self.sock = WEBHOOK_GUARD.connect(self.host, self.port, timeout=SILENCE)


class _Encrypted(HTTPSConnection):
    def connect(self) -> None:
        """Connect to a checked address of the host, whose certificate must be that of its name."""
        plain = WEBHOOK_GUARD.connect(self.host, self.port, timeout=SILENCE)
        self.sock = ssl.create_default_context().wrap_socket(
            plain, server_hostname=self.host, do_handshake_on_connect=False
        )
        self.sock.do_handshake()


def post(url: str, body: str, headers: Mapping[str, str]) -> DeliveryResponse:
    """Send a body to a URL and return what it was answered; never raises, and asks no proxy."""
    parts = urlsplit(url)
    kind = _Encrypted if parts.scheme == "https" else _Plain
    path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    try:
        with closing(kind(parts.hostname or "", parts.port)) as connection, _cut_off(connection):
            connection.request("POST", path, body.encode(), dict(headers))
            reply = connection.getresponse()
            return DeliveryResponse(reply.status, _readable(reply.read(READ)))
    except PrivateAddressError as error:
        return DeliveryResponse(None, str(error))
    except TimeoutError:
        return DeliveryResponse(
            None,
            gettext("There was no whole answer in {least:.0f} to {most:.0f} seconds.").format(
                least=SILENCE, most=LONGEST
            ),
        )
    except ssl.SSLError as error:
        return DeliveryResponse(
            None,
            gettext("No encrypted connection could be made ({error}).").format(error=error.reason or error),
        )
    except (OSError, HTTPException, ValueError) as error:
        return DeliveryResponse(
            None,
            gettext("There was no answer ({kind}: {error}).").format(
                kind=type(error).__name__, error=_readable(str(error).encode())
            ),
        )


@contextmanager
def _cut_off(connection: HTTPConnection) -> Iterator[None]:
    """End what takes LONGEST; raises TimeoutError, whatever came until then."""
    over = Event()

    def cut() -> None:
        over.set()
        with suppress(OSError):  # it may have ended by itself
            if connection.sock:
                # Not the method of an encrypted socket, which a thread that reads from it does not survive.
                socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

    timer = Timer(LONGEST, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if over.is_set():
            raise TimeoutError


def _readable(content: bytes) -> str:
    text = content[:READ].decode("utf-8", "replace")
    return "".join(
        letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
