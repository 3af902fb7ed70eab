"""References to the environment."""

from pathlib import Path

import pytest

from gateway.config.documents import has_references, interpolate, is_one_reference


def test_references_are_replaced_without_recursion():
    cases = [
        ("${A}", {"A": "x"}, "x"),
        ("${A:-d}", {"A": "x"}, "x"),
        ("${A:-d}", {}, "d"),
        ("${A:-d}", {"A": ""}, "d"),
        ("${A:-}", {}, ""),
        ("${A:-a:-b}", {}, "a:-b"),
        ("http://h:${P:-1}/${Q}", {"Q": "q"}, "http://h:1/q"),
        ("$${A}", {"A": "x"}, "${A}"),
        ("${A}", {"A": "${B}", "B": "x"}, "${B}"),
        ("$A $", {"A": "x"}, "$A $"),
    ]

    wrong = [
        (text, environ, result)
        for text, environ, result in cases
        if interpolate(text, environ) != result
    ]

    assert wrong == []


@pytest.mark.parametrize("environ", [{}, {"A": ""}])
def test_a_variable_that_is_missing_is_named(environ: dict[str, str]):
    with pytest.raises(ValueError, match="the environment variable A is not set"):
        interpolate("${A}", environ)


def test_an_invalid_reference_is_refused():
    for text in ["${", "${}", "${A", "${1A}", "${A-B}", "${A:d}", "${ A }"]:
        with pytest.raises(ValueError, match="without a variable's name"):
            interpolate(text, {"A": "x", "B": "y"})


def test_the_content_of_the_file_counts_when_the_variable_is_not_set(tmp_path: Path):
    file = tmp_path / "pepper"
    file.write_text("  from the file\n", encoding="utf-8")

    alone = interpolate("${A:-default}", {"A_FILE": str(file)})
    beside = interpolate("${A}", {"A": "x", "A_FILE": str(file)})

    assert (alone, beside) == ("from the file", "x")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "A_FILE names cannot be read: No such file"),
        (b"\xff\xfe", "A_FILE names cannot be read: not UTF-8"),
        (b" \n", "A_FILE names is empty"),
    ],
)
def test_an_unusable_file_is_reported_and_not_replaced_by_the_default(tmp_path, content, problem):
    file = tmp_path / "pepper"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(ValueError, match=problem):
        interpolate("${A:-default}", {"A_FILE": str(file)})


def test_texts_with_references_are_recognised():
    cases = [
        ("${A}", True, True),
        ("${A:-}", True, True),
        ("${A:-d}", True, False),
        ("x${A}", True, False),
        ("${A}\n", True, False),
        ("$${A}", True, False),
        ("A", False, False),
    ]

    wrong = [
        (text, some, one)
        for text, some, one in cases
        if (has_references(text), is_one_reference(text)) != (some, one)
    ]

    assert wrong == []
