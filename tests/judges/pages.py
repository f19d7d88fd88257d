"""Asking for pages of judges, and reading what they say."""

import csv
import re
from html import unescape
from io import StringIO

from django.http import QueryDict

HTMX = {"HX-Request": "true"}


def text_of(response):
    """Return what a page says, without its tags and with single blanks."""
    main = re.split(r"</?main[^>]*>", response.content.decode())
    plain = unescape(re.sub(r"<[^>]*>", " ", main[1] if len(main) > 1 else main[0]))
    return re.sub(r"\s+([.,;:])", r"\1", re.sub(r"\s+", " ", plain)).strip()


def text_of_tabs(client, url, query=None):
    """Return what a page of results shows, with the tables of all its tabs."""
    return " ".join(text_of(each) for each in answers_of_tabs(client, url, query))


def answers_of_tabs(client, url, query=None):
    """Return the answers of a page of results: as it opens, then with each of its tabs open."""
    first = client.get(url, query, follow=True)
    path, _, asked = (first.redirect_chain[-1][0] if first.redirect_chain else url).partition("?")
    query = {**QueryDict(asked).dict(), **(query or {})}
    keys = dict.fromkeys(re.findall(r'href="\?(?:[^"]*&amp;)?table=([\w-]+)', first.content.decode()))
    return [first, *(client.get(path, {**query, "table": key}) for key in keys)]


def html_of(response):
    """Return a page's HTML with its forms' tokens made equal, which are another each time."""
    html = response.content.decode().strip()
    return re.sub(r'(csrf\w+" value="|X-CSRFToken": ")\w+', r"\1", html)


def address(cast, path=""):
    """Return the address of a page of a project's judges."""
    return f"/projects/{cast.project.slug}/judges/{path}"


def file_of(client, cast, page, key):
    """Return the rows of a table's CSV by the address that a page gives, next to LaTeX."""
    found = re.findall(rf'href="([^"]*/{key}\.(csv|tex)[^"]*)"', page)
    urls = {format: unescape(url) for url, format in found}
    assert rf"\label{{tab:{key}}}" in client.get(urls["tex"]).content.decode()
    return list(csv.DictReader(StringIO(client.get(urls["csv"]).content.decode())))
