"""``pixgate demo``."""

import json
from datetime import UTC, datetime

import pytest

from gateway.identity.one_time_codes import accepted_step
from provider_adapters.testing.commands.demo import summary
from tests.world.standing import TODAY

pytestmark = pytest.mark.slow


def test_the_demo_is_created_once(demo_shell, made):
    first = json.loads((demo_shell.folder / "demo.json").read_text())

    assert demo_shell.reads("demo") == made == first
    assert json.loads((demo_shell.folder / "demo.json").read_text()) == first


@pytest.fixture(scope="module")
def made(demo_shell):
    return demo_shell.reads("demo")


@pytest.fixture(scope="module")
def said(demo_shell):
    return demo_shell.says("demo")


def test_the_demo_prints_ten_calls_to_copy(made, said):
    assert said.count("\ncurl ") == 10
    assert all(thing["id"] in said for thing in made["accounts"].values())


def test_a_lost_store_and_a_lost_pepper_are_recreated(shell, bank):
    """The ids are kept; secrets that cannot be opened are made again."""
    first = shell.reads("demo")
    for name in ("pixgate.db", "pixgate.db-wal", "pixgate.db-shm", "keys.json"):
        (shell.folder / name).unlink(missing_ok=True)

    again = shell.reads("demo")

    assert again == first
    listed = {each["client_id"] for each in shell.reads("credential", "list")}
    assert {pair["client_id"] for pair in again["credentials"].values()} == listed


def test_a_lost_key_is_reported_by_name(shell, bank):
    """The audit log is sealed with them, so nothing can be created."""
    shell.reads("demo")
    (shell.folder / "keys.json").unlink()

    line = shell.fails("demo")

    assert "sealed under the key" in line
    assert "which is not configured" in line


def test_an_unreachable_bank_is_reported_in_one_line(shell):
    shell.environ["PIXGATE_BANK_CONTROL_PORT"] = "1"

    line = shell.fails("demo")

    assert line == (
        "Error: the sandbox bank's control interface does not answer at http://127.0.0.1:1"
    )


def test_production_has_no_demo(shell):
    config = shell.folder / "config.yaml"
    config.write_text("environment: production\n")

    for arguments in [(), ("--bank", "sandbox"), ("totp", "admin@example.com")]:
        line = shell.fails("demo", *arguments, "--config", str(config))
        assert "production" in line.lower()
    assert not (shell.folder / "demo.json").exists()


def test_the_summary_fits_on_one_screen(made):
    assert len(summary(made, TODAY)) < 40


def test_the_printed_totp_code_is_accepted(demo_shell, made):
    secret = made["users"]["admin"]["totp_secret"]

    before = datetime.now(UTC)
    code = demo_shell.says("demo", "totp", "admin@example.com").strip()

    taken = [accepted_step(secret, code, at) for at in (before, datetime.now(UTC))]
    assert taken != [None, None]


def test_a_user_without_an_authenticator_app_has_no_code(demo_shell):
    line = demo_shell.fails("demo", "totp", "viewer@example.com")

    assert line.startswith("Error: no demo user viewer@example.com with an authenticator app")


def test_there_is_no_code_before_the_demo_is_created(fresh_shell):
    assert "`pixgate demo`" in fresh_shell.fails("demo", "totp", "admin@example.com")


def test_the_demo_users_are_printed_with_their_passwords(made, said):
    assert all(
        f"{one['email']}  password {one['password']}" in said for one in made["users"].values()
    )
