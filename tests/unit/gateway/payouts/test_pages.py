"""Looks that find the same thing again and again become one line of the timeline."""

from gateway.payouts.pages import collapse_repeats


def look(at: str, found: str, state: str = "", **facts: str) -> dict[str, object]:
    return {"kind": "probed", "at": at, "state": state, "facts": {"found": found, **facts}}


def test_repeated_queries_with_one_result_are_collapsed():
    told = [look("1", "no_answer"), look("2", "no_answer"), look("3", "not_found")]

    assert [
        (each["at"], each["times"], each["first_at"])
        for each in collapse_repeats([*told, look("4", "x", "")])
    ] == [("2", 2, "1"), ("3", 1, "3"), ("4", 1, "4")]


def test_events_that_changed_the_state_are_not_collapsed():
    moved = [look("1", "settled", "paid"), look("2", "settled", "paid")]
    other = {"kind": "noticed", "at": "3", "state": "", "facts": {}}

    assert list(collapse_repeats([*moved, other, other])) == [*moved, other, other]


def test_a_query_that_required_a_review_is_not_collapsed():
    told = [look("1", "settled"), look("2", "settled", review="mismatch")]

    assert [each["at"] for each in collapse_repeats(told)] == ["1", "2"]
