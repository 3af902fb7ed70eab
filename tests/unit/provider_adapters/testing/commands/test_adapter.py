"""``pixgate adapter verify``: what it prints, and how it ends."""

import json

import pytest
from click.testing import CliRunner

from gateway.cli.main import pixgate
from provider_adapters.testing.commands import adapter


def called(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(pixgate, ["adapter", "verify", *arguments])
    return done.exit_code, done.output


def test_a_line_says_which_case_does_not_apply_and_why():
    code, output = called("sandbox", "--case", "callbacks.several")

    assert code == 0, output
    [*_, last] = output.splitlines()
    assert last.split(maxsplit=3)[:3] == ["not_applicable", "callbacks.several", "the"]
    assert last.endswith("the stage's bank sends a callback for each thing")


def test_the_cases_as_json():
    code, output = called("sandbox", "--case", "bank.held", "--json")

    said = json.loads(output)
    assert code == 0
    assert [(each["case"], each["outcome"]) for each in said["cases"]] == [("bank.held", "passed")]
    assert said["groups"] == [
        {"group": "bank", "passed": 1, "failed": 0, "not_applicable": 0, "checks": 1}
    ]


@pytest.mark.parametrize(
    "arguments",
    [("nobody",), ("sandbox", "--stage", "nowhere:Stage"), ("sandbox", "--case", "none.such")],
)
def test_what_cannot_be_verified_is_no_success(arguments: tuple[str, ...]):
    assert called(*arguments)[0] == 1


def test_a_case_that_fails_ends_the_command_with_its_reason():
    stage = "tests.unit.provider_adapters.testing.commands.forgetful:ForgetfulStage"
    code, output = called("sandbox", "--stage", stage, "--case", "bank.settled", "--json")

    [ended, *_] = json.loads(output)["cases"]
    assert code == 1
    assert (ended["case"], ended["outcome"], ended["checks"]) == ("bank.settled", "failed", 0)
    assert ended["reason"].startswith("assert [] == [Money(")


def test_without_pytest_a_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(adapter, "find_spec", lambda _: None)

    code, output = called("sandbox")

    assert code == 1
    assert output == "Error: the suite is run by pytest: pip install 'pixgate[verify]'\n"


def test_a_prefix_that_no_case_has_is_told():
    code, output = called("sandbox", "--case", "foo.")

    assert code == 1
    assert output.startswith("Error: no case begins with 'foo.'; the groups are access, bank, ")
