"""Mail that waits in the store, of which a reader of the store learns no link."""

import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.app.store import open_store
from gateway.core.company_scope import EVERY_COMPANY
from gateway.identity.challenges import Mail, Outbox
from gateway.identity.sealed_mail import SealedOutbox
from gateway.security.sealing import Sealer
from tests.world.standing import NOON

TEXT = "Olá!\n\nhttps://pix.example/panel/reset?token=live\n"
MAIL = Mail(id="m1", to="maria@example.com", subject="s", text=TEXT, created_at=NOON)
KEYS = {"old": b"o" * 32, "new": b"n" * 32}


@pytest.fixture
async def plain(store_file: Path, tmp_path: Path) -> AsyncIterator[Outbox]:
    """The outbox as the store has it."""
    shutil.copy(store_file, tmp_path / "store.db")
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    yield store.identity.outbox
    await store.close()


@pytest.fixture
def outbox(plain) -> SealedOutbox:
    return SealedOutbox(plain, Sealer(KEYS, "old"))


async def test_what_is_stored_cannot_be_read(plain, outbox: SealedOutbox):
    await outbox.put(MAIL)

    (stored,) = await plain.latest(5, EVERY_COMPANY)
    assert "live" not in stored.text
    assert "http" not in stored.text
    assert replace(stored, text=TEXT) == MAIL


async def test_who_has_the_key_reads_it(plain, outbox: SealedOutbox):
    """A retired one too, since mail may wait while keys change."""
    await outbox.put(MAIL)
    renewed = SealedOutbox(plain, Sealer(KEYS, "new"))

    assert list(await renewed.waiting(5)) == list(await renewed.latest(5, EVERY_COMPANY)) == [MAIL]


async def test_clear_text_in_the_store_is_never_sent(plain, outbox: SealedOutbox):
    """Anyone who can write to the database could send mail in our name."""
    await plain.put(MAIL)

    assert list(await outbox.waiting(5)) == []
    assert list(await plain.waiting(5)) == []


async def test_a_sent_message_has_no_text(plain, outbox: SealedOutbox):
    await outbox.put(MAIL)

    await outbox.sent("m1", NOON)

    assert list(await outbox.waiting(5)) == []
    assert list(await outbox.latest(5, EVERY_COMPANY)) == [replace(MAIL, text="", sent_at=NOON)]


async def test_a_message_whose_key_is_gone_holds_up_no_other(plain, outbox, caplog):
    """It is given up and told, without its text."""
    await outbox.put(MAIL)
    await outbox.put(replace(MAIL, id="m2"))
    bare = SealedOutbox(plain, Sealer({"new": KEYS["new"]}, "new"))
    await bare.put(replace(MAIL, id="m3"))

    shown = {each.id: each.text for each in await bare.latest(5, EVERY_COMPANY)}
    waiting = [each.id for each in await bare.waiting(5)]

    assert shown == {"m1": "", "m2": "", "m3": TEXT}
    assert waiting == ["m3"]
    assert [each.id for each in await plain.waiting(5)] == ["m3"]
    assert "m1" in caplog.text


async def test_a_text_moved_to_another_message_is_not_read(plain, outbox):
    await outbox.put(MAIL)
    (stored,) = await plain.latest(1, EVERY_COMPANY)
    await plain.put(replace(stored, id="m2", to="eve@example.com"))

    assert {each.id: each.text for each in await outbox.latest(5, EVERY_COMPANY)} == {
        "m1": TEXT,
        "m2": "",
    }
