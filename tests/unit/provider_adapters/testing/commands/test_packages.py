"""``pixgate adapter new`` and ``matrix``: what they write, and when they refuse to."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.cli.main import pixgate


def written(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(pixgate, ["adapter", "new", *arguments])
    return done.exit_code, done.output


def test_a_package_is_written_into_the_folder_that_is_named(tmp_path: Path):
    code, output = written("acme", "--into", str(tmp_path), "--money", "text", "--proof", "rsa")

    assert code == 0, output
    assert "pixgate adapter verify acme" in output
    package = tmp_path / "pixgate-acme/pixgate_acme"
    assert "Amount = str" in (package / "amounts.py").read_text()
    assert "ProofKind.RSA" in (package / "proof.py").read_text()
    assert "Bearer" in (package / "access.py").read_text()


def test_nothing_is_written_for_a_wrong_word(tmp_path: Path):
    cases = [("Acme Bank",), ("../acme",), ("acme", "--auth", "magic"), ()]

    for arguments in cases:
        code, output = written(*arguments, "--into", str(tmp_path))

        assert code != 0
        assert "Traceback" not in output
        assert list(tmp_path.iterdir()) == []


def test_the_matrix_of_an_adapter_takes_the_place_of_the_former(tmp_path: Path):
    """What stands before it stays."""
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
def test_a_file_without_a_place_for_it_is_left_alone(tmp_path: Path, text: str):
    readme = tmp_path / "README.md"
    readme.write_text(text)

    done = CliRunner().invoke(pixgate, ["adapter", "matrix", "sandbox", "--into", str(readme)])

    assert done.exit_code == 1
    assert readme.read_text() == text


def test_there_is_no_matrix_of_an_adapter_that_nobody_has():
    done = CliRunner().invoke(pixgate, ["adapter", "matrix", "nobody"])

    assert done.exit_code == 1
    assert "not installed" in done.output
