"""``pixgate payouts review`` and ``unresolved``."""

from datetime import timedelta

import pytest

from gateway.payouts.model import PayoutState
from gateway.reviews.cli import UNRESOLVED, age_of, unresolved_row
from gateway.reviews.model import UnresolvedPayout
from tests.unit.gateway.cli.standing import people, review, stand, stored
from tests.unit.gateway.identity.users import ANA
from tests.world.stores.samples import ACCOUNT, NOW, attempt, payout

AT = ("--account", ACCOUNT)
SAYS = ("payouts", "review", "resolve", "order-1", *AT, "--reason", "no extrato")


@pytest.fixture
def waiting(shell):
    people(shell)

    async def put(store):
        return await review(store, await stand(store, payout(), PayoutState.UNKNOWN))

    return stored(shell, put)


def test_waiting_work_is_listed(shell, waiting):
    [listed] = shell.reads("payouts", "review", "list")

    assert (listed["reference"], listed["review"]) == ("order-1", True)
    assert "order-1" in shell.says("payouts", "review", "list").splitlines()[1]


def test_two_people_decide_a_review(shell, waiting):
    first = shell.reads(*SAYS, "--outcome", "paid", "--by", "maria")
    second = shell.reads(*SAYS, "--outcome", "paid", "--by", "joão")

    assert (first["progress"], first["state"]) == ("waiting", "unknown")
    assert (second["progress"], second["state"], second["review"]) == ("decided", "paid", False)
    assert [each["by"] for each in second["opinions"]] == ["maria", "joão"]
    assert shell.reads("payouts", "review", "list") == []


def test_the_result_of_an_opinion_is_printed(shell, waiting):
    first = shell.run(*SAYS, "--outcome", "paid", "--by", "maria")
    second = shell.run(*SAYS, "--outcome", "failed", "--by", "joão")

    assert first.stderr == "Kept. A second user must say the same.\n"
    assert second.stderr.startswith("Kept. Opinions differ")
    assert "joão:failed" in second.stdout
    assert "maria" not in second.stdout


def test_opinions_are_shown_with_the_payout_once_it_is_decided(shell, waiting):
    shell.says(*SAYS, "--outcome", "paid", "--by", "maria")
    before = shell.reads("payouts", "show", "order-1", *AT)["opinions"]
    shell.says(*SAYS, "--outcome", "paid", "--by", "joão")

    opinion, _ = shell.reads("payouts", "show", "order-1", *AT)["opinions"]

    assert before == []
    assert (opinion["by"], opinion["verdict"], opinion["reason"]) == ("maria", "paid", "no extrato")


def test_an_opinion_is_withdrawn(shell, waiting):
    shell.says(*SAYS, "--outcome", "paid", "--by", "maria")
    takes_back = ("payouts", "review", "withdraw", "order-1", *AT)

    told = shell.run(*takes_back, "--by", "maria")

    assert (told.stderr, "--by" in shell.fails(*takes_back, status=2)) == ("Withdrawn.\n", True)
    assert shell.reads(*SAYS, "--outcome", "failed", "--by", "maria")["opinions_given"] == 1


def test_a_panel_user_counts_as_one_person_in_any_spelling(shell, waiting):
    """By the address alone, or as in the audit log: one opinion, and the same rules."""
    shell.says("user", "create", *ANA, "--role", "approver", typed="uma frase bem comprida\n")
    spellings = ("ana@example.com", "user:ana@example.com", "ANA@example.com")

    said = [shell.reads(*SAYS, "--outcome", "paid", "--by", by) for by in spellings]

    assert [(each["progress"], each["opinions_given"]) for each in said] == [("waiting", 1)] * 3
    assert said[0]["opinions"][0]["by"] == "user:ana@example.com"


def test_an_opinion_requires_by(shell, waiting):
    """Two people may share a system user."""
    assert "--by" in shell.fails(*SAYS, "--outcome", "paid", status=2)


def test_a_payout_not_in_review_is_refused(shell):
    people(shell)
    stored(shell, lambda store: stand(store, payout(), PayoutState.ACCEPTED))

    line = shell.fails(*SAYS, "--outcome", "paid", "--by", "maria")

    assert line == "Error: the payout is not in review: it is accepted"


@pytest.mark.parametrize("outcome", ["rejected", "unknown", ""])
def test_a_review_has_two_outcomes(shell, outcome: str):
    assert "--outcome" in shell.fails(*SAYS, "--outcome", outcome, "--by", "maria", status=2)


def test_an_age_has_its_two_largest_units():
    cases = [
        (-5, "0s"),
        (0, "0s"),
        (59, "59s"),
        (60, "1m 0s"),
        (310, "5m 10s"),
        (3600, "1h 0m"),
        (36000, "10h 0m"),
        (86400 * 3 + 3600 * 4 + 59, "3d 4h"),
    ]

    wrong = [
        (seconds, text) for seconds, text in cases if age_of(timedelta(seconds=seconds)) != text
    ]

    assert wrong == []


def test_a_row_has_every_column_of_the_list():
    for tries in ([attempt()], []):
        found = UnresolvedPayout(payout=payout(), account_name="", attempts=tries, opinions=())
        assert set(UNRESOLVED) <= unresolved_row(found, NOW).keys()
