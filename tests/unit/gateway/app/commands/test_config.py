"""``pixgate config check``."""

import json

import pytest

CONFIG = "config.yaml"


@pytest.fixture
def written(shell):
    """Writes a configuration and returns its path."""

    def write(text: str) -> str:
        file = shell.folder / CONFIG
        file.write_text(f"var: {shell.folder}\n{text}")
        return str(file)

    return write


def test_the_configuration_of_the_sandbox_is_fit_to_serve(shell):
    assert "fit to serve" in shell.says("config", "check")


def test_programs_get_a_digest(shell):
    checked = shell.reads("config", "check")

    assert (checked["ok"], checked["findings"]) == (True, [])
    assert len(checked["digest"]) == 12


def test_every_configuration_mistake_is_reported_with_its_path(shell, written):
    file = written("server: {prt: 1}\nadmin: {port: x}\n")

    lines = shell.fails("config", "check", "--config", file).splitlines()

    assert len(lines) == 2
    assert "server.prt" in lines[0] + lines[1]
    assert "port" in lines[0] + lines[1]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("server: {port: 9090}", "admin.port"),
        ("providers: {bank: {adapter: sandbx}}", "providers.bank.adapter"),
        (
            "providers: {bank: {adapter: sandbox, settings: {base_url: 'http://10.0.0.1'}}}",
            "providers.bank.settings.base_url",
        ),
        (
            "providers: {bank: {adapter: sandbox, settings: {bse_url: ''}}}",
            "providers.bank.settings",
        ),
        ("environment: production", "auth.basic.pepper"),
    ],
)
def test_findings_of_a_well_formed_configuration_are_reported(shell, written, text: str, path: str):
    file = written(text)

    done = shell.run("config", "check", "--json", "--config", file)

    assert done.exit_code == 1
    assert path in [each["path"] for each in json.loads(done.stdout)["findings"]]


def test_an_unreadable_configuration_is_status_two(shell):
    assert "cannot be read" in shell.fails("config", "check", "--config", "/nowhere.yaml", status=2)


def test_a_secret_is_never_reported(shell, written):
    shell.environ["SOME_PEPPER"] = "hidden-pepper"
    file = written("environment: production\nauth: {basic: {pepper: '${SOME_PEPPER}'}}\n")

    done = shell.run("config", "check", "--json", "--config", file)

    assert done.exit_code == 1
    assert "hidden-pepper" not in done.output


def test_a_check_writes_nothing(fresh_shell):
    fresh_shell.says("config", "check")

    assert list(fresh_shell.folder.iterdir()) == []
