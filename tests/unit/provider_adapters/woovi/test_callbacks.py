"""Callbacks: the bank's published signatures, and what its published bodies say."""

from __future__ import annotations

import hmac
import json
from base64 import b64encode
from pathlib import Path

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from gateway.banks.port.provider_callbacks import CallbackKind, CallbackSecrets, Delivery, NamedBy
from gateway.banks.port.providers import NotFound
from provider_adapters.kit.public_keys import GivenKeys
from provider_adapters.woovi import callbacks
from provider_adapters.woovi.callbacks import WooviProof
from tests.world.banks.harness import KEY
from tests.world.banks.woovi import answer
from tests.world.tables import cases

VECTORS = json.loads(Path("tests/vectors/webhook-signatures.json").read_text(encoding="utf-8"))
RSA = VECTORS["woovi_rsa"]
HMAC = VECTORS["openpix_hmac"]
SECRET = HMAC["secret"].encode()


def proof(*secrets: bytes) -> WooviProof:
    shared = CallbackSecrets(current=secrets[0], former=secrets[1:]) if secrets else None
    return WooviProof(GivenKeys([RSA["public_key_pem"]]), shared or CallbackSecrets())


def came(body: bytes, **headers: str) -> Delivery:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Delivery(headers=CIMultiDictProxy(CIMultiDict(named)), body=body)


def signed(event: object, secret: bytes = SECRET) -> Delivery:
    body = json.dumps(event).encode()
    made = b64encode(hmac.digest(secret, body, "sha1")).decode()
    return came(body, X_OpenPix_Signature=made)


async def test_the_published_rsa_signature_is_verified():
    vector = RSA["valid"][0]
    body = vector["body"].encode()

    said = await proof().check(came(body, x_webhook_signature=vector["signature_base64"]))

    assert said is not None
    assert said[0].subject == "417bae21-3d08-4cdb-9c2d-fee63c89e9e4"
    assert (said[0].kind, said[0].named_by) == (CallbackKind.CHARGE, NamedBy.CHARGE)


async def test_the_published_hmac_is_verified_as_a_test_call():
    vector = HMAC["valid"][0]
    body = vector["body"].encode()

    said = await proof(SECRET).check(came(body, X_OpenPix_Signature=vector["signature_base64"]))

    assert said == ()


async def test_an_hmac_proves_nothing_without_a_secret():
    assert await proof().check(signed({})) is None


async def test_an_empty_secret_proves_nothing():
    assert await proof().check(signed({}, b"")) is None


async def test_a_previous_secret_is_still_accepted():
    event = {"event": "OPENPIX:MOVEMENT_CONFIRMED", "payment": {"correlationID": KEY}}

    assert await proof(b"new", SECRET).check(signed(event)) is not None
    assert await proof(b"new").check(signed(event)) is None


@cases("end", ["CONFIRMED", "FAILED", "REMOVED"])
async def test_a_payout_callback_has_our_key(end):
    event = {"event": f"OPENPIX:MOVEMENT_{end}", "payment": {"correlationID": KEY}}

    said = await proof(SECRET).check(signed(event))

    assert said is not None
    assert (said[0].kind, said[0].subject, said[0].account) == (CallbackKind.PAYOUT, KEY, "")


async def test_a_refund_callback_has_its_account():
    event = {
        "event": "PIX_TRANSACTION_REFUND_SENT_CONFIRMED",
        "refundTransaction": {"endToEndId": "D548114172025081421318FbVaF2LTWr"},
        "account": {"id": "67a4bb7a7c9720a18b10648a"},
    }

    said = await proof(SECRET).check(signed(event))

    assert said is not None
    assert (said[0].kind, said[0].account) == (CallbackKind.REFUND, "67a4bb7a7c9720a18b10648a")


@cases("text", [rb"\ud83d", b"a\nb", b"Jos\xe9", b"cut \xf0\x9f", b"\x00"])
async def test_a_damaged_comment_does_not_hide_the_charge(text: bytes):
    whole = b'{"event": "X", "charge": {"correlationID": "order-1", "comment": "%s"}}' % text

    for body in (whole, whole[:-3]):
        made = b64encode(hmac.digest(SECRET, body, "sha1")).decode()
        [notice] = await proof(SECRET).check(came(body, X_OpenPix_Signature=made)) or ()

        assert (notice.kind, notice.subject) == (CallbackKind.CHARGE, "order-1")


async def test_an_out_of_range_number_in_an_unread_field_is_ignored():
    body = b'{"event": "X", "charge": {"correlationID": "order-1", "fee": 1e400}}'
    made = b64encode(hmac.digest(SECRET, body, "sha1")).decode()

    [notice] = await proof(SECRET).check(came(body, X_OpenPix_Signature=made)) or ()

    assert (notice.kind, notice.subject) == (CallbackKind.CHARGE, "order-1")


async def test_a_truncated_body_is_not_taken_for_a_test_call():
    body = b'{"event": "OPENPIX:CHARGE_COMPLETED", "char'
    made = b64encode(hmac.digest(SECRET, body, "sha1")).decode()

    assert len(await proof(SECRET).check(came(body, X_OpenPix_Signature=made)) or ()) == 1


@cases("event", [[], "x", {"event": 1}, {"event": "X", "payment": [], "n": 1}])
async def test_an_unknown_event_is_accepted_as_other(event):
    said = await proof(SECRET).check(signed(event))

    assert said is not None
    assert all(each.kind is CallbackKind.OTHER for each in said)


HERE, THERE = "https://a.example/x", "https://b.example/y"
WEBHOOKS = {
    "webhooks": [
        {"id": "1", "url": HERE, "event": "OPENPIX:MOVEMENT_FAILED"},
        {"id": "2", "url": THERE, "event": "OPENPIX:MOVEMENT_FAILED"},
        {"id": "3", "url": HERE, "event": "OPENPIX:MOVEMENT_CONFIRMED"},
    ]
}


def test_an_address_registered_for_several_events_is_listed_once():
    found = callbacks.registrations(answer(WEBHOOKS))

    assert [each.id for each in found] == ["1", "2", "3"]
    shown = {(each.id, each.url) for each in callbacks.addresses(found)}
    assert shown == {("1", HERE), ("2", THERE)}
    assert set(callbacks.events_of(answer(WEBHOOKS), THERE)) == {"OPENPIX:MOVEMENT_FAILED"}


@cases(("named", "removed"), [("1", ["3", "1"]), ("3", ["1", "3"]), ("2", ["2"])])
def test_an_address_is_removed_for_every_event_with_the_named_one_last(named, removed):
    """An interrupted removal can be repeated with the same id."""
    found = callbacks.registrations(answer(WEBHOOKS))

    assert [each.id for each in callbacks.of_same_address(found, named)] == removed


def test_removing_an_unknown_address_is_not_found():
    with pytest.raises(NotFound):
        callbacks.of_same_address(callbacks.registrations(answer(WEBHOOKS)), "9")
