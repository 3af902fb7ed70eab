"""``pixgate payouts``."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gateway.banks.port.providers import Evidence, Phase
from gateway.core.audit_context import RuleViolation
from gateway.payouts.cli import days, payouts
from gateway.payouts.model import PayoutState
from tests.unit.gateway.cli.standing import people, review, stand, stored
from tests.world.standing import NOON
from tests.world.stores.samples import ACCOUNT, SISTER, payout

UNKNOWN, PAID = PayoutState.UNKNOWN, PayoutState.PAID
AT = ("--account", ACCOUNT)
LOST = Evidence(phase=Phase.SENT, bytes_left=True, reason="timeout")
COMMANDS = {
    "archive",
    "list",
    "probe",
    "resume",
    "review",
    "show",
    "stop",
    "stops",
    "unresolved",
    "verify",
}


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def lost(shell):
    """A payout whose answer was lost some minutes ago."""
    people(shell)
    row = payout(created_at=now() - timedelta(minutes=5))
    return stored(shell, lambda store: stand(store, row, UNKNOWN, evidence=LOST))


def test_every_payout_command_exists():
    assert set(payouts.commands) == COMMANDS


def test_payouts_are_listed_with_their_certainty(shell, lost):
    head, row = shell.says("payouts", "list", *AT).splitlines()

    assert head.split()[:4] == ["reference", "state", "certainty", "review"]
    assert row.split()[:5] == ["order-1", "unknown", "sent_unknown", "no", "10.50"]


@pytest.mark.parametrize(
    ("more", "found"),
    [
        (("--state", "unknown"), 1),
        (("--state", "paid"), 0),
        (("--init", "2026-01-01", "--ends", "2026-01-02"), 0),
    ],
)
def test_a_list_can_be_filtered(shell, lost, more: tuple[str, ...], found: int):
    assert len(shell.reads("payouts", "list", *AT, *more)) == found


def test_a_payout_is_shown_with_its_evidence(shell, lost):
    shown = shell.reads("payouts", "show", "order-1", *AT)

    [attempt] = shown["attempts"]
    assert (shown["state"], shown["certainty"], shown["review"]) == (
        "unknown",
        "sent_unknown",
        False,
    )
    assert (attempt["phase"], attempt["bytes_left"], attempt["reason"]) == ("sent", True, "timeout")
    assert (shown["similar"], shown["opinions"]) == ([], [])


def test_a_payout_is_printed_as_a_record_and_tables(shell, lost):
    twin = payout("twin", created_at=lost.created_at + timedelta(minutes=1))
    stored(shell, lambda store: stand(store, twin, PAID))

    said = shell.says("payouts", "show", "order-1", *AT)

    assert "\nattempts\n" in said
    assert "\nsimilar\nreference  state" in said
    assert "\ntwin       paid" in said
    assert "opinions" not in said


def test_the_payee_is_shown_by_name_alone(shell, lost):
    """Tax number and key are not needed for decisions here."""
    said = shell.run("payouts", "show", "order-1", *AT, "--json").output

    assert "Maria" in said
    assert "52998224725" not in said
    assert "maria@example.com" not in said


def test_unresolved_payouts_are_listed_oldest_first(shell, lost):
    older = payout("older", created_at=now() - timedelta(hours=3, minutes=2))
    stored(shell, lambda store: stand(store, older, UNKNOWN, evidence=LOST))

    first, second = shell.reads("payouts", "unresolved")

    assert (first["reference"], second["reference"]) == ("older", "order-1")
    assert first["age"].startswith("3h ")
    assert (first["reason"], first["phase"]) == ("timeout", "sent")
    assert "older" in shell.says("payouts", "unresolved").splitlines()[1]


def test_an_unknown_reference_is_reported(shell, lost):
    line = shell.fails("payouts", "show", "nothing", *AT)

    assert line == "Error: the account has no payout nothing"


def test_a_probe_of_a_payout_unknown_to_the_bank_changes_nothing(shell, bank, lost):
    seen = shell.reads("payouts", "probe", "order-1", *AT, "--by", "maria")

    assert seen["before"] == seen["after"]
    assert shell.reads("audit", "verify")["whole"]


def test_a_probe_shows_before_and_after(shell, bank, lost):
    head, state, *_rest = shell.says("payouts", "probe", "order-1", *AT).splitlines()

    assert head.split() == ["before", "after"]
    assert state.split() == ["state", "unknown", "unknown"]


def test_a_difference_is_status_one_and_a_table(shell, bank):
    people(shell)

    done = shell.run("payouts", "verify", "--account", ACCOUNT)

    assert done.exit_code == 1
    assert done.stdout.splitlines()[0].split() == [
        "kind", "account_id", "reference", "key", "details",
    ]  # fmt: skip
    assert "1 accounts, 0 payouts" in done.stderr


def test_verification_without_payouts_finds_no_difference(shell, bank):
    done = shell.run("payouts", "verify")

    assert done.exit_code == 0
    assert "0 differences" in done.stderr


def test_verification_fails_when_a_bank_is_unavailable(shell):
    assert "does not answer" in shell.fails("payouts", "verify")


def test_the_default_window_is_the_last_week():
    window = days(None, None, NOON)

    assert (window.ends, window.end - window.start) == (NOON.date(), timedelta(days=7))


@pytest.mark.parametrize("init", [NOON + timedelta(days=1), NOON - timedelta(days=90)])
def test_a_window_has_one_to_ninety_days(init: datetime):
    with pytest.raises(RuleViolation, match="1 to 90 days"):
        days(init, NOON, NOON)


def test_a_usage_error_is_status_two(shell):
    cases = [
        ("list",),
        ("show", "order-1"),
        ("show", *AT),
        ("list", *AT, "--state", "lost"),
        ("list", *AT, "--init", "today"),
        ("probe",),
    ]

    wrong = [
        arguments
        for arguments in cases
        if "Error: " not in shell.fails("payouts", *arguments, status=2)
    ]

    assert wrong == []


def test_a_list_of_a_sister_account_does_not_show_the_payout(shell, lost):
    assert shell.reads("payouts", "list", "--account", SISTER) == []


def test_payouts_in_review_are_listed_as_unresolved(shell, lost):
    row = replace(payout("seen", created_at=now() - timedelta(days=2)))
    stored(shell, lambda store: _reviewed(store, row))

    first, _second = shell.reads("payouts", "unresolved")

    assert (first["reference"], first["review"], first["age"]) == ("seen", True, "2d 0h")


async def _reviewed(store, row):
    return await review(store, await stand(store, row, PayoutState.ACCEPTED))
