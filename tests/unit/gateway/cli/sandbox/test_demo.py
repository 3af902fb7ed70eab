"""``pixgate demo``."""

import json
from datetime import UTC, datetime

import pytest

from gateway.cli.sandbox.demo import summary
from gateway.security.identity.one_time_codes import Totp

pytestmark = pytest.mark.slow


def test_the_demo_is_made_once(shell, bank):
    first = shell.reads("demo")

    assert shell.reads("demo") == first
    assert json.loads((shell.folder / "demo.json").read_text()) == first


def test_people_get_ten_calls_to_paste(shell, bank):
    made = shell.reads("demo")

    said = shell.says("demo")

    assert said.count("\ncurl ") == 10
    assert all(thing["id"] in said for thing in made["accounts"].values())


def test_a_lost_store_and_a_lost_pepper_are_made_good(shell, bank):
    """The ids stay; secrets that do not open any more are made anew."""
    first = shell.reads("demo")
    for name in ("pixgate.db", "pixgate.db-wal", "pixgate.db-shm", "keys.json"):
        (shell.folder / name).unlink(missing_ok=True)

    again = shell.reads("demo")

    assert again == first
    listed = {each["client_id"] for each in shell.reads("credential", "list")}
    assert {pair["client_id"] for pair in again["credentials"].values()} == listed


def test_a_lost_pepper_alone_makes_new_credentials(shell, bank):
    first = shell.reads("demo")
    (shell.folder / "keys.json").unlink()

    again = shell.reads("demo")

    assert again["accounts"] == first["accounts"]
    assert again["credentials"]["full"] != first["credentials"]["full"]
    assert shell.reads("demo") == again


def test_without_a_bank_there_is_one_line(shell):
    shell.environ["PIXGATE_BANK_CONTROL_PORT"] = "1"

    line = shell.fails("demo")

    assert line == (
        "Error: the sandbox bank's control interface does not answer at http://127.0.0.1:1"
    )


def test_in_production_there_is_no_demo(shell):
    config = shell.folder / "config.yaml"
    config.write_text("environment: production\n")

    assert "production" in shell.fails("demo", "--config", str(config)).lower()
    assert not (shell.folder / "demo.json").exists()


def test_a_summary_fits_one_screen(shell, bank):
    lines = summary(shell.reads("demo"), datetime.now(UTC).date())

    assert len(lines) < 40


def test_the_code_of_a_demo_person_is_the_app_s(shell, bank):
    made = shell.reads("demo")
    secret = made["users"]["admin"]["totp_secret"]

    code = shell.says("demo", "totp", "admin@example.com").strip()

    now = datetime.now(tz=UTC)
    assert Totp("pixgate").accepted_step(secret, code, now) is not None


def test_who_has_no_app_has_no_code(shell, bank):
    shell.reads("demo")

    line = shell.fails("demo", "totp", "viewer@example.com")

    assert line == "Error: no demo user viewer@example.com with an authenticator app"


def test_people_are_printed_with_what_they_sign_in_with(shell, bank):
    made = shell.reads("demo")

    said = shell.says("demo")

    assert all(
        f"{one['email']}  password {one['password']}" in said for one in made["users"].values()
    )
