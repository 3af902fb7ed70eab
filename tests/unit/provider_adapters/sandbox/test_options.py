"""The optional calls of the adapter; what they do at the bank is in the contract suite."""

from __future__ import annotations

import json

import pytest

from gateway.domain.bank.pix_keys import KeyOrder, PixKeyStatus, PixKeyType
from gateway.domain.bank.providers import NotSent, Refused, Unavailable, Unreachable
from gateway.domain.bank.refunds import RefundStatus
from tests.contract.adapters.harness import ACCOUNT, FAR, KEY, on_stage
from tests.unit.provider_adapters.sandbox.test_orders import refund
from tests.unit.provider_adapters.sandbox.test_refunds import REFUND
from tests.unit.provider_adapters.sandbox.test_translate import KEY as DOCUMENT
from tests.unit.provider_adapters.scripted import Line, ScriptedBank, answer, saying, standing
from tests.unit.provider_adapters.witness import SHORT, Witness

RANDOM = KeyOrder(PixKeyType.EVP, "")


def told_of(document: object, status: str = "200 OK") -> ScriptedBank:
    return ScriptedBank(saying(answer(json.dumps(document).encode(), status=status)), keeps=True)


async def test_a_change_gives_what_the_answer_says():
    async with (
        standing(told_of(DOCUMENT, "201 Created")) as bank,
        on_stage("sandbox", bank.url, Witness(), SHORT) as adapter,
    ):
        made = await adapter.create_key(ACCOUNT, RANDOM)

    assert (made.key, made.status) == ("a@b.c", PixKeyStatus.ACTIVE)


async def test_a_refused_change_says_why():
    refusal = {"error": {"code": "KEY_IN_USE", "message": "x"}}
    async with (
        standing(told_of(refusal, "409 Conflict")) as bank,
        on_stage("sandbox", bank.url, Witness(), SHORT) as adapter,
    ):
        with pytest.raises(Refused) as refused:
            await adapter.create_key(ACCOUNT, RANDOM)

    assert refused.value.reason == "in_use"
    assert len(bank.requests) == 1


async def test_a_change_whose_connection_is_lost_is_not_sent_again():
    """A read is asked once more then; a change might be made twice."""
    told = Witness()

    async def lose(line: Line) -> None:
        line.reset()

    async with (
        standing(ScriptedBank(lose)) as bank,
        on_stage("sandbox", bank.url, told, SHORT) as adapter,
    ):
        with pytest.raises(Unavailable):
            await adapter.create_key(ACCOUNT, RANDOM)

    assert (len(bank.requests), told.retries) == (1, [])


async def test_a_change_that_was_not_sent_is_told_as_such():
    async with on_stage("sandbox", "http://127.0.0.1:1", Witness(), SHORT) as adapter:
        with pytest.raises(Unreachable):
            await adapter.create_key(ACCOUNT, RANDOM)


async def test_a_refund_that_cannot_be_written_is_not_sent():
    async with on_stage("sandbox", "http://127.0.0.1:1", Witness(), SHORT) as adapter:
        outcome = await adapter.create_refund(ACCOUNT, refund(payment_e2e_id=".."), FAR)

    assert isinstance(outcome, NotSent)
    assert (outcome.evidence.reason, outcome.evidence.bytes_left) == ("unsendable", False)


async def test_a_word_it_does_not_know_is_counted_under_its_own_name():
    told = Witness()
    async with (
        standing(told_of({**REFUND, "situacao": "AGENDADA"})) as bank,
        on_stage("sandbox", bank.url, told, SHORT) as adapter,
    ):
        found = await adapter.find_refund(ACCOUNT, KEY)

    assert found.status is RefundStatus.PROCESSING
    assert told.counts == [("unknown_status", "sandbox.find_refund")]


async def test_its_transcript_holds_no_secret_and_nobody():
    async with (
        standing(told_of({**REFUND, "descricao": "Maria Silva"}, "201 Created")) as bank,
        on_stage("sandbox", bank.url, Witness(), SHORT) as adapter,
    ):
        await adapter.create_refund(ACCOUNT, refund(description="Maria Silva"), FAR)
        shown = json.dumps(adapter.client.transcript.shown())

    for canary in ("token-of-the-bank", "Maria", "cc_1", "r-1", "order-1"):
        assert canary not in shown
    assert '"situacao": "EM_PROCESSAMENTO"' in shown
