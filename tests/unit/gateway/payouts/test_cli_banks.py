"""What commands ask banks for: the sandbox's own books, and where there are none."""

import msgspec
import pytest

from gateway.config.settings import Settings
from gateway.config.upstream import Provider, SandboxBank
from gateway.core.account import Environment
from gateway.core.audit_context import RuleViolation
from gateway.payouts.cli_banks import sandbox_books

SANDBOX = Settings(
    providers={"sandbox": Provider(adapter="sandbox")}, sandbox_bank=SandboxBank(control_port=1)
)


@pytest.mark.parametrize(
    "settings",
    [
        msgspec.structs.replace(SANDBOX, environment=Environment.PRODUCTION),
        msgspec.structs.replace(SANDBOX, providers={}),
        msgspec.structs.replace(SANDBOX, providers={"bank": Provider(adapter="bank")}),
    ],
    ids=["production", "no provider", "another provider"],
)
def test_other_banks_do_not_open_their_books(settings: Settings):
    assert sandbox_books(settings) is None


async def test_books_of_a_bank_that_is_away_are_no_empty_books():
    books = sandbox_books(SANDBOX)
    assert books is not None

    with pytest.raises(RuleViolation, match="does not answer"):
        await books()
