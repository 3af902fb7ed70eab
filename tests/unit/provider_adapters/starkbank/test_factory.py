"""The factory of Stark Bank's adapters."""

from __future__ import annotations

import pytest

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.provider_callbacks import CallbackSecrets, ProofRefused
from gateway.core.account import BankSecretsRefused
from provider_adapters.kit.secrets import read_secrets
from provider_adapters.starkbank.factory import CAPABILITIES
from provider_adapters.starkbank.requests import Secrets
from tests.unit.provider_adapters.starkbank.making import PEM, made
from tests.world.tables import cases

PRODUCTION, SANDBOX = "https://api.starkbank.com", "https://sandbox.api.starkbank.com"


def test_refunds_and_statement_proofs_are_not_declared():
    assert not CAPABILITIES.statement_proves("E")
    assert PortCall.CREATE_REFUND not in CAPABILITIES.calls


def test_an_invalid_callback_key_is_refused_at_startup():
    adapter, _ = made(settings={"public_keys": ["no key"]})

    with pytest.raises(ProofRefused):
        adapter.callback_proof(CallbackSecrets())


def test_proving_callbacks_requires_no_secret():
    made()[0].callback_proof(CallbackSecrets())


@cases(
    ("given", "field"),
    [
        ({"private_key": PEM}, "access_id"),
        ({"access_id": "project/1"}, "private_key"),
        ({"access_id": "project/x", "private_key": PEM}, "access_id"),
        ({"access_id": "project/1\n", "private_key": PEM}, "access_id"),
        ({"access_id": "workspace/1", "private_key": PEM}, "access_id"),
        ({"access_id": "project/1", "private_key": "secret"}, "private_key"),
    ],
)
def test_incomplete_account_secrets_are_refused(given: dict[str, str], field: str):
    with pytest.raises(BankSecretsRefused) as refused:
        read_secrets(Secrets, given)

    assert refused.value.field == field


@cases("access_id", ["project/5656565656565656", "organization/1"])
def test_complete_account_secrets_are_accepted(access_id: str):
    assert read_secrets(Secrets, {"access_id": access_id, "private_key": PEM}).text
