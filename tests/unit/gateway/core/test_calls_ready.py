"""Values that need not be waited for."""

from gateway.core.calls import Ready


async def test_it_can_be_awaited():
    assert await Ready(5) == 5


async def test_it_can_be_awaited_again():
    ready = Ready(None)

    assert [await ready, await ready] == [None, None]


def test_it_can_be_had_without_awaiting():
    assert Ready("a").value == "a"
