"""The simulated bank refuses as the real one, and says no more than it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import aiohttp
import pytest

from gateway.domain.bank.provider_callbacks import CallbackKind
from gateway.domain.kernel.money import Money
from provider_adapters.asaas.callbacks import AsaasProof
from provider_adapters.asaas.secrets import AsaasSecrets
from provider_adapters.testing.asaas.stage import AsaasStage
from provider_adapters.testing.verify.stage import Charge, NotApplicable
from tests.world.banks.witness import NOON


@pytest.fixture
async def stage() -> AsyncIterator[AsaasStage]:
    standing = AsaasStage()
    await standing.start()
    yield standing
    await standing.close()


async def get(
    stage: AsaasStage, path: str, key: str | None = None, body: bytes = b""
) -> tuple[int, bytes, str]:
    secrets = stage.accounts[0].secrets
    assert isinstance(secrets, AsaasSecrets)
    headers = {"access_token": secrets.api_key if key is None else key}
    async with (
        aiohttp.ClientSession() as session,
        session.get(stage.address + path, headers=headers, data=body or None) as said,
    ):
        return said.status, await said.read(), said.headers.get("RateLimit-Remaining", "")


@pytest.mark.parametrize(
    ("key", "code"),
    [("", "access_token_not_found"), ("$aact_hmlg_wrong", "invalid_access_token")],
)
async def test_a_key_that_is_none_is_refused_by_name(stage: AsaasStage, key: str, code: str):
    status, said, _ = await get(stage, "/v3/finance/balance", key)

    assert (status, json.loads(said)["errors"][0]["code"]) == (401, code)


async def test_a_get_with_a_body_is_forbidden(stage: AsaasStage):
    status, _, _ = await get(stage, "/v3/finance/balance", body=b"{}")

    assert status == 403


@pytest.mark.parametrize("path", ["/v3/transfers/none", "/v3/none", "/v3/customers/none"])
async def test_what_is_absent_has_no_words(stage: AsaasStage, path: str):
    assert (await get(stage, path))[:2] == (404, b"")


async def test_a_limit_that_is_used_up_is_told_by_its_header(stage: AsaasStage):
    await stage.control.post("faults", body={"fault": "status", "status": 429})

    assert await get(stage, "/v3/finance/balance") == (429, b"", "0")


async def test_an_account_s_key_is_of_the_bank_s_sandbox(stage: AsaasStage):
    keys = {each.secrets.api_key for each in stage.accounts}  # type: ignore[attr-defined]

    assert len(keys) == 2
    assert all(key.startswith("$aact_hmlg_") for key in keys)


@pytest.mark.parametrize("kind", [CallbackKind.PAYOUT, CallbackKind.CHARGE])
async def test_a_callback_is_sent_with_its_token(stage: AsaasStage, kind: CallbackKind):
    reference = await stage.put(stage.accounts[0], Charge(value=Money(100)))

    came = await stage.callback(stage.accounts[0], kind, reference, NOON)
    (notice,) = await AsaasProof(stage.callback_secrets.shared).check(came) or ()

    assert (notice.kind, notice.subject) == (kind, reference)


@pytest.mark.parametrize("kind", [CallbackKind.RETURN, CallbackKind.REFUND])
async def test_of_what_came_back_nothing_is_told(stage: AsaasStage, kind: CallbackKind):
    with pytest.raises(NotApplicable):
        await stage.callback(stage.accounts[0], kind, "x", NOON)
