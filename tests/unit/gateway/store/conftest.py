"""A store in a file, migrated, for what does not need both databases."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from gateway.companies.service import add_company
from gateway.domain.accounts.accounts import Environment
from gateway.store.engine import Store, open_store
from gateway.store.kernel.hot_statements import BulkRow, Values, _Hot
from gateway.store.schema import prepare
from tests.world.statements import Statement
from tests.world.store import migrated
from tests.world.stores import samples


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Address of a file that does not exist yet, in a folder that does not either."""
    return f"sqlite:///{tmp_path}/var/store.db"


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """A sandbox store with one company and one account."""
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
    ask = _Hot.asked

    def note(hot: _Hot, row: BulkRow) -> Values:
        values = ask(hot, row)
        noted.append(Statement(hot.text, values))
        return values

    def sent(_connection: object, _cursor: object, text: str, values: object, *_: object) -> None:
        noted.append(Statement(text, values))

    monkeypatch.setattr(_Hot, "asked", note)
    event.listen(Engine, "before_cursor_execute", sent)
    yield noted
    event.remove(Engine, "before_cursor_execute", sent)
