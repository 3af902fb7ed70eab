"""The first ten calls."""

import json
import shlex
from datetime import date

import pytest

from provider_adapters.testing.demo.ensure import curl_lines

pytestmark = pytest.mark.slow

TODAY = date(2026, 11, 20)
PATHS = [
    ("GET", "/balance"),
    ("GET", "/pix/keys"),
    ("GET", "/pix/keys/"),
    ("GET", "/pix/qrcode/demo-paid-"),
    ("GET", "/pix/transactions/demo-paid-"),
    ("GET", "/transactions?init=2026-11-14&ends=2026-11-20"),
    ("POST", "/withdraw"),
    ("GET", "/withdraw/order%2F1"),
    ("GET", "/withdraws?init=2026-11-14&ends=2026-11-20"),
    ("DELETE", "/withdraw/order%2F1"),
]


@pytest.fixture
async def demo(make):
    return await make()


def words(line: str) -> list[str]:
    """Take a call apart as a shell does."""
    comment, command = line.split("\n")
    assert comment.startswith("# ")
    return shlex.split(command)


async def test_there_is_one_call_for_each_operation_in_the_order_of_the_contract(demo):
    """Contract 4.1."""
    base = f"{demo['base_url']}/baas/v1/account/{demo['accounts']['main']['id']}"

    calls = [words(line) for line in curl_lines(demo, TODAY, "order/1")]

    assert len(calls) == len(PATHS)
    numbers = [line.split()[1] for line in curl_lines(demo, TODAY, "order/1")]
    assert numbers == [f"{number}." for number in range(1, 11)]
    for call, (method, path) in zip(calls, PATHS, strict=True):
        assert call[-1].startswith(base + path)
        assert ("-d" in call, "DELETE" in call) == (method == "POST", method == "DELETE")


async def test_every_call_is_made_by_the_credential_that_may_do_everything(demo):
    pair = demo["credentials"]["full"]

    for line in curl_lines(demo, TODAY):
        call = words(line)
        assert call[call.index("-u") + 1] == f"{pair['client_id']}:{pair['client_secret']}"


async def test_the_payout_is_dated_today(demo):
    """A payout dated otherwise is refused (contract 2.6)."""
    call = words(curl_lines(demo, TODAY, 'order/"1"')[6])

    body = json.loads(call[call.index("-d") + 1])

    assert (body["date"], body["reference"], body["value"]) == ("2026-11-20", 'order/"1"', 10.5)


async def test_a_reference_is_used_once(demo):
    first, second = (curl_lines(demo, TODAY)[6] for _ in range(2))

    assert first != second
