"""``pixgate delivery`` and ``pixgate endpoint ping``."""

import pytest

from tests.unit.gateway.cli.standing import people
from tests.world.stores.samples import COMPANY

URL = "https://events.example.com/pix"


@pytest.fixture
def endpoint(shell) -> str:
    people(shell)
    added = shell.reads("endpoint", "add", "--company", COMPANY, "--url", URL)
    return str(added["id"])


def test_a_ping_is_ordered_listed_and_shown(shell, endpoint):
    made = shell.reads("endpoint", "ping", endpoint)

    [listed] = shell.reads("delivery", "list", "--endpoint", endpoint)
    shown = shell.reads("delivery", "show", made["id"])
    assert (listed["id"], listed["type"], listed["state"]) == (
        made["id"],
        "endpoint.ping",
        "waiting",
    )
    assert (shown["event_id"], shown["body"], shown["attempts"]) == (made["event_id"], "", [])
    assert "endpoint.ping" in shell.says("delivery", "show", made["id"])


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        (("--company", COMPANY), 1),
        (("--state", "waiting"), 1),
        (("--state", "failed"), 0),
        (("--event", "evt_0"), 0),
        (("--page", "2"), 0),
    ],
)
def test_a_list_is_filtered(shell, endpoint, filters, count):
    shell.says("endpoint", "ping", endpoint)

    assert len(shell.reads("delivery", "list", *filters)) == count


def test_one_delivery_is_sent_again(shell, endpoint):
    made = shell.reads("endpoint", "ping", endpoint)

    again = shell.reads("delivery", "again", made["id"])

    assert (again["id"], again["state"]) == (made["id"], "waiting")
    assert "no delivery" in shell.fails("delivery", "again", "dlv_0")


def test_the_deliveries_of_a_time_are_sent_again(shell, endpoint):
    window = ("--since", "2026-11-20T00:00:00Z", "--until", "2026-11-21T00:00:00Z")

    done = shell.reads("delivery", "again", "--endpoint", endpoint, *window)

    assert done == {"deliveries": 0, "has_more": False}


@pytest.mark.parametrize(
    "given",
    [(), ("dlv_0", "--endpoint", "e"), ("--endpoint", "e"), ("--since", "2026-11-20T00:00:00Z")],
)
def test_either_one_or_a_time_is_named(shell, endpoint, given):
    assert "give ID" in shell.fails("delivery", "again", *given, status=2)
