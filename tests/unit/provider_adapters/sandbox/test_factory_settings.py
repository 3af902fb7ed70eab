"""The sandbox provider's settings."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from gateway.banks.port.capabilities import (
    Capabilities,
    EntryField,
    Lookup,
    PortCall,
    ProofKind,
    Repeat,
)
from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import PayoutMethod
from provider_adapters.sandbox.factory import SandboxSettings


def test_the_sandbox_settings_can_declare_a_limited_provider():
    settings = msgspec.convert(
        {
            "payouts": False,
            "repeat": "ignores",
            "lookup_by_key": False,
            "absent_after_s": None,
            "lacks": sorted(frozenset(PortCall) - {PortCall.GET_CHARGE}),
            "alphanumeric_cnpj": False,
        },
        SandboxSettings,
    )

    assert settings.capabilities() == Capabilities(
        calls=frozenset({PortCall.GET_CHARGE}),
        account_credentials=True,
        charge_states=frozenset(ChargeStatus),
        callback_proofs=frozenset({ProofKind.HMAC}),
        largest_page=500,
        alphanumeric_cnpj=False,
    )


def test_the_default_sandbox_settings_declare_everything_the_bank_can_do():
    assert SandboxSettings().capabilities() == Capabilities(
        calls=frozenset(PortCall),
        destinations=frozenset(PayoutMethod),
        repeat=Repeat.SAME_ANSWER,
        lookup=frozenset(Lookup),
        absent_after=timedelta(seconds=5),
        account_credentials=True,
        largest_page=500,
        entry_fields=frozenset(EntryField),
        blocked_known=True,
        charge_states=frozenset(ChargeStatus),
        callback_proofs=frozenset({ProofKind.HMAC}),
        alphanumeric_cnpj=True,
    )
