"""Sources and outputs as Markdown and as chats: visible and removed content, and offsets of the source."""

import json
import re
from html import unescape
from html.parser import HTMLParser

import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from annotate.core.models import TextFormat
from annotate.core.rendering.runs import TextRun, runs_in
from annotate.core.rendering.texts import choose_format, render_text
from annotate.disputes.queries.page import Mark, segments_of
from annotate.templatetags.texts import mark_text

# Pieces of which Markdown consists; their sequences are nested, broken and cut off in every way.
PIECES = [
    *("# ", "## ", "a", "b c", "é\u0301", "😀", " ", "  ", "    ", "\t", "\n", "\n\n", "> ", "- ", "1. "),
    *("===\n", "**", "*", "_", "~~", "`", "``", "```", "```python\n", "x = 1", "[", "]", "(", ")", "!["),
    *("!", "\\", "&", "&amp;", "| ", "|", "---", "\n|---|---|\n", "| a | b \\| c |\n|-|-|\n| d | e |\n"),
    *("$", "$$", "\\(", "\\)", "\\[", "\\]", "\\frac{a}{b}", "<script>", "<http://e.org/%20>"),
    *("http://e.org", "javascript:alert(1)", "[x]: http://e.org\n"),
]
markdown_texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
TAGS = {
    *("p", "ul", "ol", "li", "blockquote", "table", "thead", "tbody", "tr", "th", "td", "em", "strong", "s"),
    *("h3", "h4", "h5", "h6", "span", "a", "code", "pre", "div", "br", "hr", "img", "details", "summary"),
}


class SafetyCheck(HTMLParser):
    """Asserts that HTML is well-formed and holds nothing that runs or that another server would see."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS or tag.startswith("m")
        for name, value in attrs:
            assert name != "style"
            assert not name.startswith("on")
            if name == "href":
                assert (value or "").split(":")[0].lower() in ("http", "https", "mailto")
            if name == "src":
                assert (value or "").startswith("/projects/")
        if tag not in ("br", "hr", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check(source: str, html: str) -> list[TextRun]:
    parser = SafetyCheck()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    runs = runs_in(html)
    for run in runs:
        assert run.is_unit or source[run.start : run.end] == run.text
    ends = [0, *(run.end for run in runs)]
    assert all(end <= run.start for end, run in zip(ends, runs, strict=False))
    return runs


def as_markdown(text: str, **given: str) -> str:
    return render_text(text, TextFormat.MARKDOWN, **given).html


def as_chat(*messages: object) -> tuple[str, str]:
    source = json.dumps(messages)
    return source, render_text(source, TextFormat.CHAT).html


def shown(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


@given(markdown_texts)
def test_runs_of_markdown_are_pieces_of_the_source(text: str) -> None:
    check(text, as_markdown(text, project="p", anchor="part-1"))


@given(markdown_texts, st.booleans())
def test_runs_of_chats_are_pieces_of_the_json(text: str, ascii_only: bool) -> None:
    source = json.dumps([{"role": "user", "content": text}], ensure_ascii=ascii_only)
    rendered = render_text(source, TextFormat.CHAT)
    if rendered.is_rendered:
        check(source, rendered.html)


def test_markup_is_not_shown_and_belongs_to_no_run() -> None:
    text = "# Two 🥾\n\nA **bold** `word` and \\* &lt; [here](https://e.org)"
    runs = check(text, as_markdown(text))
    words = ["Two 🥾", "A ", "bold", " ", "word", " and ", "* ", "&lt;", " ", "here"]
    assert [run.text for run in runs] == words
    assert [text[run.start : run.end] for run in runs if run.is_unit] == ["&lt;"]


def test_tables_lists_and_quotes_keep_their_offsets() -> None:
    text = "> - one\n>   two\n\n| a | b \\| c |\n|---|--:|\n| d | |\n"
    html = as_markdown(text)
    assert [run.text for run in check(text, html)] == ["one\n", "two", "a", "b ", "| c", "d"]
    assert '<th class="align-right">' in html


def test_code_is_highlighted_with_classes() -> None:
    text = '```python\nreturn "ä"\n```'
    html = as_markdown(text)
    assert '<span data-start="10" class="code-k">return</span>' in html
    assert "".join(run.text for run in check(text, html)) == 'return "ä"'


def test_a_formula_is_one_unit_in_mathml() -> None:
    text = "Let $x^2$ and\n\n$$\na\n= b\n$$\n"
    html = as_markdown(text)
    assert '<math display="inline" alttext="x^2"><mrow><msup><mi>x</mi><mn>2</mn></msup>' in html
    units = [text[run.start : run.end] for run in check(text, html) if run.is_unit]
    assert units == ["$x^2$", "$$\na\n= b\n$$"]


def test_invalid_formula_and_prices_appear_unchanged() -> None:
    assert shown(as_markdown("$\\frac$ costs $5 and $6")) == "$\\frac$ costs $5 and $6\n"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        '<img src=x onerror="alert(1)">',
        "[x](javascript:alert(1))",
        "<javascript:alert(1)>",
        "[x](data:text/html,x)",
        "[x](/admin/)",
        "![x](https://evil.example/p.png)",
        "![x](//evil.example/p.png)",
        "![x](data:image/png;base64,AAAA)",
        "![x](image:../0123456789abcdef.png)",
        "$\\text{<img src=x onerror=alert(1)>}$",
        "$\\href{javascript:alert(1)}{x}$ $\\style{color:red}{x}$ $\\class{a}{x}$",
        "```x onload=alert(1)\n<b>\n```",
    ],
)
def test_nothing_runs_and_nothing_is_fetched(text: str) -> None:
    html = as_markdown(text, project="p")
    check(text, html)
    assert "<img" not in html
    assert "<script" not in html


def test_external_image_shows_its_alt_words_and_url() -> None:
    html = as_markdown("![a *chart*](https://evil.example/p.png)", project="p")
    assert shown(html) == "a chart (https://evil.example/p.png)\n"


def test_project_image_appears_in_its_project_alone() -> None:
    text = "![a chart](image:0123456789abcdef.png)"
    assert '<img src="/projects/p/images/0123456789abcdef.png" alt="a chart" loading="lazy">' in as_markdown(
        text, project="p"
    )
    assert "<img" not in as_markdown(text)


def test_turns_calls_and_results_of_a_chat() -> None:
    call = {"type": "function", "function": {"name": "look_up", "arguments": '{"of": "ä"}'}}
    source, html = as_chat(
        {"role": "user", "content": 'A "word"\n**b**'},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "name": "look_up", "content": "*four* stars"},
        {"role": "assistant", "content": [{"type": "text", "text": "Fine."}]},
    )
    check(source, html)
    assert html.count('class="turn ') == 4
    assert "<strong>" in html
    assert (
        '<details class="turn turn-tool"><summary><span class="not-in-source">Tool result · look_up' in html
    )
    for words in ('A "word"\nb', "look_up", '{"of": "ä"}', "*four* stars", "Fine."):
        assert words in shown(html)


def test_characters_that_json_escapes_are_units() -> None:
    source, html = as_chat({"role": "user", "content": "ä😀"})
    units = [source[run.start : run.end] for run in check(source, html) if run.is_unit]
    assert units == ["\\u00e4", "\\ud83d\\ude00"]


def test_an_image_in_a_chat_is_not_fetched() -> None:
    part = {"type": "image_url", "image_url": {"url": "https://evil.example/p.png"}}
    source, html = as_chat({"role": "user", "content": [part]})
    check(source, html)
    assert "<img" not in html
    assert "https://evil.example/p.png" in shown(html)


def test_labels_of_turns_are_translated() -> None:
    with override("de"):
        assert "Nutzer" in as_chat({"role": "user", "content": "a"})[1]


@pytest.mark.parametrize(
    "text", ["", "no JSON", "[]", '["a"]', '[{"role": 1, "content": ""}]', "[" * 100_000]
)
def test_plain_output_is_no_chat(text: str) -> None:
    rendered = render_text(text, TextFormat.CHAT)
    assert not rendered.is_rendered
    assert unescape(rendered.html) == text


def test_ends_of_lines_count_as_one_character() -> None:
    assert [run.start for run in runs_in(as_markdown("a\r\n\r\nb"))] == [0, 3]


def test_an_outline_has_three_headings_or_more() -> None:
    text = "## A\n\n### *B* c\n\n## D\n"
    outline = render_text(text, TextFormat.MARKDOWN, anchor="part-2").outline
    assert [(each.level, each.text, each.anchor) for each in outline] == [
        (1, "A", "part-2-1"),
        (2, "B c", "part-2-2"),
        (1, "D", "part-2-3"),
    ]
    assert not render_text("# A\n\n# B", TextFormat.MARKDOWN, anchor="part-2").outline


@given(markdown_texts, st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)), max_size=4))
def test_marked_passages_keep_runs_and_safety(text: str, marks: list[tuple[int, int]]) -> None:
    rendered = render_text(text, TextFormat.MARKDOWN)
    if not rendered.is_rendered:
        return
    segments = segments_of(text, [Mark("A", start, start + length) for start, length in marks])
    html = mark_text(rendered, segments, "A")
    without = re.sub(r"</?mark[^>]*>|<sup>.*?</sup>", "", html)
    assert check_text(text, without) == check_text(text, rendered.html)


def check_text(source: str, html: str) -> str:
    check(source, html)
    return shown(html)


def test_a_marked_passage_names_its_raters_once() -> None:
    text = "one **two** three"
    html = mark_text(
        render_text(text, TextFormat.MARKDOWN), segments_of(text, [Mark("A", 2, 9), Mark("B", 12, 17)]), "A"
    )
    marks = re.findall(r"<mark class=\"([^\"]+)\"[^>]*>(.*?)</mark>", html)
    assert [(style, runs_in(piece)[0].text) for style, piece in marks] == [
        ("marked marked-mine", "e "),
        ("marked marked-mine", "two"),
        ("marked", "three"),
    ]
    assert html.count("<sup>") == html.count("data-by=") == 2


@pytest.mark.parametrize(
    ("wanted", "text", "format"),
    [
        ("", "# a", "plain"),
        ("markdown", "# a", "markdown"),
        ("", '[{"role": "user", "content": "a"}]', "chat"),
        ("markdown", '[{"role": "user", "content": "a"}]', "chat"),
        ("plain", '[{"role": "user", "content": "a"}]', "plain"),
        ("chat", "# a", "plain"),
    ],
)
def test_messages_are_recognised_unless_plain_format_is_chosen(wanted: str, text: str, format: str) -> None:
    assert choose_format(text, wanted) == format
