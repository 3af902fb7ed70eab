"""Packages of locked days: what is in them, that anybody can verify them, and what is refused."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from msgspec import structs
from sqlalchemy import select

from gateway.app.store import Store
from gateway.banks.port.providers import Unreachable
from gateway.closings.packages import OpenDay, PackageRequest
from gateway.core.audit_context import RuleViolation
from gateway.core.company_scope import CompanyScope
from gateway.statements.model import local_day
from gateway.store.tables.core import audit
from tests.contract.stores.closing_days import CAME_IN, DAY, FEE, MORNING, Office
from tests.contract.stores.databases import both
from tests.world.movements import movement
from tests.world.stores.samples import ACCOUNT, NOW, SISTER, account

TODAY = local_day(NOW)
OF_DAY = PackageRequest(name=TODAY.isoformat(), first=TODAY, last=TODAY)
NOVEMBER = PackageRequest(name="2026-11", first=date(2026, 11, 1), last=date(2026, 11, 30))


async def locked(store: Store) -> Office:
    """Return an office whose day was signed and locked for both accounts."""
    office = Office(store)
    office.books[ACCOUNT].entries = [FEE, CAME_IN]
    await lock(office, TODAY)
    return office


async def lock(office: Office, day: date) -> None:
    await office.turn()
    shown = await office.days.of(office.who(), day)
    await office.days.sign(office.who(), day, shown.to_sign.digest)
    theirs = await office.days.of(office.who("joao"), day)
    await office.days.lock(office.who("joao"), day, theirs.to_lock.digest)


def opened(content: bytes) -> Mapping[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def manifest(content: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(opened(content)["manifest.json"])
    return found


@both
async def test_a_package_has_each_account_s_files_figures_and_signatures(store: Store) -> None:
    office = await locked(store)

    made = await office.packages.make(office.who(), OF_DAY)

    files, told = opened(made.content), manifest(made.content)
    name = f"statement_{ACCOUNT}_{TODAY}_{TODAY}"
    assert made.file_name == f"closing_{TODAY}.zip"
    assert {each for each in files if ACCOUNT in each} == {
        f"{name}.csv",
        f"{name}.ofx",
        f"{name}.pdf",
    }
    assert "7,00" in files[f"{name}.csv"].decode("utf-8-sig")
    assert b"<BALAMT>1006.01</BALAMT>" in files[f"{name}.ofx"]
    (first, second) = told["accounts"]
    assert [first["account_id"], second["account_id"]] == [ACCOUNT, SISTER]
    assert (first["opening"], first["credits"], first["fees"], first["closing"]) == (
        "1000.00",
        "7.00",
        "0.99",
        "1006.01",
    )
    (day,) = first["days"]
    assert (day["day"], day["signed_by"], day["locked_by"], day["locked_at"]) == (
        "2026-11-20",
        "user:maria",
        "user:joao",
        "2026-11-21T09:30:00Z",
    )
    assert told["left_out"] == []


async def test_a_package_is_verified_by_its_digests(store: Store) -> None:
    """As ``sha256sum -c SHA256SUMS`` does: every file but that one has a line."""
    office = await locked(store)

    files = opened((await office.packages.make(office.who(), OF_DAY)).content)

    lines = [line.split("  ") for line in files["SHA256SUMS"].decode().splitlines()]
    assert {name for _, name in lines} == files.keys() - {"SHA256SUMS"}
    assert all(hashlib.sha256(files[name]).hexdigest() == digest for digest, name in lines)
    for each in manifest_files(files):
        assert hashlib.sha256(files[each["name"]]).hexdigest() == each["sha256"]


def manifest_files(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    accounts = json.loads(files["manifest.json"])["accounts"]
    return [each for account in accounts for each in account["files"]]


@both
async def test_the_same_days_give_the_same_bytes(store: Store) -> None:
    """Later, in another order of the bank's, and after further movements; each is in the log."""
    office = await locked(store)
    first = await office.packages.make(office.who(), OF_DAY)
    office.now = MORNING + 3 * DAY
    later = movement(provider_id="later", created_at=MORNING + DAY)
    office.books[ACCOUNT].entries = [later, CAME_IN, FEE]

    second = await office.packages.make(office.who("joao"), OF_DAY)

    assert second.content == first.content
    wanted = select(audit).where(audit.c.action == "closing.exported").order_by(audit.c.number)
    rows = await store.database.rows(wanted)
    digest = hashlib.sha256(first.content).hexdigest()
    assert [(row.actor, row.subject) for row in rows] == [
        (f"user:{name}", f"account:{account_id}")
        for name in ("maria", "joao")
        for account_id in (ACCOUNT, SISTER)
    ]
    assert all(digest in str(row.details) for row in rows)


async def test_movements_other_than_signed_are_in_no_package(store: Store) -> None:
    """Texts may change; amounts, instants and ids may not."""
    office = await locked(store)
    books = office.books[ACCOUNT]
    books.entries = [FEE, structs.replace(CAME_IN, description="named later")]
    await office.packages.make(office.who(), OF_DAY)
    books.entries = [FEE]

    with pytest.raises(RuleViolation, match="other movements than signed"):
        await office.packages.make(office.who(), OF_DAY)


async def test_accounts_with_an_open_day_are_left_out(store: Store) -> None:
    """The manifest names them; of them alone there is no package."""
    office = Office(store)
    office.books[SISTER].problem = Unreachable("x")
    await lock(office, TODAY)

    made = await office.packages.make(office.who(), OF_DAY)

    told = manifest(made.content)
    assert [each["account_id"] for each in told["accounts"]] == [ACCOUNT]
    assert told["left_out"] == [{"account_id": SISTER, "open_days": [TODAY.isoformat()]}]
    with pytest.raises(RuleViolation, match="no account has all days"):
        await office.packages.make(office.who(), of_account(OF_DAY, SISTER))


async def test_a_month_with_an_open_day_is_no_package(store: Store) -> None:
    office = await locked(store)
    office.now = MORNING + 11 * DAY

    with pytest.raises(OpenDay, match="first open day is 2026-11-21"):
        await office.packages.make(office.who(), NOVEMBER)


@both
async def test_a_gap_after_a_day_before_the_account_s_first_is_an_open_day(store: Store) -> None:
    """The bank's account is older than ours: an earlier day may be signed, and stand alone."""
    office = await locked(store)
    earlier = TODAY - 3 * DAY
    day = await office.closings.read(office.who(), account(), earlier)
    await office.closings.sign(office.who(), account(), earlier, day.digest)
    await office.closings.lock(office.who("joao"), account(), earlier, day.digest)
    span = PackageRequest(name="span", first=earlier - DAY, last=TODAY, account_id=ACCOUNT)

    with pytest.raises(OpenDay) as refused:
        await office.packages.make(office.who(), span)

    assert refused.value.day == earlier + DAY


async def test_a_month_holds_every_day_since_the_account_s_first(store: Store) -> None:
    office = Office(store)
    office.books[ACCOUNT].entries = [FEE, CAME_IN]
    for number in range(11):
        office.now = MORNING + number * DAY
        await lock(office, TODAY + number * DAY)

    made = await office.packages.make(office.who(), NOVEMBER)

    (first, _) = manifest(made.content)["accounts"]
    assert made.file_name == "closing_2026-11.zip"
    assert [each["day"] for each in first["days"]] == [
        (TODAY + number * DAY).isoformat() for number in range(11)
    ]
    assert (first["opening"], first["fees"], first["closing"]) == ("1000.00", "0.99", "1006.01")
    other = await office.packages.make(office.who(), of_account(NOVEMBER, SISTER))
    assert [each["account_id"] for each in manifest(other.content)["accounts"]] == [SISTER]


def of_account(wanted: PackageRequest, account_id: str) -> PackageRequest:
    return PackageRequest(
        name=wanted.name, first=wanted.first, last=wanted.last, account_id=account_id
    )


async def test_days_of_other_companies_and_days_that_are_not_over_are_refused(
    store: Store,
) -> None:
    office = await locked(store)

    with pytest.raises(RuleViolation, match="no account"):
        await office.packages.make(office.who(scope=CompanyScope(frozenset())), OF_DAY)
    with pytest.raises(RuleViolation, match="over"):
        await office.packages.make(office.who(), NOVEMBER)
