"""Claims of due payouts, as far as one database shows: the contract suite has the rest."""

from gateway.payouts.due import _claiming
from gateway.payouts.schedule import MOST_ACCOUNTS, DueClaim
from tests.world.stores.samples import NOW


def test_unused_account_parameters_are_empty():
    """Repeated ones would take the place of due accounts."""
    cases = [(1, 1), (2, 4), (4, 4), (5, MOST_ACCOUNTS), (16, MOST_ACCOUNTS)]

    for accounts, places in cases:
        ids = [f"account-{number}" for number in range(accounts)]
        wanted = DueClaim(
            provider="bank", owner="me", at=NOW, until=NOW, account_ids=ids, each=1, most=1
        )

        _, asked = _claiming(wanted)

        given = [asked[f"account_{place}"] for place in range(places)]
        assert given == ids + [""] * (places - accounts)
        assert f"account_{places}" not in asked


def test_the_compiled_statement_text_is_reused():
    """A server keeps plans by the text."""
    wanted = DueClaim(
        provider="bank", owner="me", at=NOW, until=NOW, account_ids=["one"], each=1, most=1
    )

    assert _claiming(wanted)[0] is _claiming(wanted)[0]
