"""``pixgate adapter``: what its commands write and print, and how they end."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.app.commands.main import pixgate
from provider_adapters.testing.commands import adapter


def called(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(pixgate, ["adapter", "verify", *arguments])
    return done.exit_code, done.output


def test_a_case_that_does_not_apply_is_printed_with_its_reason():
    code, output = called("sandbox", "--case", "callbacks.several")

    assert code == 0, output
    [*_, last] = output.splitlines()
    assert last.split(maxsplit=3)[:3] == ["not_applicable", "callbacks.several", "the"]
    assert last.endswith("the stage's bank sends a callback for each thing")


def test_cases_can_be_printed_as_json():
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
def test_an_adapter_that_cannot_be_verified_exits_with_1(arguments: tuple[str, ...]):
    assert called(*arguments)[0] == 1


def test_a_failed_case_is_printed_with_its_reason():
    stage = "tests.unit.provider_adapters.testing.commands.forgetful:ForgetfulStage"
    code, output = called("sandbox", "--stage", stage, "--case", "bank.settled", "--json")

    [ended, *_] = json.loads(output)["cases"]
    assert code == 1
    assert (ended["case"], ended["outcome"], ended["checks"]) == ("bank.settled", "failed", 0)
    assert ended["reason"].startswith("assert [] == [Money(")


def test_without_pytest_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(adapter, "find_spec", lambda _: None)

    code, output = called("sandbox")

    assert code == 1
    assert output == "Error: the suite is run by pytest: pip install 'pixgate[verify]'\n"


def test_an_unknown_case_prefix_is_reported():
    code, output = called("sandbox", "--case", "foo.")

    assert code == 1
    assert output.startswith("Error: no case begins with 'foo.'; the groups are access, bank, ")


def written(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(pixgate, ["adapter", "new", *arguments])
    return done.exit_code, done.output


def test_a_package_is_written_into_the_given_folder(tmp_path: Path):
    code, output = written("acme", "--into", str(tmp_path), "--money", "text", "--proof", "rsa")

    assert code == 0, output
    assert "pixgate adapter verify acme" in output
    package = tmp_path / "pixgate-acme/pixgate_acme"
    assert "Amount = str" in (package / "amounts.py").read_text()
    assert "ProofKind.RSA" in (package / "proof.py").read_text()
    assert "Bearer" in (package / "access.py").read_text()


def test_an_invalid_option_writes_no_package(tmp_path: Path):
    cases = [("Acme Bank",), ("../acme",), ("acme", "--auth", "magic"), ()]

    for arguments in cases:
        code, output = written(*arguments, "--into", str(tmp_path))

        assert code != 0
        assert "Traceback" not in output
        assert list(tmp_path.iterdir()) == []


def test_the_matrix_replaces_the_previous_one_in_the_readme(tmp_path: Path):
    """The text before it is kept."""
    readme = tmp_path / "README.md"
    readme.write_text("# Mine\n\n<!-- matrix -->\n\nformer\n")
    command = ["adapter", "matrix", "sandbox", "--into", str(readme)]

    done = CliRunner().invoke(pixgate, command)

    text = readme.read_text()
    assert done.exit_code == 0, done.output
    assert text.startswith("# Mine\n\n<!-- matrix -->\n\n### Calls of the contract\n")
    assert "former" not in text
    assert text.endswith(CliRunner().invoke(pixgate, command[:3]).output)


@pytest.mark.parametrize("text", ["# Mine\n", ""])
def test_a_readme_without_a_matrix_marker_is_unchanged(tmp_path: Path, text: str):
    readme = tmp_path / "README.md"
    readme.write_text(text)

    done = CliRunner().invoke(pixgate, ["adapter", "matrix", "sandbox", "--into", str(readme)])

    assert done.exit_code == 1
    assert readme.read_text() == text


def test_the_matrix_of_an_unknown_adapter_is_refused():
    done = CliRunner().invoke(pixgate, ["adapter", "matrix", "nobody"])

    assert done.exit_code == 1
    assert "not installed" in done.output
