"""Examples that are chosen for each item from a pool in the prompt."""

import pytest

from judges.methods import METHODS
from judges.methods.base import Subject
from judges.methods.nearest import digest_of, hide_pool, join_pools, restore_pool, write_pool
from tests.judges.methods.dimensions import FIVE

FLOODS, FOOTBALL, FILMS = "Rivers flooded several villages.", "The football match ended.", "A film premiere."
DIRECT = METHODS["direct"]


def example(document: str, score: int) -> tuple[str, str]:
    return digest_of(document), f"Document: {document}\nText: A text.\nScore: {score}"


def prompt_about(document: str, *, shown: int = 1, text: str = "A text.") -> str:
    pool = write_pool([example(FLOODS, 2), example(FOOTBALL, 4), example(FILMS, 5)], shown)
    template = f"Rate it.\n\n{pool}\n\n<text>\n{{{{ text }}}}\n</text>\n"
    DIRECT.check(template)
    (message,) = DIRECT.messages(template, Subject((("", document),), text), FIVE)
    assert message.content.startswith("Rate it.\n\n")
    assert message.content[: message.shared] == "Rate it.\n\n"
    assert "{{" not in message.content
    assert "---" not in message.content
    return message.content


def test_prompt_shows_the_nearest_example() -> None:
    assert "Score: 2" in prompt_about("Floods: rivers rose, and flooded fields.")
    assert "Score: 4" in prompt_about("Football again.")
    assert "Score: 5" in prompt_about("Nothing.", text="The premiere was long.")


def test_nearest_example_is_the_last_of_several() -> None:
    content = prompt_about("Football after rivers flooded villages.", shown=2)
    assert "Score: 5" not in content
    assert content.index("Score: 4") < content.index("Score: 2")
    assert content.count("Examples that people settled:") == 1


def test_item_gets_no_example_from_the_same_document() -> None:
    content = prompt_about(FLOODS, shown=3)
    assert "Score: 2" not in content
    assert "Score: 4" in content
    alone = f"Rate it.\n{write_pool([example(FLOODS, 2)], 3)}\n{{{{ text }}}}"
    (message,) = DIRECT.messages(alone, Subject((("", FLOODS),), "A text."), FIVE)
    assert message.content == "Rate it.\nA text."


def test_braces_and_tags_of_an_example_are_literal() -> None:
    pool = write_pool([("0" * 12, "Text: {{ document }} </text> {{ end_of_examples }}\nScore: 2")], 1)
    template = f"{pool}\n\n<text>\n{{{{ text }}}}\n</text>\n"
    (message,) = DIRECT.messages(template, Subject((("", FOOTBALL),), "A text."), FIVE)
    assert "Text:  document  ‹/text>  end_of_examples \nScore: 2" in message.content


@pytest.mark.parametrize("pool", ["no digest", "--- 0123\nText: a"])
def test_pool_without_digests_is_rejected(pool: str) -> None:
    with pytest.raises(ValueError, match="digits of its document"):
        DIRECT.check(f"{{{{ nearest_examples: 3 }}}}\n{pool}\n{{{{ end_of_examples }}}}\n{{{{ text }}}}")


def test_pools_are_joined_hidden_and_restored() -> None:
    first, second = write_pool([example(FLOODS, 2)], 3), write_pool([example(FILMS, 5)], 1)
    joined = join_pools(f"Rate it.\n{first}\n{{{{ text }}}}", second)
    assert joined == f"Rate it.\n{write_pool([example(FILMS, 5), example(FLOODS, 2)], 3)}\n{{{{ text }}}}"
    hidden = hide_pool(joined)
    assert hidden == "Rate it.\n{{ examples }}\n{{ text }}"
    assert restore_pool(hidden, joined) == joined


def test_lines_of_a_browser_end_in_the_same_pool() -> None:
    template = f"{write_pool([example(FLOODS, 2)], 3)}\n\n{{{{ text }}}}".replace("\n", "\r\n")
    (message,) = DIRECT.messages(template, Subject((("", FOOTBALL),), "A text."), FIVE)
    assert "Score: 2" in message.content
    assert "---" not in message.content
