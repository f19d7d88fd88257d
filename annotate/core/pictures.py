"""Files that a browser shows as pictures and that cannot run anything, recognised by their first bytes."""

import hashlib
import re

CONTENT_TYPES = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}
KEY = r"[0-9a-f]{16}\.(?:png|jpg|gif|webp)"
LARGEST = 2 * 1024 * 1024

_IN_MARKDOWN = re.compile(rf"\(\s*<?image:({KEY})")


def key_of(content: bytes) -> str | None:
    """Return the key under which a picture is kept, None for what is not one of the four formats."""
    ending = _ending(content)
    return f"{hashlib.sha256(content).hexdigest()[:16]}.{ending}" if ending else None


def content_type(key: str) -> str:
    """Return the content type of a kept picture."""
    return CONTENT_TYPES[key.rpartition(".")[2]]


def keys_in(*texts: str) -> list[str]:
    """Return the keys of the pictures that Markdown texts show, each once, in their order."""
    return list(dict.fromkeys(key for text in texts for key in _IN_MARKDOWN.findall(text)))


def _ending(content: bytes) -> str | None:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if content.startswith(b"\xff\xd8\xff"):
        return "jpg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    return "webp" if content[:4] == b"RIFF" and content[8:12] == b"WEBP" else None
