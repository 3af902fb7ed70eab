"""What adapters with one client have alike."""

from __future__ import annotations

import pytest

from gateway.domain.bank.pix_keys import PixKey, PixKeyStatus, PixKeyType
from gateway.domain.bank.providers import NotFound, ProviderAccount
from provider_adapters.kit.adapter import key_of

ACCOUNT = ProviderAccount(account_id="5f1c3a52-7f0e-4c2b-9d3f-1a2b3c4d5e6f", provider_account="1")


def key(text: str) -> PixKey:
    return PixKey(
        provider_id="", key=text, type=PixKeyType.EMAIL, status=PixKeyStatus.ACTIVE, created_at=None
    )


def test_a_key_is_found_by_its_public_id():
    keys = [key("a@b.c"), key("d@e.f")]

    assert key_of(keys, ACCOUNT, keys[1].public_id(ACCOUNT.account_id)) is keys[1]
    with pytest.raises(NotFound):
        key_of(keys[:1], ACCOUNT, keys[1].public_id(ACCOUNT.account_id))
