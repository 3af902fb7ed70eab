"""``pixgate config check --against``: what two configurations must not share."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from tests.world.banks.authority import Authority
from tests.world.shell import CONFIG, Shell

PEPPER = "a pepper of one, thirty-two bytes long"
KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
OTHER_KEY = "8PHy8/T19vf4+fr7/P3+/yAhIiMkJSYnKCkqKywtLi8="
OWN = {"PEPPER": PEPPER, "KEY": KEY}
KEYS = "auth: {basic: {pepper: '${PEPPER}'}}\nsealing: {key: '${KEY}'}\n"
BANK = "providers: {bank: {adapter: sandbox, %s}}\n"
CALLBACKS = BANK % "callbacks: {secret: '${SECRET}'}"


@pytest.fixture
def against(shell):
    """Checks one configuration against another; returns status, findings and all that is said."""

    def check(ours: str, theirs: str, environ: dict[str, str], other: dict[str, str], *more: str):
        shell.environ |= environ
        files = [shell.folder / f"{name}.yaml" for name in ("ours", "theirs")]
        for file, text in zip(files, (ours, theirs), strict=True):
            file.write_text(f"var: {shell.folder}/{file.stem}\n{text}")
        variables = shell.folder / "variables"
        lines = [f"{name}='{value}'" for name, value in other.items()]
        variables.write_text("\n".join(["# of the other", "", *lines]))
        named = ["--against", files[1], "--against-environment", variables]
        done = shell.run(
            *("config", "check", "--json", "--config", str(files[0])), *map(str, named), *more
        )
        found = json.loads(done.stdout)["findings"]
        return [(each["path"], each["message"].rpartition(": ")[2]) for each in found], done.output

    return check


def test_different_keys_and_peppers_have_no_finding(against):
    other = {"PEPPER": f"{PEPPER} too", "KEY": OTHER_KEY}

    assert against(KEYS, KEYS, OWN, other)[0] == []


def test_a_key_or_pepper_shared_with_the_other_configuration_is_found_and_never_shown(against):
    """Also a sealing key in the other alphabet, and one used as the other's pepper."""
    retired = "sealing: {key: '${KEY}', retired_keys: {old: '${OLD}'}}\n"
    other = {"KEY": OTHER_KEY, "OLD": KEY.rstrip("="), "PEPPER": PEPPER}

    found, said = against(KEYS, f"{retired}auth: {{basic: {{pepper: '${{PEPPER}}'}}}}", OWN, other)
    as_pepper, _ = against(KEYS, "auth: {basic: {pepper: '${KEY}'}}", OWN, {"KEY": KEY})

    assert found == [
        ("auth.basic.pepper", "auth.basic.pepper"),
        ("sealing.key", "sealing.retired_keys.old"),
    ]
    assert as_pepper == [("sealing.key", "auth.basic.pepper")]
    assert not any(each in said for each in (PEPPER, KEY, KEY.rstrip("=")))


def test_without_its_own_variables_the_other_configuration_uses_ours(shell):
    shell.environ |= OWN
    file = shell.folder / "config.yaml"
    file.write_text(f"var: {shell.folder}\n{KEYS}")

    said = shell.fails("config", "check", "--config", str(file), "--against", str(file))

    assert "sealing.key: is the same as in" in said


def test_a_bank_s_secret_is_compared_by_value(against):
    secret = {"SECRET": "as the bank gave it"}

    shared, said = against(CALLBACKS, CALLBACKS, secret, secret)
    own, _ = against(CALLBACKS, CALLBACKS, secret, {"SECRET": "as the other bank did"})

    assert (shared, own) == ([("providers.bank.callbacks.secret",) * 2], [])
    assert secret["SECRET"] not in said


def test_a_certificate_is_compared_by_its_public_key(against, tmp_path: Path):
    authority = Authority(tmp_path)
    first = authority.pair("one")
    texts = {
        "first": first,
        "renewed": authority.pair("renewed", key=authority_key(first.key)),
        "second": authority.pair("two"),
    }
    found = {}
    for name, pair in texts.items():
        (tmp_path / f"{name}.pem").write_text(pair.certificate + pair.key)
    for name in texts:
        ours, theirs = (
            BANK % f"tls: {{certificate: {tmp_path}/{each}.pem}}" for each in ("first", name)
        )
        found[name] = against(ours, theirs, {}, {})[0]

    same = [("providers.bank.tls.certificate",) * 2]
    assert found == {"first": same, "renewed": same, "second": []}


def authority_key(pem: str):
    """Return a private key as the authority takes it."""
    return load_pem_private_key(pem.encode(), None)


def deployment(folder: Path, port: str, secret: str, key: str) -> dict[str, str]:
    """Make a store with an account at a bank; return the variables of its deployment."""
    folder.mkdir()
    environ = {
        "PIXGATE_VAR": str(folder),
        "PIXGATE_PEPPER": f"{PEPPER} {folder.name}",
        "PIXGATE_SEALING_KEY": key,
        "PIXGATE_BANK_PORT": port,
        "PIXGATE_DATABASE_URL": "",
    }
    one = Shell(folder, environ)
    company = one.reads("company", "create", "--name", "Loja")["id"]
    shown = {
        "client_id": "the same client id",
        "client_secret": secret,
        "pix_key": "the same key!!!!",
        "token_url": "https://bank.example/token",
    }
    file = folder / "credentials.json"
    file.write_text(json.dumps(shown))
    holder = ("--name", "Loja", "--tax-number", "11222333000181", "--company", company)
    there = ("--provider", "sandbox", "--provider-account", str(uuid4()))
    one.says("account", "create", *holder, *there, "--provider-credentials", str(file))
    return environ


def test_credentials_of_accounts_are_compared_between_two_stores(shell, bank, tmp_path: Path):
    """Sealed with other keys and for other accounts: their contents are compared."""
    port = shell.environ["PIXGATE_BANK_PORT"]
    given = {"same": "a secret of the bank", "other": "another secret of it"}
    shell.environ |= deployment(tmp_path / "ours", port, given["same"], KEY)
    found = {}
    for name, secret in given.items():
        theirs = deployment(tmp_path / name, port, secret, OTHER_KEY)
        variables = tmp_path / f"{name}.env"
        variables.write_text("".join(f"{each}='{value}'\n" for each, value in theirs.items()))
        named = ("--against", str(CONFIG), "--against-environment", str(variables))
        done = shell.run("config", "check", "--probe", "--json", *named)
        assert secret not in done.output
        found[name] = [each["message"] for each in json.loads(done.stdout)["findings"]]

    assert [len(each) for each in found.values()] == [1, 0], found
    assert ": account " in found["same"][0]


@pytest.mark.parametrize(
    ("text", "variables", "told"),
    [
        ("servr: {}", "", "servr: no such setting"),
        ("", "A=1 2", "line 1 is not NAME='value'"),
        ("", "A='1", "line 1 is not NAME='value'"),
        (BANK % "tls: {certificate: /nowhere.pem}", "", "/nowhere.pem cannot be read"),
    ],
)
def test_a_configuration_that_cannot_be_compared_is_an_error(
    shell, text: str, variables: str, told: str
):
    other, file = shell.folder / "other.yaml", shell.folder / "variables"
    other.write_text(text)
    file.write_text(variables)
    named = ("--against", str(other), "--against-environment", str(file))

    said = shell.fails("config", "check", *named)

    assert told in said


def test_variables_without_the_other_configuration_are_a_usage_error(shell):
    assert "belongs to --against" in shell.fails(
        "config", "check", "--against-environment", "/nowhere", status=2
    )
