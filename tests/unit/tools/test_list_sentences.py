"""What the product can say is found in its code, its pages and its scripts."""

from tools.list_sentences import (
    all_sentences,
    page_sentences,
    python_sentences,
    script_sentences,
    too_long,
)


def test_code() -> None:
    source = '''"""No docstring is said by anybody."""
import re
PATTERN = re.compile("a pattern of four words")
QUERY = "SELECT name FROM jobs WHERE uid"
def refuse(name, most):
    """Nor is this one of a function."""
    raise ValueError(
        f"{name!r} given, which nobody "
        f"knows; allowed: up to {most + 1} of them"
    )
'''
    assert list(python_sentences(source)) == [
        (8, "{name} given, which nobody knows; allowed: up to {most + 1} of them")
    ]


def test_pages() -> None:
    source = (
        "<p>{% if guarded %}All who have the token.{% else %}There is no token here.{% endif %}"
        "</p>\n"
        '<script>var text = "not shown to anybody here";</script>\n'
        '<input title="Search for an expression of JavaScript" value="not shown as it is said">'
    )
    assert list(page_sentences(source)) == [
        (1, "/ All who have the token. / There is no token here. /"),
        (3, "Search for an expression of JavaScript"),
    ]


def test_scripts() -> None:
    source = 'say(`${count} lines don\'t match what is sought`); // "no remark of ours is said"\n'
    assert list(script_sentences(source)) == [(1, "${count} lines don't match what is sought")]


def test_a_sentence_has_at_most_25_words() -> None:
    assert too_long(" ".join(["word"] * 25) + ". " + " ".join(["word"] * 25)) is None
    assert too_long("Short. " + " ".join(["word"] * 25) + " {the.last or 'of many'}") == 26


def test_all_kinds_are_found() -> None:
    places = [place.rpartition(":")[0] for place, _ in all_sentences()]
    assert {place.rpartition(".")[2] for place in places} == {"py", "html", "js"}
