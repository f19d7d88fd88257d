"""Reads the OpenID Connect providers for sign-in. The start contacts none of them."""

import os
import re
from typing import Any
from urllib.parse import urlsplit

from concord.environment import SettingError, read

SHORT = "CONCORD_SSO"
THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}


def single_sign_on() -> dict[str, Any]:
    return {"openid_connect": {"APPS": [_provider(each.strip()) for each in read("list", SHORT, [])]}}


def single_sign_on_accounts() -> str:
    """Return the group with automatic accounts on first sign-in: "invited" people, or "anyone"."""
    whose: str = read("str", "CONCORD_SSO_ACCOUNTS", "invited")
    if whose not in ("invited", "anyone"):
        raise SettingError("CONCORD_SSO_ACCOUNTS", f"is {whose!r}", "Write invited or anyone.")
    return whose


def _provider(name: str) -> dict[str, Any]:
    if not re.fullmatch(r"[a-z][a-z0-9]*", name) or name == "accounts":
        cure = "Write names of small letters and digits with commas between them, such as university,lab2."
        raise SettingError(SHORT, f"names a provider {name!r}", cure)
    url = _required(name, "URL", "Write its address, such as https://login.example.org/realms/main.")
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in THIS_MACHINE):
        raise SettingError(f"{SHORT}_{name.upper()}_URL", f"is {url!r}, which is not https://", "Use HTTPS.")
    return {
        "provider_id": name,
        "name": _required(name, "NAME", "Write what the button on the sign-in page calls it."),
        "client_id": _required(name, "CLIENT", "Write the client id that the provider has for Concord."),
        "secret": _required(name, "SECRET", "Write the client secret that the provider shows."),
        "settings": {"server_url": url, "oauth_pkce_enabled": True},
    }


def _required(name: str, part: str, cure: str) -> str:
    variable = f"{SHORT}_{name.upper()}_{part}"
    value = os.environ.get(variable, "").strip()
    if not value:
        raise SettingError(variable, f"is missing, as {SHORT} names {name!r}", cure)
    return value
