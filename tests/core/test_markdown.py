"""Markdown of guidelines: rendered, with nothing in it that could run, fetch or turn the page around."""

from importlib.util import find_spec, module_from_spec

import pytest

from annotate.templatetags.markdown import markdown


def test_markdown_is_rendered_below_the_headings_of_the_page() -> None:
    assert markdown("# Title\n\n- **one**") == (
        '<h3 dir="auto">Title</h3>\n<ul dir="auto">\n<li><strong>one</strong></li>\n</ul>\n'
    )


def test_tables_are_rendered() -> None:
    assert '<table dir="auto">' in markdown("| a | b |\n|---|---|\n| 1 | 2 |")


@pytest.mark.parametrize(
    "html", ["<script>alert(1)</script>", '<img src=x onerror="alert(1)">', "a <b>b</b>"]
)
def test_html_appears_as_plain_characters(html: str) -> None:
    rendered = markdown(html)
    assert html.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;") in rendered


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "&#106;avascript:alert(1)",
        "vbscript:x",
        "data:text/html,x",
    ],
)
def test_urls_that_run_code_make_no_link(address: str) -> None:
    assert "<a" not in markdown(f"[click]({address})")
    assert "<a" not in markdown(f"<{address}>")


def test_links_do_not_hand_over_the_page() -> None:
    assert markdown("[paper](https://example.org/?a=1&b=2)") == (
        '<p dir="auto"><a href="https://example.org/?a=1&amp;b=2" rel="noopener noreferrer" target="_blank">'
        "paper</a></p>\n"
    )


def test_a_links_title_stays_in_its_attribute() -> None:
    rendered = markdown("[a](https://example.org 'x\" onclick=\"alert(1)')")
    assert 'title="x&quot; onclick=&quot;alert(1)"' in rendered


@pytest.mark.parametrize(
    "source",
    [
        "https://example.org/pixel.png",
        "/projects/p/images/0123456789abcdef.png",
        "image:../0123456789abcdef.png",
        "image:x.svg",
    ],
)
def test_external_images_are_not_fetched(source: str) -> None:
    rendered = markdown(f"![pixel]({source})", "p")
    assert "<img" not in rendered
    assert ">pixel</a>" in rendered


def test_project_image_appears_in_its_project_alone() -> None:
    text = '![A "scale"](image:0123456789abcdef.png)'
    assert markdown(text, "p") == (
        '<p dir="auto"><img src="/projects/p/images/0123456789abcdef.png" alt="A &quot;scale&quot;" '
        'loading="lazy" /></p>\n'
    )
    assert "<img" not in markdown(text)


def test_every_block_takes_its_own_direction() -> None:
    assert markdown("اقرأ المراجعات\n\nRead the reviews\n\n> اقتباس") == (
        '<p dir="auto">اقرأ المراجعات</p>\n<p dir="auto">Read the reviews</p>\n'
        '<blockquote dir="auto">\n<p>اقتباس</p>\n</blockquote>\n'
    )


def test_rendering_twice_gives_the_same() -> None:
    assert markdown("# a [b](https://example.org)") == markdown("# a [b](https://example.org)")


def test_its_rules_are_compiled_before_threads_share_it() -> None:
    spec = find_spec("annotate.templatetags.markdown")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    fresh = module._markdown
    rulers = (fresh.core.ruler, fresh.block.ruler, fresh.inline.ruler, fresh.inline.ruler2)
    assert [ruler for ruler in rulers if ruler.__cache__ is None] == []
