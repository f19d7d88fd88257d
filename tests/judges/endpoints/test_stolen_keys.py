"""An admin of one project tries to get at others' keys, and at servers that only Concord reaches."""

import io
import json
import logging
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client as Browser

from annotate.core.models import AuditEntry
from annotate.core.outbound import PermittedHost
from judges.core.models import Endpoint, EndpointKey
from judges.endpoints.client import Client
from judges.endpoints.commands import enter_key, try_endpoint
from judges.endpoints.connections import ENDPOINT_GUARD, is_listed
from judges.endpoints.dialects.chat_completions import OpenAIBatches
from judges.endpoints.failures import RequestFailed
from judges.endpoints.keys import UnreadableKeyError, decrypt
from judges.endpoints.questions import Server
from tests.api.client import ApiClient
from tests.certificates import make_certificate
from tests.factories import PASSWORD, make_project
from tests.judges.endpoints.test_client import ask, failure
from tests.judges.factories import make_endpoint, make_permit
from tests.judges.pages import address, text_of
from tests.judges.provider import providing

pytestmark = pytest.mark.django_db

KEY = "sk-planted-4f1d9c7a2b"
HUB_TOKEN = "hf_planted9c7a2b4f1d"
OPENAI = "https://api.openai.com/v1"
FORM = {"name": "Own server", "calls_in_flight": "4", "timeout_seconds": "5"}
GENERIC = "No OpenAI-compatible server answers at"


@pytest.fixture
def cast(client, monkeypatch, settings):
    """An installation with keys of its own, and the admin of one of its projects."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("HF_TOKEN", HUB_TOKEN)
    settings.ENVIRONMENT_KEYS = (make_permit("OPENAI_API_KEY", OPENAI),)
    cast = make_project()
    client.force_login(cast.admin)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})  # counts for the next minutes
    return cast


def save(client, cast, endpoint=None, **fields):
    path = f"endpoints/{endpoint.pk}/" if endpoint else "endpoints/new/"
    return client.post(address(cast, path), {**FORM, **fields})


def problem(endpoint):
    return try_endpoint(endpoint=endpoint, model="m", message="Hello").problem


# The installation's keys


@pytest.mark.parametrize(
    ("variable", "says"),
    [
        ("OPENAI_API_KEY", "This project may not send OPENAI_API_KEY to 127.0.0.1"),
        ("HF_TOKEN", "must be that of a variable and end in _API_KEY"),
    ],
)
def test_a_variable_of_the_installation_does_not_go_to_ones_own_server(
    client, cast, provider, variable, says
):
    refused = save(client, cast, base_url=provider.base_url, key_variable=variable)
    assert refused.status_code == 422
    assert says in text_of(refused)
    program = ApiClient(cast.admin)
    body = {"name": "x", "base_url": provider.base_url, "calls_in_flight": 4, "timeout_seconds": 5}
    answer = program.post(f"projects/{cast.project.slug}/endpoints/", {**body, "key_variable": variable})
    assert answer.json()["fields"].keys() == {"key_variable"}
    assert not Endpoint.objects.exists()


def test_a_variable_that_was_saved_before_it_was_forbidden_is_not_sent(client, cast, provider):
    endpoint = make_endpoint(cast.project, provider.base_url, key_variable="OPENAI_API_KEY")
    assert "may not send OPENAI_API_KEY to 127.0.0.1" in problem(endpoint)
    assert provider.keys == []


def test_a_variable_goes_to_the_projects_that_are_listed(cast, provider, settings):
    listed = make_project().project
    settings.ENVIRONMENT_KEYS = (make_permit("OPENAI_API_KEY", provider.base_url, listed),)
    assert not problem(make_endpoint(listed, provider.base_url, key_variable="OPENAI_API_KEY"))
    other = make_endpoint(cast.project, provider.base_url, key_variable="OPENAI_API_KEY")
    assert "This project may not send OPENAI_API_KEY to 127.0.0.1" in problem(other)
    assert provider.keys == [KEY]


def test_environment_variables_of_the_openai_package_stay_unused(cast, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-another-lab")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-another-lab")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-admin-planted")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer planted\nX-Lab: planted")
    with recording() as (url, heard):
        assert GENERIC in problem(make_endpoint(cast.project, url))
    (headers,) = heard
    assert headers["authorization"] == "Bearer none"
    assert not [name for name in headers if name.startswith(("openai-", "x-"))]
    assert "planted" not in str(headers)


# Keys of other projects, and of other servers


def test_a_key_goes_to_the_server_that_it_was_entered_for_only(client, cast, provider):
    save(client, cast, base_url=provider.base_url, key=KEY)
    endpoint = Endpoint.objects.get()
    assert not problem(endpoint)
    assert provider.keys == [KEY]
    with providing() as elsewhere:
        assert save(client, cast, endpoint, base_url=elsewhere.base_url).status_code == 302
        endpoint.refresh_from_db()
        assert "The key was entered for http://127.0.0.1:" in problem(endpoint)
        page = text_of(client.get(address(cast, f"endpoints/{endpoint.pk}/")))
        assert "Enter it again." in page
        assert elsewhere.keys == []
        save(client, cast, endpoint, base_url=elsewhere.base_url, key="another-key-for-elsewhere")
        assert not problem(endpoint)
        assert elsewhere.keys == ["another-key-for-elsewhere"]
    assert provider.keys == [KEY]


def test_a_key_of_another_project_is_neither_used_nor_found(client, cast, provider):
    theirs = make_endpoint(make_project().project, provider.base_url)
    enter_key(endpoint=theirs, key=KEY, by=None)
    mine = make_endpoint(cast.project, provider.base_url)
    assert not problem(mine)
    assert provider.keys == ["none"]
    assert client.get(address(cast, f"endpoints/{theirs.pk}/")).status_code == 404
    assert client.post(address(cast, f"endpoints/{theirs.pk}/key/remove/")).status_code == 404
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/endpoints/{theirs.pk}/key/"
    statuses = [program.get(home), program.put(home, {"key": "x"}), program.send("DELETE", home)]
    assert [each.status_code for each in statuses] == [404, 404, 404]
    assert EndpointKey.objects.get().endpoint == theirs


def test_row_copied_to_another_endpoint_is_rejected(cast, provider):
    theirs = make_endpoint(make_project().project, provider.base_url)
    entered = enter_key(endpoint=theirs, key=KEY, by=None)
    mine = make_endpoint(cast.project, provider.base_url)
    EndpointKey.objects.create(
        endpoint=mine, origin=entered.origin, encrypted=entered.encrypted, entered_at=entered.entered_at
    )
    assert "Enter it again" in problem(mine)
    assert provider.keys == []


def test_a_redirect_is_not_followed_and_carries_no_key(cast, provider):
    with redirecting(f"{provider.base_url}/chat/completions") as url:
        endpoint = make_endpoint(cast.project, url)
        enter_key(endpoint=endpoint, key=KEY, by=None)
        assert GENERIC in problem(endpoint)
    assert provider.keys == []


# Concord's own network


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://127.0.0.1:5432/v1",
            "https://10.0.0.7/v1",
            "https://169.254.169.254/latest",
            "https://[::1]/v1",
        ),
        *("https://localhost/v1", "https://[::ffff:10.0.0.1]/v1", "http://93.184.215.14/v1"),
    ],
)
def test_url_of_a_private_network_is_rejected_by_page_and_api(client, cast, settings, url):
    settings.LOCAL_ENDPOINTS = (PermittedHost("127.0.0.1", 8090),)
    assert save(client, cast, base_url=url).status_code == 422
    body = {"name": "x", "base_url": url, "calls_in_flight": 4, "timeout_seconds": 5}
    answer = ApiClient(cast.admin).post(f"projects/{cast.project.slug}/endpoints/", body)
    assert answer.json()["fields"].keys() == {"base_url"}
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize("host", ["127.0.0.1", "2130706433", "localhost.", "0x7f.1"])
def test_url_is_checked_again_at_each_call_and_behind_a_host_name(cast, provider, settings, host):
    """The system's resolver takes the number and the hexadecimal form for 127.0.0.1, as it would any name."""
    url = provider.base_url.replace("127.0.0.1", host).replace("http:", "https:")
    endpoint = make_endpoint(cast.project, url)
    enter_key(endpoint=endpoint, key=KEY, by=None)
    settings.LOCAL_ENDPOINTS = ()
    assert "is a private host" in problem(endpoint)
    assert provider.keys == []


def test_client_created_outside_these_pages_is_guarded_too(provider, settings):
    settings.LOCAL_ENDPOINTS = ()
    error = failure(provider.base_url)
    assert (error.fatal_for_run, provider.keys) == (True, [])
    assert "CONCORD_LOCAL_ENDPOINTS" in error.sentence


def test_a_name_that_the_operator_lists_may_lead_to_this_machine(cast, provider, settings):
    port = int(provider.base_url.split(":")[2].removesuffix("/v1"))
    settings.LOCAL_ENDPOINTS = (PermittedHost("localhost", port),)
    assert not problem(make_endpoint(cast.project, f"http://localhost:{port}/v1"))
    assert provider.keys == ["none"]


def test_a_line_in_the_operator_s_file_permits_a_server_at_once(
    client, cast, provider, settings, tmp_path, monkeypatch
):
    settings.LOCAL_ENDPOINTS, file = (), tmp_path / "its folder" / "local-endpoints"
    file.parent.mkdir()
    settings.LOCAL_ENDPOINTS_FILE = str(file)
    host = provider.base_url.split("/")[2]
    refused = save(client, cast, base_url=provider.base_url)
    assert refused.status_code == 422
    line = f"echo {host} >> '{file}'"
    assert line in text_of(refused)
    subprocess.run(line, shell=True, check=True)
    assert save(client, cast, base_url=provider.base_url).status_code == 302
    assert not problem(Endpoint.objects.get())
    file.unlink()
    assert "is a private host" in problem(Endpoint.objects.get())


@pytest.mark.parametrize("line", ["127.0.0.1:*", "127.0.0.1", "127.0.0.1:1, 127.0.0.1:8090", "\udcff", ""])
def test_lines_that_name_no_single_port_permit_nothing(settings, tmp_path, line):
    settings.LOCAL_ENDPOINTS = ()
    settings.LOCAL_ENDPOINTS_FILE = str(tmp_path / "local-endpoints")
    Path(settings.LOCAL_ENDPOINTS_FILE).write_text(f"{line}\n[::1]:8091\n", errors="surrogateescape")
    assert not is_listed("127.0.0.1", 8090)
    assert is_listed("::1", 8091)


def test_without_a_file_nothing_but_the_setting_permits(settings, tmp_path):
    settings.LOCAL_ENDPOINTS = ()
    settings.LOCAL_ENDPOINTS_FILE = ""
    assert not is_listed("127.0.0.1", 8090)
    settings.LOCAL_ENDPOINTS_FILE = str(tmp_path)  # a folder
    assert not is_listed("127.0.0.1", 8090)


def test_the_line_to_copy_is_one_argument_of_a_shell(settings):
    settings.LOCAL_ENDPOINTS, settings.LOCAL_ENDPOINTS_FILE = (), "/data/local-endpoints"
    sentence = ENDPOINT_GUARD.problem_of("http://$(id).localhost:80/v1")
    assert sentence.endswith("echo '$(id).localhost:80' >> /data/local-endpoints")


def test_concord_itself_is_no_endpoint(client, cast, settings):
    settings.ALLOWED_HOSTS = ["concord.example.org", ".labs.example.org", "testserver"]
    for host in ("concord.example.org", "CONCORD.example.org.", "a.labs.example.org"):
        refused = save(client, cast, base_url=f"https://{host}/v1", key=KEY)
        assert refused.status_code == 422
        assert "is Concord's own host" in text_of(refused)
    endpoint = make_endpoint(cast.project, "https://concord.example.org/v1")
    assert "is Concord's own host" in problem(endpoint)
    assert not EndpointKey.objects.exists()


@pytest.mark.parametrize(
    "says",
    [
        b"AMQP\x00\x00\x09\x01",
        b"-ERR unknown command\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 6\r\n\r\nsecret",
        b'HTTP/1.1 500 No\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\r\n{"error":"secret"}',
        b'HTTP/1.1 404 No\r\nContent-Length: 20\r\n\r\n{"message":"secret"}',
        b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n{"status":"secret"}',
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 90000\r\n\r\n" + b"[" * 90000,
        b"",
    ],
)
def test_any_port_protocol_gives_one_message(client, cast, says):
    with saying(says) as port:
        endpoint = make_endpoint(cast.project, f"http://127.0.0.1:{port}/v1")
        sent = {"model": "m", "message": "Hello"}
        shown = text_of(client.post(address(cast, f"endpoints/{endpoint.pk}/test/"), sent))
    sentence = (
        f"No OpenAI-compatible server answers at http://127.0.0.1:{port}/v1; check that it runs, "
        "and the address, which often ends in /v1."
    )
    assert sentence in shown
    assert not [word for word in ("secret", "unknown command", "OpenSSH", "AMQP") if word in shown]


@pytest.mark.parametrize("kind", [Client, OpenAIBatches])
def test_certificate_must_match_the_name_despite_a_checked_ip(kind, tmp_path, monkeypatch, settings):
    with encrypted(tmp_path) as (port, heard):
        settings.LOCAL_ENDPOINTS = (PermittedHost("localhost", port), PermittedHost("127.0.0.1", port))
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        with pytest.raises(RequestFailed):
            ask_with(kind, f"https://127.0.0.1:{port}/v1")
        assert heard == []
        with pytest.raises(RequestFailed):  # what answers is no such server
            ask_with(kind, f"https://localhost:{port}/v1")
    assert heard == [("localhost", f"localhost:{port}", f"Bearer {KEY}")]


def test_the_batch_interface_is_guarded_too(settings):
    with recording() as (url, heard):
        settings.LOCAL_ENDPOINTS = ()
        with pytest.raises(RequestFailed, match="is a private host"):
            ask_with(OpenAIBatches, url)
    assert heard == []


# What is kept and shown


def test_key_is_encrypted_and_only_its_end_is_visible(client, cast):
    with pytest.raises(UnreadableKeyError):
        decrypt(KEY, endpoint=1, origin=OPENAI)
    save(client, cast, base_url=OPENAI, key=KEY)
    entered = EndpointKey.objects.get()
    assert (entered.origin, entered.ends_with, entered.entered_by) == (
        "https://api.openai.com",
        "7a2b",
        cast.admin,
    )
    assert KEY not in entered.encrypted
    assert decrypt(entered.encrypted, endpoint=entered.endpoint_id, origin=entered.origin) == KEY
    page = client.get(address(cast, f"endpoints/{entered.endpoint_id}/"))
    assert "A key that ends in …7a2b is stored for https://api.openai.com." in text_of(page)
    assert KEY not in page.content.decode()


def test_no_answer_log_or_audit_entry_repeats_a_key(client, cast, caplog):
    caplog.set_level(logging.DEBUG)
    pages = [
        save(client, cast, base_url=OPENAI, key=KEY, name=""),  # an invalid form with the key in it
        save(client, cast, base_url=OPENAI, key=f"{KEY} {KEY}"),
        save(client, cast, base_url=OPENAI, key=KEY, key_variable="OPENAI_API_KEY"),
    ]
    assert [page.status_code for page in pages] == [422, 422, 422]
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/endpoints/"
    body = {"name": "x", "base_url": OPENAI, "calls_in_flight": 4, "timeout_seconds": 5}
    made = program.post(home, {**body, "key": KEY}, key="once")
    again = program.post(home, {**body, "key": KEY}, key="once")
    path = f"{home}{made.json()['id']}/"
    answers = [made, again, program.get(home), program.get(path), program.put(path, body)]
    answers += [program.put(f"{path}key/", {"key": KEY}), program.get(f"{path}key/")]
    answers += [
        program.put(f"{path}key/", {"key": f"{KEY} {KEY}"}),
        program.post(home, {**body, "key": [KEY]}),
    ]
    assert [each.status_code for each in answers] == [201, 201, 200, 200, 200, 200, 200, 422, 422]
    assert answers[4].json()["has_key"] is True
    assert answers[6].json()["ends_with"] == "7a2b"
    pages.append(client.get(f"/projects/{cast.project.slug}/audit/"))
    told = "".join(each.content.decode() for each in [*pages, *answers])
    acts = list(AuditEntry.objects.filter(act__startswith="endpoint.key").order_by("pk"))
    assert [(each.act, each.actor, each.after) for each in acts] == [
        ("endpoint.key_entered", cast.admin, {"server": "https://api.openai.com"})
    ] * 2
    assert KEY not in told + caplog.text + str(list(AuditEntry.objects.values()))
    assert program.send("DELETE", f"{path}key/").status_code == 204
    assert program.get(f"{path}key/").status_code == 404
    removed = AuditEntry.objects.latest("pk")
    assert (removed.act, removed.before) == ("endpoint.key_removed", {"server": "https://api.openai.com"})


def test_an_admin_removes_a_key_and_a_researcher_does_not_hear_of_it(client, cast, provider):
    endpoint = make_endpoint(cast.project, provider.base_url)
    enter_key(endpoint=endpoint, key=KEY, by=cast.admin)
    home = f"projects/{cast.project.slug}/endpoints/{endpoint.pk}/key/"
    researcher = ApiClient(cast.researcher)
    assert [researcher.get(home).status_code, researcher.put(home, {"key": "x"}).status_code] == [404, 404]
    stranger = Browser()  # at the open computer of an admin
    stranger.force_login(cast.admin)
    asked = stranger.post(address(cast, f"endpoints/{endpoint.pk}/key/remove/"))["Location"]
    assert asked.startswith("/accounts/reauthenticate/")
    assert EndpointKey.objects.exists()
    stranger.post(asked, {"password": PASSWORD})
    assert not EndpointKey.objects.exists()
    assert not problem(endpoint)
    assert provider.keys == ["none"]


# Other secrets


def test_keys_are_encrypted_again_when_the_secret_changes(cast, provider, settings):
    old, new = "old-secret-" * 4, "new-secret-" * 4
    settings.KEY_ENCRYPTION = (old,)
    endpoint = make_endpoint(cast.project, provider.base_url)
    enter_key(endpoint=endpoint, key=KEY, by=None)
    settings.KEY_ENCRYPTION = (new,)
    assert "encrypted with another secret of this installation" in problem(endpoint)
    with pytest.raises(CommandError, match="1 keys cannot be read with any secret"):
        call_command("reencrypt_keys", stdout=io.StringIO())
    settings.KEY_ENCRYPTION = (new, old)
    said = io.StringIO()
    call_command("reencrypt_keys", stdout=said)
    assert said.getvalue() == "1 keys are encrypted with the first secret.\n"
    settings.KEY_ENCRYPTION = (new,)
    assert not problem(endpoint)
    assert provider.keys == [KEY]


def test_separate_secret_can_replace_the_secret_key(cast, provider, settings):
    endpoint = make_endpoint(cast.project, provider.base_url)
    enter_key(endpoint=endpoint, key=KEY, by=None)
    settings.KEY_ENCRYPTION = ("new-secret-" * 4,)
    call_command("reencrypt_keys", stdout=io.StringIO())
    settings.SECRET_KEY = "another-secret-key"
    assert not problem(endpoint)
    assert provider.keys == [KEY]


def ask_with(kind, url):
    server = Server(url, KEY, 5, 1)
    if kind is OpenAIBatches:
        with closing(OpenAIBatches(server)) as client:
            client.create("file-1", "token", "m")
    else:
        ask(url, KEY)


# Servers that are none


@contextmanager
def encrypted(folder) -> Iterator[tuple[int, list[tuple[str, str, str]]]]:
    """Serve HTTPS with a certificate for localhost; give the port, and the names, hosts and keys it heard."""
    certificate, key, heard, names = folder / "certificate.pem", folder / "key.pem", [], []
    make_certificate("localhost", certificate, key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.sni_callback = lambda _socket, asked, _context: names.append(asked)

    def handle(request) -> None:
        heard.append((names[-1], request.headers["Host"], request.headers["Authorization"]))
        request.send_response(500)
        request.end_headers()

    with serving(handle, context) as url:
        yield int(url.split(":")[2].removesuffix("/v1")), heard


@contextmanager
def saying(what: bytes) -> Iterator[int]:
    """Answer every connection with the same bytes, whatever it asks, and close it; give the port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            while True:
                try:
                    taken, _ = listening.accept()
                except OSError:
                    return
                with taken:
                    taken.recv(65536)
                    taken.sendall(what)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(5)


@contextmanager
def serving(handle, context=None) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            handle(self)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # who does not trust it hangs up
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


@contextmanager
def redirecting(to: str) -> Iterator[str]:
    def handle(request) -> None:
        request.send_response(307)
        request.send_header("Location", to)
        request.end_headers()

    with serving(handle) as url:
        yield url


@contextmanager
def recording() -> Iterator[tuple[str, list[dict[str, str]]]]:
    heard = []

    def handle(request) -> None:
        heard.append({name.lower(): value for name, value in request.headers.items()})
        content = json.dumps({"error": "no"}).encode()
        request.send_response(500)
        request.end_headers()
        request.wfile.write(content)

    with serving(handle) as url:
        yield url, heard
