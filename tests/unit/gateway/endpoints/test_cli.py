"""``pixgate endpoint``."""

import base64

import pytest

from tests.unit.gateway.cli.standing import people
from tests.world.stores.samples import ACCOUNT, COMPANY

URL = "https://events.example.com/pix"


@pytest.fixture
def added(shell) -> dict[str, str]:
    people(shell)
    return shell.reads(
        *("endpoint", "add", "--company", COMPANY, "--url", URL),
        *("--type", "payout.paid", "--account", ACCOUNT),
    )


def test_an_endpoint_is_added_and_its_secret_shown_once(shell, added):
    listed = shell.reads("endpoint", "list", "--company", COMPANY)

    prefix, _, secret = added["secret"].partition("_")
    assert (prefix, len(base64.b64decode(secret, validate=True))) == ("whsec", 32)
    assert [(each["id"], each["url"], each["state"]) for each in listed] == [
        (added["id"], URL, "pending")
    ]
    assert (listed[0]["types"], listed[0]["account_ids"]) == (["payout.paid"], [ACCOUNT])
    assert "whsec_" not in shell.says("endpoint", "show", added["id"])


def test_a_change_replaces_every_given_field(shell, added):
    changed = shell.reads("endpoint", "change", added["id"], "--url", f"{URL}/2")

    assert (changed["url"], changed["types"], changed["account_ids"]) == (f"{URL}/2", [], [])


def test_an_endpoint_is_paused_and_resumed(shell, added):
    paused = shell.reads("endpoint", "pause", added["id"])
    resumed = shell.reads("endpoint", "resume", added["id"])

    assert (paused["state"], paused["paused_because"]) == ("paused", "operator")
    assert (resumed["state"], resumed["paused_because"]) == ("pending", "")
    assert "not paused" in shell.fails("endpoint", "resume", added["id"])


def test_a_new_secret_is_shown_with_the_end_of_the_former_one(shell, added):
    made = shell.reads("endpoint", "rotate", added["id"], "--overlap", "1h")

    assert made["secret"] != added["secret"]
    assert made["former_secret_ends_at"] != ""
    assert "two secrets" in shell.fails("endpoint", "rotate", added["id"])
    shell.says("endpoint", "rotate", added["id"], "--overlap", "0s")
    assert "overlap" in shell.fails("endpoint", "rotate", added["id"], "--overlap", "2d")


def test_a_removed_endpoint_is_gone(shell, added):
    shell.says("endpoint", "remove", added["id"])

    assert shell.reads("endpoint", "list") == []
    assert "no endpoint" in shell.fails("endpoint", "show", added["id"])


def test_an_address_that_is_not_allowed_is_refused(shell):
    people(shell)

    problem = shell.fails("endpoint", "add", "--company", COMPANY, "--url", "https://10.0.0.1/")

    assert "https address" in problem
    assert shell.reads("endpoint", "list") == []
