"""The sandbox adapter's own part; what it does at the bank is in the contract suite."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.providers import (
    Accepted,
    NotSent,
    NotSupported,
    ProviderAccount,
    Repeat,
    Unknown,
)
from provider_adapters._shared.factory import AdapterRefused
from provider_adapters.sandbox.adapter import SandboxFactory
from tests.contract.adapters.harness import ACCOUNT, FAR, KEY, on_stage, order
from tests.unit.provider_adapters.authority import VALID, Authority
from tests.unit.provider_adapters.sandbox.test_payouts import PAYOUT
from tests.unit.provider_adapters.scripted import ScriptedBank, answer, saying, standing
from tests.unit.provider_adapters.witness import SHORT, Witness

SANDBOX = Environment.SANDBOX


def test_it_is_never_made_in_production():
    with pytest.raises(AdapterRefused, match=r"providers\.bank"):
        SandboxFactory()("bank", {}, Environment.PRODUCTION, Witness())


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1:8090", "http://bank.example", "http://u:p@127.0.0.1", "8090"]
)
def test_its_bank_is_on_this_machine(url: str):
    with pytest.raises(AdapterRefused, match="base_url"):
        SandboxFactory()("bank", {"base_url": url}, SANDBOX, Witness())


def test_unknown_settings_are_refused():
    with pytest.raises(AdapterRefused, match="base_ulr"):
        SandboxFactory()("bank", {"base_ulr": "http://127.0.0.1"}, SANDBOX, Witness())


def test_settings_lessen_what_it_declares():
    adapter = SandboxFactory()("bank", {"repeat": "refuses"}, SANDBOX, Witness())

    assert adapter.capabilities.repeat is Repeat.REFUSES


async def test_when_our_certificate_ends_is_told_under_the_provider_s_name(tmp_path: Path):
    """Long before payouts stop."""
    authority, witness = Authority(tmp_path), Witness()
    tls = {"ca": str(authority.file), "certificate": str(authority.sign("we", VALID))}
    settings = {"base_url": "https://127.0.0.1:1", "tls": tls}
    adapter = SandboxFactory()("bank", settings, SANDBOX, witness)

    await adapter.start()
    await adapter.close()

    assert witness.certificates == [("bank", VALID[1].replace(microsecond=0))]


async def test_a_read_only_provider_sends_nothing():
    adapter = SandboxFactory()("bank", {"payouts": False}, SANDBOX, Witness())

    outcome = await adapter.create_payout(ACCOUNT, order(), FAR)

    assert isinstance(outcome, NotSent)
    assert (outcome.evidence.reason, outcome.evidence.bytes_left) == ("not_supported", False)


async def test_an_account_that_cannot_be_addressed_is_sent_nothing():
    adapter = SandboxFactory()("bank", {}, SANDBOX, Witness())

    outcome = await adapter.create_payout(
        ProviderAccount(account_id="", provider_account=".."), order(), FAR
    )

    assert isinstance(outcome, NotSent)


async def test_without_a_look_up_by_key_the_bank_s_id_is_needed():
    adapter = SandboxFactory()("bank", {"lookup_by_key": False}, SANDBOX, Witness())

    with pytest.raises(NotSupported):
        await adapter.find_payout(ACCOUNT, KEY, "")


async def test_a_word_it_does_not_know_is_counted_under_its_own_name():
    """Drift of a bank's interface shows on the first day."""
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


async def test_its_transcript_holds_no_secret_and_nobody():
    told = Witness()
    said = answer(json.dumps({**PAYOUT, "titular": {"nome": "Maria Silva"}}).encode())
    async with (
        standing(ScriptedBank(saying(said))) as bank,
        on_stage("sandbox", bank.url, told, SHORT) as adapter,
    ):
        await adapter.create_payout(ACCOUNT, order(), FAR)
        shown = json.dumps(adapter.client.transcript.shown())

    for canary in ("token-of-the-bank", "Maria", "52998224725", "maria@example.com", "cc_1"):
        assert canary not in shown
    assert '"situacao": "EM_PROCESSAMENTO"' in shown
    assert '"valor_centavos": 1050' in shown
