"""Mail to users."""

from __future__ import annotations

import asyncio
import email
import hashlib
import shutil
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from email.policy import default
from pathlib import Path

import aiosmtplib
import pytest

from gateway.config.identity import Mail as Server
from gateway.config.values import Secret
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.storage import StoreUnavailable
from gateway.core.user import Preferences
from gateway.identity.mail import Mailer, MailSender, SealedMailbox, message, sending
from gateway.identity.model import Mail, Purpose
from gateway.identity.store import StoredMailbox
from gateway.process.periodic_task import PeriodicTask
from gateway.security.sealing import Sealer
from gateway.store.kernel.database import Database
from tests.servers.streams import listening
from tests.world.standing import NOON, Clock
from tests.world.store import open_store
from tests.world.waiting import until


async def test_a_link_is_stored_only_as_its_digest(identity_world, maria):
    await Mailer(identity_world.context).send_reset_link(maria)

    token = await identity_world.link()
    now = identity_world.clock.now()
    row = await identity_world.store.identity.challenges.use_mail_token(
        hashlib.sha256(token.encode()).digest(), Purpose.RESET, now
    )
    assert row is not None
    assert row.user_id == maria.id


async def test_an_invitation_addresses_the_user_by_name(identity_world, maria):
    await Mailer(identity_world.context).send_invitation(maria)

    text = (await identity_world.mails())[0]
    assert text.startswith("Olá, Maria!")
    assert "https://pix.example/panel/invitation?token=" in text


async def test_a_notice_holds_no_link(identity_world, maria):
    await Mailer(identity_world.context).notify(
        maria, ("Aviso", "Notice"), ("Algo mudou.", "A change.")
    )

    assert "://" not in (await identity_world.mails())[0]


async def test_users_with_an_english_panel_get_mail_in_english(identity_world, maria):
    english = replace(maria, preferences=Preferences(language="en"))

    await Mailer(identity_world.context).send_reset_link(english)

    (text,) = await identity_world.mails()
    assert text.startswith("Hello, Maria!\n\nSomebody asked for a new password")
    assert "https://pix.example/panel/reset?token=" in text


LETTER = Mail(
    id="m-1",
    to="maria@example.com",
    subject="[pixgate] Redefinição de senha",
    text="Olá, Maria!\n\nhttps://pix.example/panel/reset?token=abc\n",
    created_at=NOON,
)


class Box:
    """A mailbox in memory; unavailable on demand."""

    def __init__(self, *mails: Mail) -> None:
        self.mails = {each.id: each for each in mails}
        self.silent = False

    async def put(self, mail: Mail) -> None:
        self.mails[mail.id] = mail

    async def waiting(self, most: int, but: Collection[str] = ()) -> Sequence[Mail]:
        if self.silent:
            raise StoreUnavailable
        unsent = (each for each in self.mails.values() if each.sent_at is None)
        return [each for each in unsent if each.id not in but][:most]

    async def sent(self, mail_id: str, at: datetime) -> None:
        self.mails[mail_id] = replace(self.mails[mail_id], sent_at=at, text="")

    async def latest(self, most: int) -> Sequence[Mail]:
        return list(self.mails.values())[:most]


class Post:
    """A mail server that accepts messages, or answers as set."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.answers: dict[str, str] = {}
        self.heard: list[str] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 post\r\n")
        while line := (await reader.readline()).decode().strip():
            self.heard.append(line)
            word = line.split()[0].upper()
            if word == "DATA":
                writer.write(b"354 go on\r\n")
                self.taken.append(await reader.readuntil(b"\r\n.\r\n"))
            said = self.answers.get(line) or self.answers.get(word) or "250 yes"
            writer.write(said.encode() + b"\r\n")
            if word == "QUIT":
                break


@pytest.fixture
async def post() -> AsyncIterator[Post]:
    """A server on the loopback."""
    made = Post()
    async with listening(made.serve) as made.port:
        yield made


def sender(box: Box, post: Post, clock: Clock | None = None, **changed: object) -> MailSender:
    settings = {
        "host": "127.0.0.1",
        "port": post.port,
        "encryption": "none",
        "sender": "pix@pix.example",
        "timeout_s": 60.0,
        "every_s": 0.01,
        **changed,
    }
    return MailSender(box, Server(**settings), (clock or Clock()).now)


def repeated(once: MailSender) -> PeriodicTask:
    return PeriodicTask("mail", once.run_once, sending(Server(every_s=0.01)))


async def test_waiting_mail_is_sent_and_its_text_deleted(post):
    box = Box(LETTER, replace(LETTER, id="m-2"))

    assert await sender(box, post).send_waiting() == 2

    taken = email.message_from_bytes(post.taken[0], policy=default)
    assert (taken["From"], taken["To"]) == ("pix@pix.example", "maria@example.com")
    assert taken["Subject"] == LETTER.subject
    assert "token=abc" in taken.get_content()
    assert [(each.sent_at, each.text) for each in box.mails.values()] == [(NOON, "")] * 2
    assert await sender(box, post).send_waiting() == 0


async def test_mail_refused_for_now_is_sent_later(post):
    box = Box(LETTER)
    post.answers["MAIL"] = "451 later"

    with pytest.raises(aiosmtplib.SMTPSenderRefused):
        await sender(box, post).send_waiting()

    assert box.mails["m-1"].sent_at is None
    del post.answers["MAIL"]
    assert await sender(box, post).send_waiting() == 1


async def test_permanently_refused_mail_is_dropped_and_logged_without_the_address(post, caplog):
    box = Box(LETTER)
    post.answers["RCPT"] = "550 nobody here"

    assert await sender(box, post).send_waiting() == 0

    assert box.mails["m-1"].sent_at == NOON
    assert "m-1" in caplog.text
    assert "maria" not in caplog.text


@pytest.mark.parametrize(
    ("asked", "answer"),
    [("RCPT TO:<full@example.com>", "452 mailbox full"), ("DATA", "550 not such words")],
)
async def test_mail_refused_for_one_recipient_does_not_delay_another(post, asked: str, answer: str):
    """A mailbox may be full for days, while others wait for their links."""
    box = Box(replace(LETTER, id="m-0", to="full@example.com"), LETTER)
    post.answers[asked] = answer

    await sender(box, post).send_waiting()

    assert box.mails["m-0"].sent_at is None
    assert post.heard.count("RCPT TO:<maria@example.com>") == 1
    assert (box.mails["m-1"].sent_at is None) == (asked == "DATA")


async def test_refused_mail_waits_five_minutes_while_other_mail_is_sent(post, caplog):
    """As many as one run handles: those after them are sent by the next."""
    clock = Clock()
    full = [replace(LETTER, id=f"m-{n}", to="full@example.com") for n in range(100, 120)]
    post.answers["RCPT TO:<full@example.com>"] = "452 mailbox full"
    box = Box(*full, LETTER)
    once = sender(box, post, clock)

    sent = [await once.send_waiting() for _ in range(3)]
    tried = post.heard.count("RCPT TO:<full@example.com>")
    post.answers.clear()
    clock.passes(299)
    sent.append(await once.send_waiting())
    clock.passes(1)
    sent.append(await once.send_waiting())

    assert (sent, tried) == ([0, 1, 0, 0, 20], 20)
    assert caplog.messages == ["mail waits: SMTPRecipientsRefused"] * 20


async def test_the_background_task_continues_after_a_failure(post, caplog):
    box = Box(LETTER)
    box.silent = True
    task = repeated(sender(box, post))

    task.start()
    task.start()
    await until(lambda: "mail waits" in caplog.text)
    box.silent = False
    await until(lambda: box.mails["m-1"].sent_at)
    await task.stop()
    await task.stop()

    assert len(post.taken) == 1
    assert "StoreUnavailable" in caplog.text


async def test_without_a_mail_server_mail_stays_queued(post):
    """In the sandbox messages wait to be read."""
    box = Box(LETTER)

    await sender(box, post, host="").run_once()

    assert box.mails["m-1"].sent_at is None


async def test_nothing_is_sent_without_the_configured_encryption(post):
    """A link is never sent unencrypted."""
    box = Box(LETTER)

    with pytest.raises(aiosmtplib.SMTPException):
        await sender(box, post, encryption="starttls").send_waiting()

    assert post.taken == []


async def test_the_configured_user_is_authenticated_at_the_mail_server(post):
    post.answers["EHLO"] = "250-post\r\n250 AUTH PLAIN"
    post.answers["AUTH"] = "235 in"

    await sender(Box(LETTER), post, user="pix", password=Secret("secret")).send_waiting()

    assert "AUTH PLAIN AHBpeABzZWNyZXQ=" in post.heard


@pytest.mark.parametrize("field", ["to", "subject"])
def test_a_line_break_never_becomes_a_header(field: str):
    with pytest.raises(ValueError, match=r"linefeed|newline|carriage"):
        message(
            replace(LETTER, **{field: "x@example.com\r\nBcc: evil@example.com"}), "pix@pix.example"
        )


TEXT = "Olá!\n\nhttps://pix.example/panel/reset?token=live\n"
MAIL = Mail(id="m1", to="maria@example.com", subject="s", text=TEXT, created_at=NOON)
KEYS = {"old": b"o" * 32, "new": b"n" * 32}


@pytest.fixture
async def database(store_file: Path, tmp_path: Path) -> AsyncIterator[Database]:
    shutil.copy(store_file, tmp_path / "store.db")
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    yield store.database
    await store.close()


@pytest.fixture
def plain(database) -> StoredMailbox:
    """The mailbox as the store has it."""
    return StoredMailbox(database)


@pytest.fixture
def mailbox(database) -> SealedMailbox:
    return SealedMailbox(database, Sealer(KEYS, "old"))


async def test_stored_mail_is_encrypted(plain, mailbox: SealedMailbox):
    await mailbox.put(MAIL)

    (stored,) = await plain.latest(5, EVERY_COMPANY)
    assert "live" not in stored.text
    assert "http" not in stored.text
    assert replace(stored, text=TEXT) == MAIL


async def test_the_key_decrypts_stored_mail(database, mailbox: SealedMailbox):
    """A retired one too, because mail may wait during a rotation."""
    await mailbox.put(MAIL)
    renewed = SealedMailbox(database, Sealer(KEYS, "new"))

    assert list(await renewed.waiting(5)) == list(await renewed.latest(5, EVERY_COMPANY)) == [MAIL]


async def test_clear_text_in_the_store_is_never_sent(plain, mailbox: SealedMailbox):
    """Otherwise write access to the database could send mail in our name."""
    await plain.put(MAIL)

    assert list(await mailbox.waiting(5)) == []
    assert list(await plain.waiting(5)) == []


async def test_mail_whose_key_is_absent_does_not_delay_other_mail(database, plain, mailbox, caplog):
    """It is dropped and reported, without its text."""
    await mailbox.put(MAIL)
    await mailbox.put(replace(MAIL, id="m2"))
    bare = SealedMailbox(database, Sealer({"new": KEYS["new"]}, "new"))
    await bare.put(replace(MAIL, id="m3"))

    shown = {each.id: each.text for each in await bare.latest(5, EVERY_COMPANY)}
    waiting = [each.id for each in await bare.waiting(5)]

    assert shown == {"m1": "", "m2": "", "m3": TEXT}
    assert waiting == ["m3"]
    assert [each.id for each in await plain.waiting(5)] == ["m3"]
    assert "m1" in caplog.text


async def test_an_encrypted_text_moved_to_another_message_cannot_be_read(plain, mailbox):
    await mailbox.put(MAIL)
    (stored,) = await plain.latest(1, EVERY_COMPANY)
    await plain.put(replace(stored, id="m2", to="eve@example.com"))

    assert {each.id: each.text for each in await mailbox.latest(5, EVERY_COMPANY)} == {
        "m1": TEXT,
        "m2": "",
    }
