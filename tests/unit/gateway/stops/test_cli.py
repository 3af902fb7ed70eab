"""``pixgate payouts stop``, ``stops`` and ``resume``."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.unit.gateway.cli.standing import people
from tests.world.stores.samples import ACCOUNT, COMPANY

STOP = ("payouts", "stop", "--reason", "contas erradas")
SANDBOX = ("--provider", "sandbox")


@pytest.mark.parametrize(
    ("scope", "subject"), [("provider", "sandbox"), ("account", ACCOUNT), ("company", COMPANY)]
)
def test_a_stop_is_created_and_listed(shell, scope: str, subject: str):
    people(shell)

    made = shell.reads(*STOP, f"--{scope}", subject, "--for", "2h", "--by", "maria")

    assert shell.reads("payouts", "stops") == [made]
    assert (made["scope"], made["subject"], made["created_by"]) == (scope, subject, "maria")
    length = datetime.fromisoformat(made["ends_at"]) - datetime.fromisoformat(made["created_at"])
    assert length == timedelta(hours=2)


def test_a_credential_can_be_stopped(shell):
    people(shell)
    issued = shell.reads("credential", "issue", "--name", "ERP", "--company", COMPANY)

    made = shell.reads(*STOP, "--credential", issued["client_id"], "--for", "30m")

    assert made["scope"] == "credential"


def test_everything_can_be_stopped(shell):
    made = shell.reads(*STOP, "--everything", "--for", "30m")

    assert (made["scope"], made["subject"]) == ("everything", "")


def test_a_stop_can_end_at_an_instant(shell):
    until = (datetime.now(UTC) + timedelta(days=3)).strftime("%Y-%m-%dT%H:%M:%SZ")

    assert shell.reads(*STOP, *SANDBOX, "--until", until)["ends_at"] == until


def test_a_stop_can_be_lifted(shell):
    made = shell.reads(*STOP, *SANDBOX, "--for", "2h")

    shell.says("payouts", "resume", made["id"], "--by", "maria")

    assert shell.reads("payouts", "stops") == []
    assert "in force" in shell.fails("payouts", "resume", made["id"])


def test_the_list_is_a_table(shell):
    shell.says(*STOP, *SANDBOX, "--for", "2h")

    head, row = shell.says("payouts", "stops").splitlines()

    assert head.split() == ["id", "scope", "subject", "ends_at", "created_by", "reason"]
    assert row.endswith("contas erradas")


def test_a_stop_requires_exactly_one_scope_and_one_end(shell):
    cases = [
        (*SANDBOX,),
        (*SANDBOX, "--for", "2h", "--until", "2999-01-01T00:00:00Z"),
        ("--for", "2h"),
        (*SANDBOX, "--account", ACCOUNT, "--for", "2h"),
        (*SANDBOX, "--everything", "--for", "2h"),
        (*SANDBOX, "--for", "2"),
        (*SANDBOX, "--until", "tomorrow"),
    ]

    wrong = [
        arguments
        for arguments in cases
        if "Error: " not in shell.fails(*STOP, *arguments, status=2)
    ]

    assert wrong == []


def test_a_stop_requires_a_reason(shell):
    assert "--reason" in shell.fails("payouts", "stop", *SANDBOX, "--for", "2h", status=2)
