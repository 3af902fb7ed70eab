"""The bank's callbacks: published ones, forged ones, and those that were missed."""

from __future__ import annotations

import json

import pytest
from ellipticcurve import Ecdsa, PrivateKey

from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.banks.port.providers import NotFound
from provider_adapters.kit.public_keys import GivenKeys
from provider_adapters.starkbank import callbacks
from provider_adapters.starkbank.callbacks import StarkBankProof
from tests.unit.provider_adapters.starkbank.callbacks import BANK, delivery, event, signed
from tests.unit.provider_adapters.starkbank.charges import DEPOSIT, INVOICE
from tests.unit.provider_adapters.starkbank.making import KEY, TRANSFER, answering, refusing
from tests.world.banks.signers import STARK, ecdsa
from tests.world.tables import cases


@cases("vector", STARK["valid"])
async def test_published_callbacks_are_verified_and_altered_ones_refused(vector: dict[str, str]):
    proof = StarkBankProof(GivenKeys([STARK["public_key_pem"]]))
    body, signature = vector["body"].encode(), vector["signature_base64"]

    said = await proof.check(delivery(body, signature))

    assert said is not None
    assert [each.event for each in said] == [json.loads(body)["event"]["id"]]
    assert await proof.check(delivery(body + b" ", signature)) is None
    assert await proof.check(delivery(body, STARK["invalid_for_any_of_these_bodies"])) is None
    for place in range(0, len(body), 97):
        altered = body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]
        assert await proof.check(delivery(altered, signature)) is None


@cases(
    ("said", "kind", "subject"),
    [
        (event("transfer", transfer=TRANSFER), CallbackKind.PAYOUT, KEY),
        (event("transfer", transfer={**TRANSFER, "tags": []}), CallbackKind.PAYOUT, KEY),
        (event("transfer", transfer={"tags": []}), CallbackKind.OTHER, ""),
        (event("transfer", transfer={**TRANSFER, "tags": "x"}), CallbackKind.PAYOUT, KEY),
        (event("transfer", transfer={**TRANSFER, "externalId": 7}), CallbackKind.PAYOUT, KEY),
        (event("deposit", deposit=DEPOSIT), CallbackKind.CHARGE, "47544a724041488"),
        (event("deposit", deposit={**DEPOSIT, "tags": []}), CallbackKind.OTHER, ""),
        (
            event("invoice", invoice={**INVOICE, "tags": ["reference:412f31"]}),
            CallbackKind.CHARGE,
            "A/1",
        ),
        (event("boleto", boleto={}), CallbackKind.OTHER, ""),
    ],
)
async def test_a_callback_names_its_kind_and_subject(
    said: dict[str, object], kind: CallbackKind, subject: str
):
    notices = await StarkBankProof(GivenKeys([BANK.pem])).check(signed(said))

    assert notices is not None
    (notice,) = notices
    assert (notice.kind, notice.subject) == (kind, subject)
    assert (notice.event, notice.account) == ("6234355449987072", "4848484848484848")


@cases("text", [rb"\ud83d", b"a\nb", b"Jos\xe9", b"cut \xf0\x9f", b"\x00"])
async def test_a_damaged_text_does_not_hide_the_payout(text: bytes):
    """Nor does a malformed tag or a truncated body."""
    said = {**event("transfer", transfer={**TRANSFER, "tags": [7, None, *TRANSFER["tags"]]})}
    plain = json.dumps({"event": said}).encode().removesuffix(b"}}")

    for body in (plain + b', "memo": "%s"}}' % text, plain + b', "memo": "%s' % text):
        found = await StarkBankProof(GivenKeys([BANK.pem])).check(delivery(body, BANK.sign(body)))
        [notice] = found or ()

        assert (notice.kind, notice.subject) == (CallbackKind.PAYOUT, KEY)


async def test_a_signature_by_the_bank_s_own_library_is_verified():
    key = PrivateKey()
    body = json.dumps({"event": event("transfer", transfer=TRANSFER)})
    signature = Ecdsa.sign(body, key).toBase64()

    proof = StarkBankProof(GivenKeys([key.publicKey().toPem()]))

    assert await proof.check(delivery(body.encode(), signature)) is not None


@cases("signature", ["", "AAAA", "not base64", "A" * 5000])
async def test_a_forged_signature_is_refused(signature: str):
    proof = StarkBankProof(GivenKeys([BANK.pem]))

    assert await proof.check(delivery(b"{}", signature)) is None
    assert await proof.check(signed(event("transfer"), ecdsa())) is None


async def test_a_signed_body_of_another_shape_is_accepted_as_other():
    body = b'{"event": 7}'

    notices = await StarkBankProof(GivenKeys([BANK.pem])).check(delivery(body, BANK.sign(body)))

    assert notices is not None
    assert [each.kind for each in notices] == [CallbackKind.OTHER]


def test_a_missed_event_is_read_like_a_callback():
    said = event("transfer", transfer=TRANSFER)

    page = callbacks.missed_events(answering({"events": [said], "cursor": None}), None)

    ((at, missed),) = page.items
    assert (missed.id, missed.notice.subject) == ("6234355449987072", KEY)
    assert json.loads(missed.body) == {"event": said}
    assert at.utcoffset() is not None


def test_a_callback_address_is_registered_listed_and_removed():
    webhook = {"id": "1", "url": "https://gateway.example/c", "subscriptions": ["transfer"]}

    made = callbacks.registered(answering({"webhook": webhook}))
    page = callbacks.registrations(answering({"webhooks": [webhook], "cursor": "c"}), None)

    assert (list(page.items), page.next_cursor) == ([made], "c")
    callbacks.removed(answering({"webhook": webhook}))
    callbacks.acknowledged(answering({"event": {}}))
    with pytest.raises(NotFound):
        callbacks.removed(refusing("invalidWebhook"))
