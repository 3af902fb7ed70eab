"""``pixgate credential``."""

import pytest

from gateway.security.secrets import has_valid_checksum
from tests.world.signing import Signer


@pytest.fixture
def company_id(shell) -> str:
    return shell.reads("company", "create", "--name", "Padaria")["id"]


@pytest.fixture
def issued(shell, company_id: str) -> dict[str, str]:
    return shell.reads(
        "credential", "issue", "--name", "ERP", "--company", company_id, "--permission",
        "withdraw:write", "--permission", "balance:read",
    )  # fmt: skip


def test_a_credential_is_issued_with_its_secret(shell, issued, company_id):
    assert has_valid_checksum(issued["client_secret"])
    assert issued["permissions"] == ["balance:read", "withdraw:write"]
    assert (issued["company_id"], issued["account_id"]) == (company_id, None)


def test_the_secret_is_shown_once(shell, issued):
    listed = shell.run("credential", "list", "--json").output + shell.says("credential", "list")

    assert issued["client_id"] in listed
    assert "gws_" not in listed
    assert "digest" not in listed


def test_the_output_notes_that_the_secret_is_shown_once(shell, company_id):
    done = shell.run("credential", "issue", "--name", "ERP", "--company", company_id)

    assert done.stderr == "The secret is not shown again.\n"


def test_an_account_s_credential_names_the_account(shell, company_id):
    account = shell.reads(
        "account", "create", "--company", company_id, "--name", "A", "--tax-number", "52998224725"
    )

    issued = shell.reads("credential", "issue", "--name", "ERP", "--account", account["id"])

    assert (issued["company_id"], issued["account_id"]) == (company_id, account["id"])


def test_a_rotation_shows_the_new_secret(shell, issued):
    rotated = shell.reads("credential", "rotate", issued["client_id"], "--overlap", "90m")

    assert rotated["client_secret"] != issued["client_secret"]
    assert rotated["old_secret_ends_at"]
    (listed,) = shell.reads("credential", "list")
    assert listed["live_secrets"] == 2


def test_a_revoked_credential_is_listed_as_revoked(shell, issued):
    shell.says("credential", "revoke", issued["client_id"], "--reason", "leaked")

    (listed,) = shell.reads("credential", "list")
    assert (listed["state"], listed["live_secrets"]) == ("revoked", 0)
    assert listed["revoked_at"]


def test_an_expiry_date_is_the_start_of_that_day_in_utc(shell, company_id):
    issued = shell.reads(
        "credential", "issue", "--name", "E", "--company", company_id, "--expires", "2999-01-02"
    )

    assert issued["expires_at"] == "2999-01-02T00:00:00Z"
    (listed,) = shell.reads("credential", "list")
    assert listed["state"] == "live"


def test_a_usage_error_is_status_two(shell):
    cases = [
        ("issue", "--name", "ERP"),
        ("issue", "--name", "ERP", "--company", "1", "--permission", "balance:fly"),
        ("issue", "--name", "ERP", "--company", "1", "--permission", "money:read"),
        ("issue", "--name", "ERP", "--company", "1", "--expires", "tomorrow"),
        ("rotate", "cli_1", "--overlap", "1"),
        ("rotate", "cli_1", "--overlap", "-1h"),
        ("rotate",),
    ]

    wrong = [
        arguments
        for arguments in cases
        if "Error: " not in shell.fails("credential", *arguments, status=2)
    ]

    assert wrong == []


def test_a_credential_is_issued_with_limits(shell, company_id):
    made = shell.reads(
        "credential", "issue", "--name", "ERP", "--company", company_id,
        "--limit-per-payout", "100.5", "--limit-per-day", "2000.00",
    )  # fmt: skip

    [shown] = shell.reads("credential", "list")
    assert shown["client_id"] == made["client_id"]
    assert (shown["limit_per_payout"], shown["limit_per_day"]) == ("100.50", "2000.00")


def test_limits_are_set_and_removed_with_a_keyword(shell, issued):
    client_id = issued["client_id"]
    nothing = shell.fails("credential", "limits", client_id, status=2)

    limited = shell.reads(
        "credential", "limits", client_id, "--limit-per-payout", "100.5",
        "--limit-per-payout-at-night", "10", "--limit-per-night", "50",
    )  # fmt: skip
    unlimited = shell.reads("credential", "limits", client_id, "--unlimited")
    proposed = shell.reads("credential", "propose-limit", client_id)

    assert "give a limit or --unlimited" in nothing
    names = ("payout", "day", "payout_at_night", "night")
    assert [limited[f"limit_per_{name}"] for name in names] == ["100.50", "", "10.00", "50.00"]
    assert [unlimited[f"limit_per_{name}"] for name in names] == [""] * 4
    assert (proposed["days"], proposed["limit_per_day"]) == (0, "")


def test_a_credential_is_issued_for_networks_which_can_be_changed(shell, company_id):
    issued = shell.reads(
        "credential", "issue", "--name", "ERP", "--company", company_id,
        "--permission", "withdraw:write", "--network", "192.0.2.7/24", "--network", "2001:db8::1",
    )  # fmt: skip
    before = shell.reads("credential", "list")[0]

    after = shell.reads("credential", "networks", issued["client_id"], "--anywhere")

    assert before["networks"] == ["192.0.2.0/24", "2001:db8::1/128"]
    assert (before["anywhere"], after["anywhere"], after["networks"]) == (False, True, [])


def test_a_network_of_every_address_is_refused(shell, issued):
    line = shell.fails("credential", "networks", issued["client_id"], "--network", "0.0.0.0/0")

    assert "say anywhere" in line


def test_a_public_key_is_registered_and_removed(shell, issued, tmp_path):
    key = tmp_path / "key.pem"
    key.write_text(Signer().pem)

    added = shell.reads("credential", "add-key", issued["client_id"], str(key))
    [listed] = shell.reads("credential", "list")
    removed = shell.reads("credential", "remove-key", issued["client_id"], added["public_keys"][0])

    assert added["public_keys"] == listed["public_keys"] == [Signer().public.key_id]
    assert removed["public_keys"] == []


def test_a_file_without_a_public_key_is_refused_and_not_quoted(shell, issued, tmp_path):
    key = tmp_path / "key.pem"
    key.write_text("-----BEGIN PRIVATE KEY-----")

    line = shell.fails("credential", "add-key", issued["client_id"], str(key))

    assert "no Ed25519 public key" in line
    assert "PRIVATE" not in line
