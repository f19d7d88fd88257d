"""Files that a browser shows as images and that cannot run code, recognised by their first bytes."""

import hashlib
import re

CONTENT_TYPES = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}
KEY = r"[0-9a-f]{16}\.(?:png|jpg|gif|webp)"
LARGEST = 2 * 1024 * 1024

_IN_MARKDOWN = re.compile(rf"\(\s*<?image:({KEY})")


def key_of(content: bytes) -> str | None:
    """Return the key for storing an image, None if it has none of the four formats."""
    ending = _ending(content)
    return f"{hashlib.sha256(content).hexdigest()[:16]}.{ending}" if ending else None


def content_type(key: str) -> str:
    return CONTENT_TYPES[key.rpartition(".")[2]]


def keys_in(*texts: str) -> list[str]:
    """Return the keys of the images in Markdown sources, each once, in order of appearance."""
    return list(dict.fromkeys(key for text in texts for key in _IN_MARKDOWN.findall(text)))


def _ending(content: bytes) -> str | None:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if content.startswith(b"\xff\xd8\xff"):
        return "jpg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    return "webp" if content[:4] == b"RIFF" and content[8:12] == b"WEBP" else None
