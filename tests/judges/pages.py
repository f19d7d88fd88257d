"""Asking for pages of judges, and reading what they say."""

import csv
import re
from html import unescape
from io import StringIO

HTMX = {"HX-Request": "true"}


def text_of(response):
    """Return what a page says, without its tags and with single blanks."""
    main = re.split(r"</?main[^>]*>", response.content.decode())
    plain = unescape(re.sub(r"<[^>]*>", " ", main[1] if len(main) > 1 else main[0]))
    return re.sub(r"\s+([.,;:])", r"\1", re.sub(r"\s+", " ", plain)).strip()


def html_of(response):
    """Return a page's HTML with its forms' tokens made equal, which are another each time."""
    html = response.content.decode().strip()
    return re.sub(r'(csrf\w+" value="|X-CSRFToken": ")\w+', r"\1", html)


def address(cast, path=""):
    """Return the address of a page of a project's judges."""
    return f"/projects/{cast.project.slug}/judges/{path}"


def file_of(client, cast, page, key):
    """Return the rows of a table's CSV by the address that a page gives, beside Markdown and LaTeX."""
    found = dict(re.findall(rf'href="([^"]*/{key}\.(csv|md|tex)[^"]*)"', page))
    csv_address, _markdown, latex = (unescape(each) for each in found)
    assert rf"\label{{tab:{key}}}" in client.get(latex).content.decode()
    return list(csv.DictReader(StringIO(client.get(csv_address).content.decode())))
