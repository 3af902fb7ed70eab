"""What comes with a callback, and what proves it."""

from __future__ import annotations

from gateway.banks.port.provider_callbacks import (
    CallbackKind,
    CallbackOrder,
    CallbackSecrets,
    Delivery,
    MissedEvent,
    Notice,
)
from gateway.core.headers import NO_HEADERS

CANARY = b"canary"


def test_previous_secrets_prove_nothing_without_a_current_one():
    """Callbacks of a bank whose secret was removed are not accepted with the old one."""
    assert list(CallbackSecrets(current=b"a", former=(b"b",), derived=(b"c",)).shared) == [
        b"a",
        b"b",
    ]
    assert list(CallbackSecrets(former=(b"b",)).shared_or_derived) == []
    assert list(CallbackSecrets(former=(b"b",), derived=(b"c",)).shared) == []


def test_derived_secrets_are_used_when_none_is_shared():
    secrets = CallbackSecrets(former=(b"b",), derived=(b"c", b"d"))

    assert list(secrets.shared_or_derived) == [b"c", b"d", b"b"]
    assert list(CallbackSecrets(current=b"a", derived=(b"c",)).shared_or_derived) == [b"a"]


def test_neither_bodies_nor_secrets_are_printed():
    notice = Notice(event="e", kind=CallbackKind.OTHER, subject="", part=CANARY)
    secrets = CallbackSecrets(current=CANARY, former=(CANARY,), derived=(CANARY,))
    told = (
        Delivery(headers=NO_HEADERS, body=CANARY, certificate=CANARY),
        CallbackOrder(url="https://us.example", secret=CANARY),
        MissedEvent(id="1", notice=notice, body=CANARY),
        secrets,
    )

    assert "canary" not in repr(told)
