"""``pixgate callbacks``: the addresses that banks are given."""

from tests.world.shell import CONFIG

SECRET = "as the bank gave it"


def with_secret(shell) -> None:
    """Give the sandbox bank a secret of its own."""
    file = shell.folder / "own.yaml"
    file.write_text(CONFIG.read_text().replace('secret: ""', "secret: ${PIXGATE_BANKS}"))
    shell.environ |= {"PIXGATE_CONFIG": str(file), "PIXGATE_BANKS": SECRET}


def test_every_bank_with_callbacks_has_an_address(shell):
    found = shell.reads("callbacks")

    assert [each["provider"] for each in found] == ["sandbox", "sandbox-read-only"]
    assert found[0]["url"].startswith("http://127.0.0.1:8080/callbacks/sandbox/")
    assert found[0]["url"].rpartition("/")[2] != found[1]["url"].rpartition("/")[2]
    assert found == shell.reads("callbacks")


def test_the_callback_address_does_not_depend_on_the_bank_s_secret(shell):
    before = shell.says("callbacks")
    with_secret(shell)

    printed = shell.says("callbacks")

    assert printed == before
    assert SECRET not in printed


def test_an_unusable_configuration_is_reported_in_one_line(shell):
    shell.environ["PIXGATE_CONFIG"] = str(shell.folder / "nothing.yaml")

    assert "cannot be read" in shell.fails("callbacks")
