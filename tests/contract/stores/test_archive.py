"""Old payouts leave the database for files: which, when, and what is left of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, func, insert, select, update

from gateway.app.failpoints import OF_AN_ARCHIVE
from gateway.app.store import Store
from gateway.archive import lines
from gateway.archive.folder import ArchiveFolder
from gateway.archive.reading import faults, find, unlike
from gateway.banks.port.providers import PixReturn
from gateway.core.audit_context import RuleViolation
from gateway.core.company_scope import StopScope
from gateway.core.money import Money
from gateway.net.common.runtime import Failpoint, unarmed
from gateway.payouts.model import Payout, PayoutState
from gateway.store.tables.core import (
    archived_payouts,
    attempts,
    audit,
    bank_names,
    day_closings,
    opinions,
    payouts,
)
from tests.contract.stores.databases import both
from tests.world import archive as archiving
from tests.world.archive import archive, archivist
from tests.world.stops import plant, sample
from tests.world.stores import samples
from tests.world.stores.samples import ACCOUNT, CLIENT, COMPANY, NOW, SISTER, attempt, change, of

pytestmark = both
JANUARY = datetime(2026, 1, 31, 23, 59, 59, 999999, tzinfo=UTC)
APRIL = datetime(2026, 4, 30, 23, 0, tzinfo=UTC)
MAY = datetime(2026, 5, 1, tzinfo=UTC)
"""The first month that stays: it is November, and six months are kept."""
SENT = {"name": "", "tax_number": "529.982.247-25", "key_type": "email", "key": "Maria@Example.com"}
STAFF = archivist(samples.now)


class Ended(Exception):
    """Stands for the end of the process."""


async def write(store: Store, folder: Path, passed: Failpoint = unarmed) -> list[str]:
    """Archive what may leave; return the files that were written or gone on with."""
    return [name for name, _ in await archiving.write(store.database, folder, samples.now, passed)]


async def paid(store: Store, reference: str = "order-1", at: datetime = JANUARY) -> Payout:
    """Make a payout that ended a second after it was made."""
    made = samples.payout(reference, created_at=at)
    made = replace(made, destination_sent=SENT, fingerprint=made.request().fingerprint())
    assert await store.payouts.add(made, attempt(started_at=at)) is None
    step = of(
        change(PayoutState.SENDING, PayoutState.PAID, reference=reference),
        at=at + timedelta(seconds=1),
        settled_at=at + timedelta(seconds=1),
        provider_id=f"id-{reference}",
        e2e_id=f"E{reference}",
        evidence=samples.EVIDENCE,
    )
    assert await store.payouts.record(step)
    found = await store.payouts.find(ACCOUNT, reference)
    assert found is not None
    return found


def archived(folder: Path) -> Iterator[dict[str, Any]]:
    """Read every payout in the files, as anybody's tools do."""
    for file in sorted(folder.rglob("*.gz")):
        yield from map(json.loads, gzip.decompress(file.read_bytes()).splitlines())


async def count(store: Store, table: Table) -> int:
    row = await store.database.first(select(func.count()).select_from(table))
    assert row is not None
    return int(row[0])


async def test_a_payout_leaves_with_its_tries_and_is_found_as_before(store: Store, tmp_path: Path):
    before = await paid(store)
    await paid(store, "young", MAY)

    assert await write(store, tmp_path) == [f"{ACCOUNT}/2026-01-1.jsonl.gz"]

    [in_file] = archived(tmp_path)
    assert in_file["destination"]["key"] == "maria@example.com"
    assert in_file["destination_sent"]["tax_number"] == "529.982.247-25"
    assert (in_file["centavos"], in_file["created_at"]) == (1050, "2026-01-31T23:59:59.999999Z")
    assert in_file["attempts"][0]["evidence"]["provider_code"] == "E\x00-\ud800"
    assert [await count(store, each) for each in (payouts, attempts, bank_names)] == [1, 1, 2]
    after = await store.payouts.find(ACCOUNT, "order-1")
    assert after is not None
    assert after.archived
    masked = {**SENT, "tax_number": "***.982.247-**", "key": "M•••••@E•••••.com"}
    assert after.destination_sent == masked
    assert after.request().fingerprint() != after.fingerprint == before.fingerprint
    same = ("state", "value", "e2e_id", "settled_at", "created_at", "date", "provider_key")
    assert [getattr(after, each) for each in same] == [getattr(before, each) for each in same]
    assert await store.payouts.attempts(ACCOUNT, "order-1") == []


async def test_a_reference_that_is_archived_is_never_new(store: Store, tmp_path: Path):
    """Also beside others in one look, and in another account it is."""
    before = await paid(store)
    await write(store, tmp_path)

    met = await store.payouts.precedents(ACCOUNT, before.request(), None)
    sister = await store.payouts.precedents(SISTER, before.request(), None)

    assert met.stored is not None
    assert met.stored.fingerprint == before.request().fingerprint()
    assert met.stored.state is PayoutState.PAID
    assert sister.stored is None


async def test_lists_of_an_account_have_archived_payouts_too(store: Store, tmp_path: Path):
    for reference, at in (("a", JANUARY), ("b", JANUARY - timedelta(days=1)), ("open", JANUARY)):
        await paid(store, reference, at)
    await store.database.write(
        update(payouts).where(payouts.c.reference == "open").values(review=True)
    )
    window = samples.search("2026-01-01", "2026-01-31", limit=2)
    whole = [
        await store.payouts.search(ACCOUNT, window),
        await store.payouts.whole(ACCOUNT, window),
    ]

    await write(store, tmp_path)

    for find_again, (rows, total) in zip(
        (store.payouts.search, store.payouts.whole), whole, strict=True
    ):
        found, again = await find_again(ACCOUNT, window)
        assert ([each.reference for each in found], again) == (["open", "a"], 3)
        assert ([each.reference for each in rows], total) == (["open", "a"], 3)
    second = samples.search("2026-01-01", "2026-01-31", page=2, limit=2)
    assert [each.reference for each in (await store.payouts.search(ACCOUNT, second))[0]] == ["b"]


async def test_each_month_of_an_account_has_a_file(store: Store, tmp_path: Path):
    await paid(store, "a")
    await paid(store, "b", APRIL)
    await paid(store, "c", MAY)

    planned = await archive(store.database).plan(STAFF)
    done = await write(store, tmp_path)

    assert [(each.step, each.month, each.payouts, str(each.value)) for each in planned] == [
        ("write", date(2026, 1, 1), 1, "10.50"),
        ("write", date(2026, 4, 1), 1, "10.50"),
    ]
    assert done == [f"{ACCOUNT}/2026-01-1.jsonl.gz", f"{ACCOUNT}/2026-04-1.jsonl.gz"]
    assert await archive(store.database).plan(STAFF) == []
    assert await write(store, tmp_path) == []
    await paid(store, "late", JANUARY)
    assert await write(store, tmp_path) == [f"{ACCOUNT}/2026-01-2.jsonl.gz"]


async def _open_day(store: Store) -> None:
    row: dict[str, Any] = dict.fromkeys(day_closings.c.keys(), 0)
    digests = {"digest": "", "movements": ""}
    texts = {"account_id": ACCOUNT, "signed_by": "ana", "locked_by": "", **digests}
    days = {"day": date(2026, 1, 31), "signed_at": NOW, "locked_at": None}
    await store.database.write(insert(day_closings), {**row, **texts, **days})


async def _opinion(store: Store) -> None:
    row = {"by": "ana", "verdict": "paid", "reason": "seen", "at": NOW, "attempt": 0}
    key = select(payouts.c.account_id, payouts.c.reference_sha256)
    found = await store.database.first(key)
    assert found is not None
    await store.database.write(insert(opinions), {**found._asdict(), **row})


def _changed(**values: object) -> Any:
    async def act(store: Store) -> None:
        await store.database.write(update(payouts).values(values))

    return act


async def _returned(store: Store) -> None:
    made = samples.payout(created_at=JANUARY)
    await store.payouts.note_returns(made, [PixReturn(id="D1", value=Money(1), at=NOW)])


def _stopped(scope: StopScope, subject: str) -> Any:
    async def act(store: Store) -> None:
        ends_at = NOW + timedelta(hours=1)
        await plant(store, sample(scope=scope, subject=subject, ends_at=ends_at))

    return act


STAYS = {
    **{
        each.value: _changed(state=each.value)
        for each in PayoutState
        if each.value not in {"paid", "failed", "rejected"}
    },
    "in review": _changed(review=True),
    "to be checked": _changed(next_check_at=NOW),
    "changed this month": _changed(updated_at=MAY),
    "with a return": _returned,
    "with an opinion": _opinion,
    "of a day that is signed and not locked": _open_day,
    "everything stopped": _stopped(StopScope.EVERYTHING, ""),
    "its company stopped": _stopped(StopScope.COMPANY, COMPANY),
    "its account stopped": _stopped(StopScope.ACCOUNT, ACCOUNT),
    "its bank stopped": _stopped(StopScope.PROVIDER, "sandbox"),
    "its credential stopped": _stopped(StopScope.CREDENTIAL, CLIENT),
}


@pytest.mark.parametrize("what", STAYS)
async def test_a_payout_that_is_not_at_rest_stays(store: Store, tmp_path: Path, what: str):
    await paid(store)
    await STAYS[what](store)

    planned = await archive(store.database).plan(STAFF)
    written = await write(store, tmp_path)

    assert (planned, written) == ([], [])
    assert await count(store, payouts) == 1
    assert list(tmp_path.rglob("*.part")) == []


@pytest.mark.parametrize("point", OF_AN_ARCHIVE)
async def test_a_run_that_ends_anywhere_loses_and_doubles_nothing(
    store: Store, tmp_path: Path, point: str, monkeypatch: pytest.MonkeyPatch
):
    """Twice at each point; a transaction deletes one payout, so that it ends between two."""
    monkeypatch.setattr("gateway.archive.service._AT_ONCE", 1)
    references = [f"order-{number}" for number in range(3)]
    for each in references:
        await paid(store, each)

    def end(passed: str) -> None:
        if passed == point:
            raise Ended

    for _ in range(2):
        with suppress(Ended):
            await write(store, tmp_path, end)
        stored = {row.reference for row in await store.database.rows(select(payouts.c.reference))}
        left = {row.reference for row in await store.database.rows(_LEFT)}
        in_files = [each["reference"] for each in archived(tmp_path)]
        assert sorted(stored | left) == references
        assert not stored & left
        assert not left - set(in_files)
    await write(store, tmp_path)

    assert sorted(each["reference"] for each in archived(tmp_path)) == references
    assert [await count(store, each) for each in (payouts, attempts, bank_names)] == [0, 0, 0]
    assert await count(store, archived_payouts) == 3
    assert list(faults(ArchiveFolder(tmp_path))) == []
    assert list(tmp_path.rglob("*.part")) == []


_LEFT = select(archived_payouts.c.reference)


@pytest.mark.parametrize("values", [{"centavos": 1051}, {"review": True}])
async def test_a_payout_that_changed_after_the_proof_stays(
    store: Store, tmp_path: Path, values: dict[str, object]
):
    await paid(store)
    await paid(store, "order-2")

    async def act() -> None:
        other = payouts.c.reference == "order-2"
        await store.database.write(update(payouts).where(other).values(values))

    def end(passed: str) -> None:
        if passed == "after_noted":
            raise Ended

    with suppress(Ended):
        await write(store, tmp_path, end)
    await act()
    done = await archiving.write(store.database, tmp_path, samples.now)

    assert done[0] == (f"{ACCOUNT}/2026-01-1.jsonl.gz", 1)
    rows = await store.database.rows(_LEFT.where(archived_payouts.c.reference == "order-1"))
    assert len(rows) == 1


@pytest.mark.parametrize(
    "damage",
    [b"", b"not a file of ours", gzip.compress(b"")],
    ids=["gone", "unreadable", "without a payout"],
)
async def test_nothing_is_deleted_by_a_file_that_was_damaged(
    store: Store, tmp_path: Path, damage: bytes
):
    await paid(store)

    def end(passed: str) -> None:
        if passed == "after_named":
            raise Ended

    with suppress(Ended):
        await write(store, tmp_path, end)
    [file] = tmp_path.rglob("*.gz")
    if damage:
        file.write_bytes(damage)
    else:
        file.unlink()

    with pytest.raises(RuleViolation, match=r"2026-01-1\.jsonl\.gz"):
        await write(store, tmp_path)

    assert await count(store, payouts) == 1
    assert [each.file for each in faults(ArchiveFolder(tmp_path))] == [
        f"{ACCOUNT}/2026-01-1.jsonl.gz"
    ]


def another_amount(packed: bytes) -> bytes:
    return gzip.compress(gzip.decompress(packed).replace(b'"centavos":1050', b'"centavos":1051'))


async def test_a_draft_that_cannot_be_read_back_deletes_nothing(store: Store, tmp_path: Path):
    """A disk that keeps something else than was written."""
    await paid(store)
    for damage in (another_amount, lambda packed: packed[:-4], lambda _: gzip.compress(b"")):

        def spoil(passed: str, spoiled: Callable[[bytes], bytes] = damage) -> None:
            if passed == "after_draft":
                [draft] = tmp_path.rglob("*.part")
                draft.write_bytes(spoiled(draft.read_bytes()))

        with pytest.raises(RuleViolation):
            await write(store, tmp_path, spoil)
        assert await archive(store.database).records.files() == []
    assert await count(store, payouts) == 1


async def test_the_file_and_its_manifest_prove_each_other(store: Store, tmp_path: Path):
    await paid(store)
    await write(store, tmp_path)
    [noted], folder = await archive(store.database).records.files(), ArchiveFolder(tmp_path)
    manifest = tmp_path / noted.name.replace(".jsonl.gz", ".json")

    assert list(faults(folder)) == []
    assert unlike(folder, noted) is None
    assert json.loads(manifest.read_text())["sha256"] == noted.sha256
    changed = json.loads(manifest.read_text()) | {"centavos": 1}
    manifest.write_text(json.dumps(changed))
    assert "centavos" in next(faults(folder)).fault
    assert unlike(folder, noted) is not None
    manifest.unlink()
    assert [each.fault for each in faults(folder)] == ["has no manifest of its own"]


async def test_a_payout_is_found_in_the_files_by_each_of_its_names(store: Store, tmp_path: Path):
    before = await paid(store)
    await paid(store, "order-2")
    await write(store, tmp_path)

    for name in ("order-1", "Eorder-1", before.provider_key):
        [shown] = find(ArchiveFolder(tmp_path), name, ACCOUNT)
        assert shown["file"] == f"{ACCOUNT}/2026-01-1.jsonl.gz"
        assert shown["attempts"][0]["outcome"] == "paid"
        assert "529" not in json.dumps(shown)
    assert list(find(ArchiveFolder(tmp_path), "order-3")) == []
    assert list(find(ArchiveFolder(tmp_path), "order-1", SISTER)) == []


async def test_the_act_names_the_file_and_its_digest(store: Store, tmp_path: Path):
    await paid(store)
    await write(store, tmp_path)

    [noted] = await archive(store.database).records.files()
    rows = await store.database.rows(select(audit).where(audit.c.action == "payouts.archived"))
    [event] = [json.loads(row.details) for row in rows]
    assert event == {
        "file": noted.name,
        "count": "1",
        "value": "10.50",
        "sha256": noted.sha256,
    }


async def test_without_a_number_of_months_nothing_leaves(store: Store, tmp_path: Path):
    await paid(store)

    with pytest.raises(RuleViolation, match="keep_months"):
        await archive(store.database, keep_months=None).plan(STAFF)

    assert await count(store, payouts) == 1


async def test_a_line_is_the_row(store: Store):
    await paid(store)
    row = await store.database.first(select(payouts))
    assert row is not None

    document = lines.read(lines.line(row, []))

    assert lines.digest_of(document) == row.reference_sha256
    with pytest.raises(ValueError, match="no payout"):
        lines.read(b'{"reference":"x"}')
