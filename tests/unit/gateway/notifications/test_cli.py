"""``pixgate chat``."""

import pytest

from tests.unit.gateway.cli.standing import people
from tests.world.stores.samples import COMPANY

URL = "https://hooks.example.com/services/T0/geheim"
NAMED = ("chat", "add", "--name", "Financeiro", "--kind", "order")


@pytest.fixture
def added(shell) -> dict[str, str]:
    people(shell)
    return shell.reads(*NAMED, "--company", COMPANY, "--kind", "bank", typed=f"{URL}\n")


def test_a_chat_is_added_and_its_address_is_never_shown(shell, added):
    operators = shell.reads(*NAMED, "--format", "teams", typed=f"{URL}\n")

    listed = shell.reads("chat", "list")
    of_company = shell.reads("chat", "list", "--company", COMPANY)

    assert [(each["id"], each["host"]) for each in listed] == [
        (added["id"], "hooks.example.com"),
        (operators["id"], "hooks.example.com"),
    ]
    assert [(each["id"], each["kinds"]) for each in of_company] == [
        (added["id"], ["order", "bank"])
    ]
    assert "geheim" not in shell.says("chat", "list")


def test_a_test_message_says_why_a_chat_did_not_take_it(shell, added):
    """Names lead nowhere in tests."""
    tried = shell.reads("chat", "try", added["id"])

    assert (tried["id"], tried["status"], tried["failure"]) == (added["id"], None, "name")
    [listed] = shell.reads("chat", "list")
    assert listed["failing_since"] == tried["at"]


def test_a_removed_chat_is_gone(shell, added):
    shell.says("chat", "remove", added["id"])

    assert shell.reads("chat", "list") == []
    assert "Not found" in shell.fails("chat", "remove", added["id"])


def test_an_address_that_is_not_allowed_is_refused(shell):
    people(shell)

    done = shell.run(*NAMED, typed="https://10.0.0.1/geheim\n")

    assert done.exit_code == 1
    assert "geheim" not in done.output
    assert shell.reads("chat", "list") == []
