"""``pixgate adapter verify``: what it prints, and how it ends."""

import json

import pytest
from click.testing import CliRunner

from gateway.cli.main import pixgate


def called(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(pixgate, ["adapter", "verify", *arguments])
    return done.exit_code, done.output


def test_each_case_is_printed_and_each_group_counted():
    code, output = called("sandbox", "--case", "bank.held")

    assert code == 0, output
    lines = [line.split() for line in output.splitlines() if line]
    assert lines[0] == ["passed", "bank.held", "2"]
    assert lines[-1] == ["bank", "1", "0", "0", "2"]


def test_the_same_as_json():
    code, output = called("sandbox", "--case", "bank.held", "--json")

    said = json.loads(output)
    assert code == 0
    assert [(each["case"], each["outcome"]) for each in said["cases"]] == [("bank.held", "passed")]
    assert said["groups"] == [
        {"group": "bank", "passed": 1, "failed": 0, "not_applicable": 0, "checks": 2}
    ]


@pytest.mark.parametrize(
    "arguments",
    [("nobody",), ("sandbox", "--stage", "nowhere:Stage"), ("sandbox", "--case", "none.such")],
)
def test_what_cannot_be_verified_is_no_success(arguments: tuple[str, ...]):
    assert called(*arguments)[0] == 1


def test_a_prefix_that_no_case_has_is_told():
    code, output = called("sandbox", "--case", "foo.")

    assert code == 1
    assert output.startswith("Error: no case begins with 'foo.'; the groups are wire, bank, ")
