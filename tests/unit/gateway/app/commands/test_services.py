"""What commands ask banks for: the sandbox's own books, and where there are none."""

from pathlib import Path

import msgspec
import pytest

from gateway.app.commands.context import opened
from gateway.app.commands.services import sandbox_books
from gateway.cli.console import Terminal
from gateway.config.settings import Settings
from gateway.config.upstream import Provider, SandboxBank
from gateway.core.account import Environment
from gateway.core.audit_context import RuleViolation
from gateway.identity.services import IdentityServices
from tests.world.shell import CONFIG

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


async def test_the_hashing_threads_are_let_go_after_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PIXGATE_VAR", str(tmp_path))
    monkeypatch.delenv("PIXGATE_DATABASE_URL", raising=False)
    problem = RuleViolation("not so")

    async with opened(Terminal(config=CONFIG, as_json=False)) as office:
        with pytest.raises(RuleViolation, match="not so"):
            async with office.opened(IdentityServices) as services:
                raise problem

    assert services.users.context.crypto.hashing._pool._shutdown
