"""
What tests of the gateway's modules share, all of it on SQLite in a file of the test's own.

A store, the registers over one, people of two companies, and a command line with a bank beside it.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from gateway.app.store import Store, prepare
from gateway.companies.service import add_company
from gateway.core.account import Environment
from gateway.store.kernel.prepared import BulkRow, Values, _Prepared
from tests.unit.gateway.http.registers import AdminWorld, admin_world_of
from tests.world import registers
from tests.world.commands import bank, demo_shell, fresh_shell, shell
from tests.world.registers import Registers
from tests.world.statements import Statement
from tests.world.store import migrated, open_store
from tests.world.stores import samples

__all__ = ["bank", "demo_shell", "fresh_shell", "shell"]


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Registers]:
    """Registers without an entry."""
    async with registers.opened(tmp_path) as opened:
        yield opened


@pytest.fixture
async def company_id(office: Registers) -> str:
    return (await office.company("Padaria")).id


@pytest.fixture
async def admin_world(office: Registers) -> AdminWorld:
    """Two companies, and the registers that hold them."""
    return await admin_world_of(office)


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Address of a file that does not exist yet, in a folder that does not either."""
    return f"sqlite:///{tmp_path}/var/store.db"


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    opened = open_store(migrated(Path(url.removeprefix("sqlite:///"))))
    await prepare(opened, Environment.SANDBOX, migrate=True, now=samples.now)
    await add_company(opened.database, samples.company(), samples.event())
    await opened.accounts.add(samples.account(), samples.event())
    yield opened
    await opened.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Statement]]:
    """Statements that databases are sent, from now on."""
    noted: list[Statement] = []
    ask = _Prepared.values

    def note(prepared: _Prepared, row: BulkRow) -> Values:
        values = ask(prepared, row)
        noted.append(Statement(prepared.text, values))
        return values

    def sent(_connection: object, _cursor: object, text: str, values: object, *_: object) -> None:
        noted.append(Statement(text, values))

    monkeypatch.setattr(_Prepared, "values", note)
    event.listen(Engine, "before_cursor_execute", sent)
    yield noted
    event.remove(Engine, "before_cursor_execute", sent)
