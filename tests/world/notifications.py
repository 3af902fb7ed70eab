"""People and chats that are told, and the tasks that tell them."""

from __future__ import annotations

import base64
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gateway.app.store import Store
from gateway.config.values import Secret
from gateway.core.rights import Role
from gateway.core.user import User
from gateway.deliveries.sender import Sender, SenderConfig
from gateway.identity.mail import Mailer, SealedMailbox
from gateway.notifications.calls import Called, CallSender, Channel
from gateway.notifications.chat import ChatChannel
from gateway.notifications.model import Chat, ChatFormat, Kind, PushSubscription
from gateway.notifications.occasions import Occasions
from gateway.notifications.outages import Outages
from gateway.notifications.push import PushChannel
from gateway.notifications.recipients import ChatRecipient, Recipients, UserRecipient
from gateway.notifications.store import ChatRecords, ChoiceRecords, NotificationRecords
from gateway.notifications.subscriptions import SubscriptionRecords
from gateway.notifications.watch import NotificationWatch
from gateway.security.webpush import PushSigner
from tests.world.deliveries import HALF, PATIENT
from tests.world.signing_keys import SEALER
from tests.world.standing import Clock
from tests.world.stores.people import user
from tests.world.stores.samples import NOW, event

ORIGIN: Final = "https://pix.example"
SIGNER: Final = PushSigner(b"p" * 32, ORIGIN)
PUSH_KEY: Final = Secret(base64.b64encode(b"p" * 32).decode())
"""The key of ``SIGNER``, as it is configured."""
_NUMBERS: Iterator[int] = count(1)


def new_id() -> str:
    return f"{next(_NUMBERS):08x}-0000-4000-8000-000000000048"


class _Context:
    """What a mailer needs to write."""

    def __init__(self, clock: Clock) -> None:
        self.now, self.new_id = clock.now, new_id


async def add_user(store: Store, name: str, *roles: Role, companies: str = "") -> User:
    """Store an active user who sees some companies; all where none is named."""
    made = replace(
        user(new_id(), f"{name}@example.com"),
        name=name.title(),
        roles=frozenset(roles),
        companies=frozenset(companies.split()),
    )
    await store.identity.users.add(made, event())
    return made


def chats_of(store: Store) -> ChatRecords:
    return ChatRecords(store.database, SEALER)


async def add_chat(
    store: Store, url: str, *kinds: Kind, company_id: str | None = None, **changed: Any
) -> Chat:
    chat = Chat(
        id=new_id(),
        company_id=company_id,
        name="Financeiro",
        format=changed.pop("format", ChatFormat.TEXT),
        host="chat.example",
        kinds=kinds or (Kind.ORDER,),
        language="en",
        created_at=NOW,
        created_by="cli",
        last_ok_at=None,
        failing_since=None,
    )
    assert await chats_of(store).add(chat, url, 20, event())
    return chat


def subscriptions_of(store: Store) -> SubscriptionRecords:
    return SubscriptionRecords(store.database, SEALER)


def recipients_of(store: Store, clock: Clock) -> Recipients:
    return Recipients(
        users=store.identity.users,
        choices=ChoiceRecords(store.database),
        chats=chats_of(store),
        subscriptions=subscriptions_of(store),
        occasions=Occasions(database=store.database, outages=Outages(store.database)),
        now=clock.now,
    )


def watch_on(store: Store, clock: Clock, **changed: Any) -> NotificationWatch:
    """Return the watch of a process."""
    context: Any = _Context(clock)
    watch = NotificationWatch(
        recipients=recipients_of(store, clock),
        outages=Outages(store.database),
        records=NotificationRecords(store.database),
        mailbox=SealedMailbox(store.database, SEALER),
        mailer=Mailer(context),
        origin=ORIGIN,
        now=clock.now,
        new_id=new_id,
        count=lambda _event, _label: None,
    )
    return replace(watch, **changed)


def chat_sender(
    store: Store, clock: Clock, config: SenderConfig = PATIENT
) -> CallSender[ChatRecipient]:
    """Return the sender of a process to chats, which may call this machine."""
    everybody = recipients_of(store, clock)
    channel = ChatChannel(
        everybody=everybody,
        chats=chats_of(store),
        sender=Sender(config, clock.now, clock.monotonic),
        origin=ORIGIN,
    )
    return _calls(store, clock, everybody, channel)


def push_sender(store: Store, clock: Clock) -> CallSender[UserRecipient]:
    """Return the sender of a process to browsers, which may call this machine."""
    everybody = recipients_of(store, clock)
    channel = PushChannel(
        everybody=everybody,
        subscriptions=everybody.subscriptions,
        sender=Sender(PATIENT, clock.now, clock.monotonic),
        signer=SIGNER,
        origin=ORIGIN,
        now=clock.now,
    )
    return _calls(store, clock, everybody, channel)


def _calls(
    store: Store, clock: Clock, everybody: Recipients, channel: Channel[Called]
) -> CallSender[Called]:
    return CallSender(
        channel=channel,
        occasions=everybody.occasions,
        records=NotificationRecords(store.database),
        now=clock.now,
        chance=lambda: HALF,
        count=lambda _event, _label: None,
    )


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser's side of a subscription."""

    private: ec.EllipticCurvePrivateKey
    auth: bytes

    @property
    def public(self) -> bytes:
        form = (Encoding.X962, PublicFormat.UncompressedPoint)
        return self.private.public_key().public_bytes(*form)

    def read(self, body: bytes) -> bytes:
        """Decrypt a message by RFC 8188 and RFC 8291, from what the browser has."""
        salt, (size, length) = body[:16], struct.unpack("!IB", body[16:21])
        sender, sealed = body[21 : 21 + length], body[21 + length :]
        assert len(sealed) <= size
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
        shared = self.private.exchange(ec.ECDH(), point)
        info = b"WebPush: info\x00" + self.public + sender
        key = _derived(shared, self.auth, info, 32)
        content_key = _derived(key, salt, b"Content-Encoding: aes128gcm\x00", 16)
        nonce = _derived(key, salt, b"Content-Encoding: nonce\x00", 12)
        padded = AESGCM(content_key).decrypt(nonce, sealed, None)
        assert padded.endswith(b"\x02")
        return padded[:-1]


def a_browser() -> Browser:
    return Browser(ec.generate_private_key(ec.SECP256R1()), os.urandom(16))


def encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


async def subscribe(store: Store, user: User, url: str, browser: Browser) -> PushSubscription:
    """Store a subscription of a person at a push service."""
    made = PushSubscription(
        id=new_id(), user_id=user.id, browser="Mozilla/5.0 Firefox/140.0", created_at=NOW
    )
    address = (url, encoded(browser.public), encoded(browser.auth))
    await subscriptions_of(store).add(made, address, 10, event())
    return made


def _derived(key: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(key)
