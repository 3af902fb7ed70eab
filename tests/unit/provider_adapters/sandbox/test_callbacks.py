"""The sandbox bank's signature."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from gateway.banks.port.provider_callbacks import CallbackKind, Delivery, Notice, ProofRefused
from provider_adapters.sandbox.callbacks import SandboxProof
from provider_adapters.testing.sandbox import sign
from tests.world.standing import NOON, Clock
from tests.world.tables import cases

SECRET = b"s" * 32
BODY = b'{"tipo": "transferencia", "conta": "c", "chave": "k"}'


async def checked(
    headers: CIMultiDict[str], body: bytes = BODY, clock: Clock | None = None
) -> Notice | None:
    proof = SandboxProof([SECRET], (clock or Clock()).now)
    notices = await proof.check(Delivery(headers=headers, body=body))
    if notices is None:
        return None
    (notice,) = notices
    return notice


def signed(event: str = "evt", body: bytes = BODY) -> CIMultiDict[str]:
    return CIMultiDict(sign(SECRET, event, NOON, body))


@cases("late_s", [-300, 300])
async def test_a_callback_up_to_five_minutes_old_is_accepted(late_s: float):
    clock = Clock()
    clock.passes(late_s)

    assert await checked(signed(), clock=clock) is not None


@cases("late_s", [-301, 301])
async def test_a_callback_with_an_older_or_newer_time_is_refused(late_s: float):
    clock = Clock()
    clock.passes(late_s)

    assert await checked(signed(), clock=clock) is None


@cases("name", ["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"])
async def test_every_signature_header_must_occur_exactly_once(name: str):
    absent, twice = signed(), signed()
    del absent[name]
    twice.add(name, twice[name])

    assert await checked(absent) is None
    assert await checked(twice) is None


@cases(
    ("name", "value"),
    [
        ("Webhook-Id", "other"),
        ("Webhook-Id", "évt"),
        ("Webhook-Timestamp", "x"),
        ("Webhook-Timestamp", "-1"),
        ("Webhook-Timestamp", "٣"),
        ("Webhook-Timestamp", "9" * 30),
        ("Webhook-Signature", ""),
        ("Webhook-Signature", "v1,"),
        ("Webhook-Signature", "v1,not base64"),
        ("Webhook-Signature", "x" * 5000),
    ],
)
async def test_a_callback_with_a_changed_header_is_refused(name: str, value: str):
    headers = signed()
    headers[name] = value

    assert await checked(headers) is None


@cases(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b"[" * 60_000,
        b"\xff",
        b'{"tipo": ["x"]}',
        b'{"tipo": "cobranca", "chave": 7}',
    ],
)
async def test_a_body_in_another_format_gives_an_empty_notice(body: bytes):
    told = await checked(signed(body=body), body)

    assert told is not None
    assert told.subject == ""


@pytest.mark.parametrize("text", [rb"\ud83d", b"a\nb", b"Jos\xe9", b"cut \xf0\x9f", b"\x00"])
async def test_a_damaged_description_does_not_hide_the_payout(text: bytes):
    for end in (b'"}', b""):
        body = BODY.removesuffix(b"}") + b', "descricao": "%s' % text + end

        said = await checked(signed(body=body), body)

        assert said == Notice(event="evt", kind=CallbackKind.PAYOUT, subject="k", account="c")


async def test_a_callback_proof_requires_a_secret():
    with pytest.raises(ProofRefused):
        SandboxProof([], Clock().now)


async def test_one_correct_signature_among_several_is_enough():
    """During a rotation there are two."""
    headers = signed()
    headers["Webhook-Signature"] = f"v1,AAAA {headers['Webhook-Signature']}"

    assert await checked(headers) is not None
