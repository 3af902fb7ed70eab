"""A bank whose callers show certificates, each account its own."""

from __future__ import annotations

import ssl
from dataclasses import replace
from datetime import UTC, datetime

import aiohttp
import pytest

from provider_adapters.kit.certificates import CertificatePair, load_pair
from provider_adapters.testing.bank import certificates
from provider_adapters.testing.bank.dialect import Admission
from provider_adapters.testing.bank.kernel import accounts
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.server import SimulatedBank
from tests.unit.provider_adapters.testing.bank.dialect import NEW, OTHER, control


def admit(books, account, given):
    ends = datetime(2021, 1, 1, tzinfo=UTC) if given.flag("expired") else certificates.ENDS
    pair = certificates.issue(books, account.id, ends)
    shown = {"certificate": pair.certificate, "key": pair.key}
    return Admission(token=books.random_hex(8), credentials=shown)


def authenticate(request):
    found = certificates.account_of(request.books, request.certificate)
    if found is None:
        raise Refusal(Code.UNAUTHORIZED, "whose certificate is this?")
    return accounts.get(request.books, found)


CERTIFIED = replace(OTHER, admit=admit, authenticate=authenticate, client_certificates=True)


@pytest.fixture
async def bank(tmp_path, wall):
    running = SimulatedBank(
        dialect=CERTIFIED, db_path=str(tmp_path / "c.db"), port=0, control_port=0, now=wall
    )
    await running.start()
    yield running
    await running.close()


@pytest.fixture
async def http():
    async with aiohttp.ClientSession() as session:
        yield session


async def ask(bank, shown=None):
    """Ask for a balance, showing a certificate or none."""
    context = ssl.create_default_context(cafile=bank.authority_file)
    if shown:
        load_pair(context, CertificatePair(**shown))
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{bank.url}/api/balance", ssl=context) as answer,
    ):
        return answer.status, await answer.json()


async def test_an_account_is_known_by_its_certificate(bank, http):
    one = await control(bank, http, "POST", "/accounts", NEW)
    two = await control(bank, http, "POST", "/accounts", {**NEW, "id": "cc_2", "balance": 7})

    assert bank.url.startswith("https://127.0.0.1:")
    assert (await ask(bank, one["credentials"]))[1]["cents"] == 5_00
    assert (await ask(bank, two["credentials"]))[1]["cents"] == 7_00


async def test_who_shows_none_or_an_expired_one_is_not_heard(bank, http):
    made = await control(bank, http, "POST", "/accounts", {**NEW, "expired": True})

    for shown in (None, made["credentials"]):
        with pytest.raises(aiohttp.ClientError):
            await ask(bank, shown)
    assert (await control(bank, http, "GET", "/calls"))["data"] == []


async def test_a_reset_is_one_through_tls_too(bank, http):
    made = await control(bank, http, "POST", "/accounts", NEW)
    # aiohttp's client sends a GET once more by itself
    fault = {"operation": "balance", "fault": "reset_before", "count": 2}
    await control(bank, http, "POST", "/faults", fault)

    with pytest.raises(aiohttp.ClientError):
        await ask(bank, made["credentials"])
    assert (await ask(bank, made["credentials"]))[0] == 200


async def test_the_authority_lives_in_the_banks_file(bank, http):
    made = await control(bank, http, "POST", "/accounts", NEW)
    await bank.close()
    await bank.start()

    assert (await ask(bank, made["credentials"]))[0] == 200
