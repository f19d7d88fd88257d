"""The image in the demonstration's guidelines: five bars that grow from left to right."""

import struct
import zlib

_WIDTH, _HEIGHT, _BARS = 200, 60, 5
_PAPER, _BAR = b"\xf6\xf4\xef", b"\x1f\x5f\x80"


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _row(y: int) -> bytes:
    """Return a row of pixels after its filter byte; each bar is as high as its number."""
    bars = [(x * _BARS // _WIDTH + 1, x % (_WIDTH // _BARS)) for x in range(_WIDTH)]
    inside = (4 <= at < 36 and _HEIGHT - y <= bar * _HEIGHT // _BARS for bar, at in bars)
    return b"\x00" + b"".join(_BAR if each else _PAPER for each in inside)


def _draw() -> bytes:
    head = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(map(_row, range(_HEIGHT))), 9)
    chunks = _chunk(b"IHDR", head), _chunk(b"IDAT", pixels), _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


SCALE_PICTURE = _draw()
