"""``pixgate account``."""

import os
from pathlib import Path

import pytest

from tests.world.banks.authority import VALID, Authority
from tests.world.certified import registered

ORDER = ("--name", "Padaria", "--tax-number", "11.222.333/0001-81")
SANDBOX = ("--provider", "sandbox", "--provider-account", "conta-1")


@pytest.fixture
def company_id(shell) -> str:
    return shell.reads("company", "create", "--name", "Padaria")["id"]


@pytest.fixture
def account_id(shell, company_id: str) -> str:
    return shell.reads("account", "create", "--company", company_id, *ORDER)["id"]


def test_an_account_is_created_and_listed(shell, company_id):
    made = shell.reads("account", "create", "--company", company_id, *ORDER, "--active", *SANDBOX)

    assert shell.reads("account", "list", "--company", company_id) == [made]
    assert (made["active"], made["verified"], made["provider"]) == (True, False, "sandbox")
    assert made["tax_number"] == "11222333000181"


def test_an_update_changes_the_given_fields(shell, account_id):
    updated = shell.reads("account", "update", account_id, "--verified", "--branch", "0001")

    assert (updated["active"], updated["verified"], updated["branch"]) == (False, True, "0001")


def test_a_provider_s_credentials_come_from_a_file_and_are_not_shown(shell, account_id):
    """An argument would be visible in the process list."""
    done = shell.run(
        "account", "update", account_id, *SANDBOX, "--provider-credentials", "-", typed="token-1\n"
    )

    assert "provider_credentials  yes" in done.stdout
    assert "token-1" not in done.output


def test_a_provider_can_be_removed(shell, account_id):
    shell.says("account", "update", account_id, *SANDBOX, "--provider-credentials", os.devnull)

    updated = shell.reads("account", "update", account_id, "--provider", "")

    assert (updated["provider"], updated["provider_credentials"]) == ("", False)


@pytest.mark.parametrize("option", ["--provider-account", "--provider-credentials"])
def test_an_incomplete_provider_is_a_usage_error(shell, account_id, option: str):
    line = shell.fails("account", "update", account_id, option, "-", status=2)

    assert "need --provider" in line


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Each secret of an account in a file of its own, for a bank that asks for three."""
    registered(monkeypatch, "sandbox")
    pair = Authority(tmp_path).pair("we")
    written = {"client_id": "canary-id\n", "certificate": pair.certificate, "key": pair.key}
    for name, text in written.items():
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in written}


def fields(files: dict[str, Path]) -> list[str]:
    return [
        part for name, path in files.items() for part in ("--provider-credential", f"{name}={path}")
    ]


def test_each_secret_can_be_read_from_its_own_file(shell, account_id, files: dict[str, Path]):
    """A certificate is in a file of its own anyway."""
    updated = shell.reads("account", "update", account_id, *SANDBOX, *fields(files))

    assert updated["provider_credentials"] is True
    assert updated["certificate_ends_at"].startswith(VALID[1].date().isoformat())
    assert shell.reads("account", "list")[0]["certificate_ends_at"]


def test_a_missing_secret_is_named_and_none_is_repeated(shell, account_id, files: dict[str, Path]):
    del files["key"]

    line = shell.fails("account", "update", account_id, *SANDBOX, *fields(files))

    assert "credentials.key is missing" in line
    assert "canary" not in line


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        (("client_id",), "FIELD=FILE"),
        (("client_id=/nowhere/canary",), "cannot be read"),
        (("client_id=-", "--provider-credentials", "-"), "exclude each other"),
    ],
)
def test_unreadable_secrets_are_a_usage_error(shell, account_id, typed, why: str):
    line = shell.fails(
        "account", "update", account_id, *SANDBOX, "--provider-credential", *typed, status=2
    )

    assert why in line
