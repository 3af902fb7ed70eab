"""What a head says of its connection; where bodies end is in the table of nasty answers."""

import pytest
from multidict import CIMultiDict

from gateway.banks.client.framing import read_head
from gateway.banks.port.providers import BadReply


def test_how_long_a_connection_is_kept():
    """As long as the bank says, if it says so."""
    expected = {"timeout=5": 5.0, "max=10, Timeout = 7": 7.0, "max=10": None, "timeout=-1": None}

    assert {said: kept_s({"Keep-Alive": said}) for said in expected} == expected
    assert kept_s({}) is None


def kept_s(headers: dict[str, str]) -> float | None:
    return read_head(200, CIMultiDict(headers), is_old=False).kept_s


def test_two_lengths_are_refused_here_too():
    """Although llhttp refuses them first."""
    for other in ("5", "6"):
        with pytest.raises(BadReply):
            read_head(
                200, CIMultiDict([("Content-Length", "5"), ("content-length", other)]), is_old=False
            )
