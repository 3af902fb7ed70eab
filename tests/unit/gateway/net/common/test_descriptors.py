"""How many descriptors there are, and which are left to others."""

import os
import resource
from collections.abc import Iterator

import pytest

from gateway.net.common.descriptors import (
    NO_LIMIT,
    RESERVED,
    callers_below,
    descriptor_limit,
    ours_below,
    raise_descriptor_limit,
)
from gateway.net.server.front import Connections
from gateway.net.server.peer import ServerLimits
from tests.unit.gateway.net.server.callers import Caller
from tests.world.raw_http import until_closed
from tests.world.wired import Seen, listening

REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


@pytest.fixture
def limits() -> Iterator[tuple[int, int]]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield before
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_descriptors_are_reserved_for_operations_and_our_own_calls():
    for limit, first in {NO_LIMIT: NO_LIMIT, 256: 208, 1024: 880, 16: 1, 8: 1}.items():
        assert callers_below(limit) == first <= ours_below(limit)
        assert limit in {NO_LIMIT, 16, 8} or limit - first >= RESERVED


def test_the_soft_descriptor_limit_is_raised_up_to_the_hard_limit(limits: tuple[int, int]):
    _, hard = limits
    resource.setrlimit(resource.RLIMIT_NOFILE, (1_000, hard))

    assert raise_descriptor_limit(1_500) == 1_500
    assert raise_descriptor_limit(1_200) == 1_500 == descriptor_limit()
    if hard != resource.RLIM_INFINITY:
        assert raise_descriptor_limit(hard + 1) == hard


async def test_a_connection_above_the_descriptor_limit_is_closed():
    """The system assigns the lowest free number: a high one shows that all below are in use."""
    first = os.dup(0)
    os.close(first)

    answers = []
    for bound in (first + 60, first):
        seen = Seen()
        limits = ServerLimits(descriptors=bound)
        async with listening(seen.answer, seen, limits) as listener:
            answers.append((await until_closed(listener.port, REQUEST)).statuses)

    assert answers == [[200], []]


async def test_connections_refused_for_descriptors_are_counted():
    server = Connections(ServerLimits(descriptors=10))

    admitted = [server.admit(Caller("10.0.0.1"), number) for number in (9, 10, 11, -1)]

    assert admitted == [True, False, False, True]
    assert server.turned_away == {"descriptors": 2}
