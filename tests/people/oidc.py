"""A small provider of OpenID Connect inside the test: discovery, sign-in, tokens, claims and keys by HTTP."""

import base64
import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

CLIENT, SECRET = "concord", "the client's secret"


@dataclass
class Provider:
    """Who signs in there next, what is wrong with its answers, and what it was asked."""

    url: str
    claims: dict[str, Any] = field(default_factory=dict)
    id_token: dict[str, Any] = field(default_factory=dict)  # claims that differ in the token
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    signing_key: ec.EllipticCurvePrivateKey | None = None  # another than it shows
    status: int = 200
    asked: list[str] = field(default_factory=list)
    asks_again: bool = True  # for the password, where it is told to
    password_at: int = field(default_factory=lambda: int(time.time()))
    challenges: dict[str, str] = field(default_factory=dict)  # by code

    @property
    def setting(self) -> dict[str, Any]:
        """What allauth is told of it."""
        app = {"provider_id": "university", "name": "University", "client_id": CLIENT, "secret": SECRET}
        app["settings"] = {"server_url": self.url, "oauth_pkce_enabled": True}  # type: ignore[assignment]
        return {"openid_connect": {"APPS": [app]}}

    def answer(self, path: str) -> dict[str, Any]:
        return {
            "/.well-known/openid-configuration": self.configuration,
            "/keys": self.keys,
            "/claims": lambda: self.claims,
        }[path]()

    def configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/claims",
            "jwks_uri": f"{self.url}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def keys(self) -> dict[str, Any]:
        shown = jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [{**shown, "kid": "first", "alg": "ES256", "use": "sig"}]}

    def authorize(self, location: str) -> dict[str, str]:
        """Let the person of the claims sign in; return with what the browser comes back."""
        asked = dict(parse_qsl(urlsplit(location).query))
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert set(asked["scope"].split()) == {"openid", "profile", "email"}
        assert asked["code_challenge_method"] == "S256"
        if self.asks_again and (asked.get("prompt"), asked.get("max_age")) == ("login", "0"):
            self.password_at = int(time.time())
        code = f"code{len(self.challenges)}"
        self.challenges[code] = asked["code_challenge"]
        return {"code": code, "state": asked["state"]}

    def token(self, sent: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Exchange a code, once, for who has the secret and began with its challenge."""
        challenge = self.challenges.pop(sent.get("code", ""), None)
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        given = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if (sent.get("client_id"), sent.get("client_secret"), given) != (CLIENT, SECRET, challenge):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60, "auth_time": self.password_at}
        claims |= {**self.claims, **self.id_token}
        signed = jwt.encode(claims, self.signing_key or self.key, "ES256", headers={"kid": "first"})
        return 200, {"access_token": "access", "token_type": "Bearer", "id_token": signed}


@contextmanager
def providing() -> Iterator[Provider]:
    """Run a provider on a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.asked.append(self.path)
            if self.path.startswith("/authorize?"):
                self._send_back(dict(parse_qsl(urlsplit(self.path).query))["redirect_uri"])
            else:
                self._send(provider.status, provider.answer(self.path))

        def do_POST(self) -> None:
            provider.asked.append(self.path)
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._send(*provider.token(dict(parse_qsl(body))))

        def _send_back(self, to: str) -> None:
            self.send_response(302)
            self.send_header("Location", f"{to}?{urlencode(provider.authorize(self.path))}")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _send(self, status: int, answer: dict[str, Any]) -> None:
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = Provider(f"http://localhost:{server.server_port}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
