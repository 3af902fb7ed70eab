"""The sandbox adapter's own part; the contract suite tests what it does at the bank."""

from __future__ import annotations

import json

import pytest

from gateway.banks.port.providers import (
    Accepted,
    BadReply,
    NotFound,
    NotSent,
    NotSupported,
    Unknown,
)
from gateway.core.account import Environment
from tests.unit.provider_adapters.sandbox.making import made
from tests.unit.provider_adapters.sandbox.payouts import PAYOUT
from tests.unit.provider_adapters.sandbox.refunds import REFUND
from tests.unit.provider_adapters.sandbox.requests_orders import refund
from tests.unit.provider_adapters.sandbox.translate import AT
from tests.world.banks.harness import ACCOUNT, FAR, KEY, on_stage, order
from tests.world.banks.scripted import Line, ScriptedBank, answer, saying, standing
from tests.world.banks.witness import SHORT, Witness

SANDBOX = Environment.SANDBOX


async def test_a_provider_without_payouts_sends_nothing():
    adapter = made({"payouts": False})

    outcome = await adapter.create_payout(ACCOUNT, order(), FAR)

    assert isinstance(outcome, NotSent)
    assert (outcome.evidence.reason, outcome.evidence.bytes_left) == ("not_supported", False)


async def test_without_lookup_by_key_the_bank_s_id_is_required():
    adapter = made({"lookup_by_key": False})

    with pytest.raises(NotSupported):
        await adapter.find_payout(ACCOUNT, KEY, "")


async def test_an_unknown_status_is_counted_under_its_operation():
    """So a change of a bank's interface shows on the first day."""
    told = Witness()
    strange = answer(json.dumps({**PAYOUT, "situacao": "AGENDADA"}).encode())
    async with (
        standing(ScriptedBank(saying(strange), keeps=True)) as bank,
        on_stage("sandbox", bank.url, told, SHORT) as adapter,
    ):
        ordered = await adapter.create_payout(ACCOUNT, order(), FAR)
        found = await adapter.find_payout(ACCOUNT, KEY, "trf_1")

    assert isinstance(ordered, Accepted)
    assert isinstance(found, Unknown)
    assert told.counts == [
        ("unknown_status", "sandbox.create_payout"),
        ("unknown_status", "sandbox.find_payout"),
    ]


def answering(document: object, status: str = "200 OK") -> ScriptedBank:
    return ScriptedBank(saying(answer(json.dumps(document).encode(), status=status)), keeps=True)


async def test_a_looked_up_key_is_not_in_the_url():
    """URLs are logged."""
    async with (
        standing(answering({"error": {"code": "KEY_NOT_FOUND"}}, "404 Not Found")) as bank,
        on_stage("sandbox", bank.url, Witness(), SHORT) as adapter,
    ):
        with pytest.raises(NotFound):
            await adapter.look_up_key(ACCOUNT, "52998224725")

    (sent,) = bank.requests
    head, _, body = sent.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/contas/")
    assert b"52998224725" not in head
    assert json.loads(body) == {"chave": "52998224725"}


async def test_the_transcript_of_a_refund_has_no_secrets_or_personal_data():
    async with (
        standing(answering({**REFUND, "descricao": "Maria Silva"}, "201 Created")) as bank,
        on_stage("sandbox", bank.url, Witness(), SHORT) as adapter,
    ):
        await adapter.create_refund(ACCOUNT, refund(description="Maria Silva"), FAR)
        shown = json.dumps(adapter.client.transcript.shown())

    for canary in ("token-of-the-bank", "Maria", "cc_1", "r-1", "order-1"):
        assert canary not in shown
    assert '"situacao": "EM_PROCESSAMENTO"' in shown


def charge_says(situacao: str, **more: object) -> dict[str, object]:
    return {
        "referencia": "r", "tipo": "DINAMICA", "chave": "a@b.c", "valor_centavos": 1050,
        "situacao": situacao, "reutilizavel": False, "pagador": None,
        "recebedor": {"nome": "Loja", "documento": "1"}, "cidade": None, "cep": None,
        "copia_e_cola": "000201", "criada_em": AT, "expira_em": None, **more,
    }  # fmt: skip


PAYS = {
    "e2e": "E99999999202611201200abcdef12345",
    "valor_centavos": 1050,
    "pago_em": AT,
    "pagador": None,
}


@pytest.mark.parametrize(
    ("charge", "payments", "paid"),
    [
        (charge_says("ATIVA"), [None], False),
        (charge_says("ATIVA"), [PAYS], False),
        (charge_says("CANCELADA"), [PAYS], False),
        (charge_says("PAGA"), [PAYS], True),
        (charge_says("PAGA"), [None, PAYS], True),
        (charge_says("PAGA"), [None, None], None),
        (charge_says("ATIVA", reutilizavel=True), [PAYS], True),
        (charge_says("ATIVA", reutilizavel=True), [None], False),
    ],
)
async def test_the_status_and_the_payment_of_a_charge_agree(
    charge: dict[str, object], payments: list[object], *, paid: bool | None
):
    """The bank returns them in two documents; None stands for an error."""
    told = iter(payments)

    async def says(line: Line) -> None:
        is_payment = b"/pagamento" in line.request.partition(b"\r\n")[0]
        of = {"referencia": "r", "valor_centavos": 1050, "criada_em": AT}
        document = {**of, "pagamento": next(told)} if is_payment else charge
        await line.say(answer(json.dumps(document).encode()))

    async with (
        standing(ScriptedBank(says, keeps=True)) as bank,
        on_stage("sandbox", bank.url, Witness(), SHORT) as adapter,
    ):
        if paid is None:
            with pytest.raises(BadReply):
                await adapter.get_charge_payment(ACCOUNT, "r")
        else:
            found = await adapter.get_charge_payment(ACCOUNT, "r")
            assert (found.paid_at is not None) is paid
