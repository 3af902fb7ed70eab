"""What a process keeps, and that nothing of it outlives the word of a change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import pytest

from gateway.app.kept_records import KeptRecords, RecordCache
from gateway.core.calls import Ready
from gateway.core.change_feed import Act
from gateway.credentials.model import Credential
from tests.world import registers
from tests.world.registers import Registers
from tests.world.stores.kept_records import Watch, keep


def at_hand(records: RecordCache[Any], key: str) -> bool:
    """Say whether a record need not be waited for."""
    found = records.find(key)
    if isinstance(found, Ready):
        return True
    found.close()  # type: ignore[attr-defined] # a coroutine, else
    return False


@dataclass
class House:
    """A store, what is kept of it, and an account with a credential."""

    office: Registers
    kept: KeptRecords
    watch: Watch
    company_id: str
    account_id: str
    client_id: str

    async def warmed(self) -> None:
        """Keep everything, believed for ever."""
        self.kept.validity.until = inf
        await self.kept.credentials.find(self.client_id)
        await self.kept.accounts.find(self.account_id)
        await self.kept.stops_in_force()
        await self.kept.keyring.published()

    def is_kept(self) -> bool:
        """Say whether the credential need not be waited for."""
        return at_hand(self.kept.credentials, self.client_id)

    async def known(self) -> Credential:
        found = await self.kept.credentials.find(self.client_id)
        assert found is not None
        return found


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with registers.opened(tmp_path) as office:
        watch = Watch()
        company = await office.company("Padaria")
        account = await office.account(company.id)
        issued = await office.issue(company.id)
        made = House(
            office, keep(office, watch), watch, company.id, account.id, issued.credential.client_id
        )
        office.store.database.followers.append(partial(made.kept.forget, told_by="own"))
        await made.warmed()
        yield made


async def test_no_record_is_cached_before_the_feed_is_followed(house: House):
    fresh = keep(house.office, Watch())

    await fresh.accounts.find(house.account_id)

    assert not at_hand(fresh.accounts, house.account_id)


async def test_records_changed_by_another_process_are_dropped_by_its_act(house: House):
    for act in (
        Act("credential.revoked", f"credential:{house.client_id}"),
        Act("account.changed", f"account:{house.account_id}"),
        Act("signing_key.retired", "signing_key:any"),
        Act("payouts.stopped", "provider:sandbox"),
    ):
        house.kept.forget(act, "feed")
        house.kept.forget(act, "feed")

    assert house.watch.forgotten() == [
        *("feed.credential", "feed.account", "feed.signing_key", "feed.stop")
    ]


async def test_acts_on_other_subjects_drop_no_record(house: House):
    for subject in ("user:u-1", "address:203.0.113.7", "account:another", "credential:cli_other"):
        house.kept.forget(Act("sign_in.failed", subject), "feed")

    assert house.watch.forgotten() == []
    assert house.is_kept()


async def test_every_record_can_be_dropped(house: House):
    house.kept.forget_all()

    assert sorted(house.watch.forgotten()) == [
        *("restart.account", "restart.credential", "restart.signing_key", "restart.stop")
    ]
    assert not house.is_kept()
