"""LaTeX formulas as MathML, which browsers show without a script."""

import re
from html import escape, unescape
from xml.etree.ElementTree import Element

from latex2mathml import exceptions

from annotate.core.lazy_module import LazyModule

_converter = LazyModule("latex2mathml.converter")
LONGEST = 2000  # characters; pages show the source of a longer one
_ELEMENTS = {
    *("math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "ms"),
    *("mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder"),
    "munderover",
}
_ATTRIBUTES = {
    *(
        "accent",
        "alttext",
        "columnalign",
        "columnlines",
        "depth",
        "display",
        "displaystyle",
        "fence",
        "form",
        "height",
    ),
    *("largeop", "linebreak", "linethickness", "lspace", "mathvariant", "maxsize", "minsize"),
    *("movablelimits", "notation", "rowlines", "rspace", "scriptlevel", "separator", "stretchy"),
    *("symmetric", "voffset", "width"),
}
# What LaTeX that is not valid makes the converter raise; it has no common class.
_NOT_CONVERTED: tuple[type[Exception], ...] = (
    *(each for each in vars(exceptions).values() if isinstance(each, type) and issubclass(each, Exception)),
    *(AttributeError, AssertionError, LookupError, RecursionError, RuntimeError, TypeError, ValueError),
)
# The converter aligns only these rows.
_ALIGNED = re.compile(r"\\(begin|end)\{(?:aligned|gathered|gather\*?|multline\*?)\}")


def formula_as_mathml(latex: str, *, is_block: bool) -> str | None:
    """Return a formula as MathML, None if it is no valid LaTeX.

    The converter neither escapes its input nor omits `\\href` and `\\style`; only names in this
    module's lists pass.
    """
    if not latex.strip() or len(latex) > LONGEST:
        return None
    try:
        element = _converter.convert_to_element(
            _ALIGNED.sub(r"\\\1{align*}", latex), display="block" if is_block else "inline"
        )
        element.set("alttext", latex.strip())
        return _serialize(element)
    except _NOT_CONVERTED:
        return None


def _serialize(element: Element) -> str:
    inner = escape(unescape(element.text or "")) + "".join(
        _serialize(each) + escape(unescape(each.tail or "")) for each in element
    )
    if element.tag not in _ELEMENTS:
        return inner
    attributes = "".join(
        f' {name}="{escape(value)}"' for name, value in element.attrib.items() if name in _ATTRIBUTES
    )
    return f"<{element.tag}{attributes}>{inner}</{element.tag}>"
