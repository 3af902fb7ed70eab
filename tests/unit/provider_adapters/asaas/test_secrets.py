"""The API key of an account, and the environment that it names."""

from __future__ import annotations

import pytest

from gateway.core.account import BankSecretsRefused, Environment
from provider_adapters.asaas.secrets import AsaasSecrets
from provider_adapters.kit.secrets import check_kind, read_secrets
from tests.world.tables import cases

CANARY = "canary-of-a-key"
SANDBOX, PRODUCTION = f"$aact_hmlg_{CANARY}", f"$aact_prod_{CANARY}"


def test_the_secrets_can_be_entered_in_a_form():
    check_kind(AsaasSecrets)


@cases(
    ("key", "environment"), [(SANDBOX, Environment.SANDBOX), (PRODUCTION, Environment.PRODUCTION)]
)
def test_a_key_of_the_same_environment_is_accepted(key: str, environment: Environment):
    assert key in read_secrets(AsaasSecrets, {"api_key": key}, environment).text


@cases(
    ("key", "environment"),
    [
        (PRODUCTION, Environment.SANDBOX),
        (SANDBOX, Environment.PRODUCTION),
        (SANDBOX[1:], Environment.SANDBOX),
        (f"$aact_{CANARY}-of-former-times", Environment.SANDBOX),
        ("$aact_hmlg_", Environment.SANDBOX),
        (f"{SANDBOX}\n", Environment.SANDBOX),
    ],
)
def test_a_key_of_another_environment_is_refused_and_not_quoted(key: str, environment: Environment):
    with pytest.raises(BankSecretsRefused) as refused:
        read_secrets(AsaasSecrets, {"api_key": key}, environment)

    assert refused.value.field == "api_key"
    assert CANARY not in f"{refused.value}{refused.value.reason}"
