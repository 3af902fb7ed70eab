"""The sandbox provider's settings."""

from __future__ import annotations

import msgspec

from gateway.banks.port.capabilities import (
    Capabilities,
    PortCall,
    ProofKind,
)
from gateway.banks.port.charges import ChargeStatus
from provider_adapters.sandbox.factory import SandboxSettings


def test_every_kind_of_provider_can_be_tried():
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
