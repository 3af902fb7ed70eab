"""A table as one test reports each row that fails, and only those."""

import pytest

from tests.world.tables import cases


def test_each_failed_row_is_reported_with_its_values():
    tried = []

    @cases("factor", [1, 2])
    @cases(("number", "is_even"), [(1, False), (2, False)])
    def even(number: int, *, is_even: bool, factor: int) -> None:
        tried.append((factor, number))
        assert (factor * number % 2 == 0) is is_even

    with pytest.raises(BaseExceptionGroup) as failed:
        even()

    assert tried == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert failed.group_contains(AssertionError, depth=2)
    groups = [each for each in failed.value.exceptions if isinstance(each, BaseExceptionGroup)]
    notes = [note for each in groups for one in each.exceptions for note in one.__notes__]
    assert notes == [
        "row: number=2, is_even=False",
        "row: number=1, is_even=False",
        "row: number=2, is_even=False",
    ]


async def test_the_table_of_an_async_test_is_awaited():
    @cases("number", [1, 2])
    async def small(number: int) -> None:
        assert number < 2

    with pytest.raises(BaseExceptionGroup, match="1 of 2 rows"):
        await small()


def test_a_missing_expected_error_fails_the_row():
    @cases("text", ["1", "x"])
    def refused(text: str) -> None:
        with pytest.raises(ValueError, match="invalid"):
            int(text)

    with pytest.raises(BaseExceptionGroup, match="1 of 2 rows"):
        refused()


def test_an_empty_table_is_refused():
    with pytest.raises(AssertionError, match="proves nothing"):
        cases("number", [])
