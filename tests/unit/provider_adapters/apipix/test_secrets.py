"""What an account must be entered with: whole, for the bank that it is at."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.core.account import BankSecretsRefused
from provider_adapters.apipix.factory import ApiPixFactory
from provider_adapters.apipix.secrets import EfiSecrets
from provider_adapters.kit.secrets import read_secrets, secrets_kind
from tests.world.banks.authority import Authority


def test_the_secrets_of_an_account_match_its_profile(tmp_path: Path):
    kind = secrets_kind(ApiPixFactory(), {"profile": "efi"})
    pair = Authority(tmp_path).pair("account")
    whole = {
        "client_id": "Client_Id_1",
        "client_secret": "Client_Secret_1",
        "certificate": pair.certificate,
        "key": pair.key,
        "pix_key": "loja@example.com",
    }

    assert kind is EfiSecrets
    assert read_secrets(kind, whole).certificate_ends_at is not None
    for name in whole:
        half = {field: text for field, text in whole.items() if field != name}
        with pytest.raises(BankSecretsRefused) as refused:
            read_secrets(kind, half)
        assert refused.value.field == name
