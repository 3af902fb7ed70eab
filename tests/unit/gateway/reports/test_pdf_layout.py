"""Lines and pages, before anything is drawn; one letter is one point wide here."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.reports.pdf import MOST_CHARACTERS, Line, Row, pages, wrap

TEXT = st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]) | st.just(" "), max_size=90)


def rows(*heights: int) -> list[Row]:
    """Rows of so many lines, in order."""
    return [
        Row(when=str(number), lines=(Line("x"),) * lines, amount="1,00", owed=False)
        for number, lines in enumerate(heights)
    ]


def dealt(heights: list[int], first: float, other: float) -> list[list[int]]:
    """Tell which rows stand on which page."""
    found = pages(rows(*heights), lambda row: len(row.lines), (first, other))
    return [[int(row.when) for row in page] for page in found]


def test_lines_break_at_blanks_and_in_words_only_where_they_must():
    cases = [
        ("", []),
        ("short", ["short"]),
        ("exactly 10", ["exactly 10"]),
        ("one two three four", ["one two", "three four"]),
        ("abcdefghijklm", ["abcdefghij", "klm"]),
        ("a abcdefghijklm b", ["a", "abcdefghij", "klm b"]),
        ("two  blanks in a row", ["two blanks", "in a row"]),
    ]

    wrong = [(text, lines) for text, lines in cases if list(wrap(text, 10, len)) != lines]

    assert wrong == []


@given(TEXT, st.integers(1, 40))
def test_no_line_is_too_wide_and_nothing_is_lost(text: str, width: int):
    lines = wrap(text, width, len)

    assert all(0 < len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_letter_wider_than_the_column_stands_alone():
    """Rather than for ever looking for a place to cut."""
    assert list(wrap("abc", 0.5, len)) == ["a", "b", "c"]


def test_a_text_without_end_is_cut_visibly():
    lines = wrap("x" * 100_000, 100, len)

    assert "".join(lines) == "x" * MOST_CHARACTERS + "..."


def test_rows_are_dealt_out_in_order_and_never_split():
    cases = [
        ([], 5, 5, [[]]),
        ([1, 1], 5, 5, [[0, 1]]),
        ([2, 3], 5, 5, [[0, 1]]),
        ([2, 3, 1], 5, 5, [[0, 1], [2]]),
        ([3, 3], 5, 5, [[0], [1]]),
        ([4], 3, 5, [[], [0]]),
        ([1, 5, 1], 3, 5, [[0], [1], [2]]),
        ([9, 9], 3, 5, [[], [0], [1]]),
    ]

    wrong = [
        (heights, first, other, on_pages)
        for heights, first, other, on_pages in cases
        if dealt(heights, first, other) != on_pages
    ]

    assert wrong == []


@given(st.lists(st.integers(1, 5), max_size=60), st.integers(0, 9), st.integers(5, 12))
def test_no_page_is_too_full_and_only_the_first_may_be_empty(
    heights: list[int], first: int, other: int
):
    found = dealt(heights, first, other)

    assert [row for page in found for row in page] == list(range(len(heights)))
    assert sum(heights[row] for row in found[0]) <= first
    assert all(0 < sum(heights[row] for row in page) <= other for page in found[1:])
