"""The keys in force."""

import base64
import json
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from threading import Barrier

import pytest
from msgspec.structs import replace

from gateway.config.reading import ConfigError
from gateway.config.settings import Auth, Basic, Sealing, Settings
from gateway.config.values import Secret
from gateway.core.account import Environment
from gateway.security.keys import FILE, Keys, load_keys
from gateway.security.secrets import SecretDigest

NOW = datetime(2026, 11, 20, tzinfo=UTC)
PEPPER = Secret("a pepper that is configured, 32 bytes")
OTHER_PEPPER = Secret("another pepper, of thirty-two bytes")
KEY = Secret(base64.b64encode(b"k" * 32).decode())
OTHER_KEY = Secret(base64.b64encode(b"o" * 32).decode())


@pytest.fixture
def sandbox(tmp_path: Path) -> Settings:
    return Settings(var=str(tmp_path / "var"))


def with_keys(settings: Settings, basic: Basic, sealing: Sealing) -> Settings:
    return replace(settings, auth=Auth(basic=basic), sealing=sealing)


def understand_each_other(one: Keys, other: Keys) -> bool:
    key_id, digest = one.digester.digest("secret")
    stored = SecretDigest(key_id=key_id, digest=digest, created_at=NOW)
    opened = other.sealer.open(one.sealer.seal("text", "row"), "row")
    return opened == "text" and other.digester.matches("secret", [stored], NOW)


def test_configured_keys_are_used_and_no_file_is_written(sandbox):
    settings = with_keys(sandbox, Basic(pepper=PEPPER), Sealing(key=KEY))

    keys = load_keys(settings)

    assert understand_each_other(keys, load_keys(settings))
    assert not settings.folder.exists()


def test_the_sandbox_generates_its_keys_once(sandbox):
    def refuse(size: int) -> bytes:
        pytest.fail(f"{size} more random bytes were asked for")

    first = load_keys(sandbox)

    assert understand_each_other(first, load_keys(sandbox, refuse))


def test_generated_keys_are_readable_by_the_owner_only(sandbox):
    load_keys(sandbox)

    file = sandbox.folder / FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(sandbox.folder.iterdir()) == [file]


def test_generated_keys_are_random(sandbox):
    numbers = count(1)

    load_keys(sandbox, lambda size: bytes([next(numbers)]) * size)

    content = json.loads((sandbox.folder / FILE).read_text(encoding="utf-8"))
    made = {name: base64.urlsafe_b64decode(text) for name, text in content.items()}
    assert made == {"pepper": b"\1" * 32, "sealing_key": b"\2" * 32}


def test_processes_that_start_together_use_the_same_keys(sandbox):
    """Each finds no file, and makes its keys before any of them writes."""
    together = Barrier(8)

    def start(number: int) -> Keys:
        def random(size: int) -> bytes:
            if size == 32:
                together.wait()
            return bytes([number]) * size

        return load_keys(sandbox, random)

    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(start, range(8)))

    assert all(understand_each_other(keys[0], each) for each in keys)
    assert list(sandbox.folder.iterdir()) == [sandbox.folder / FILE]


def test_one_configured_key_is_combined_with_a_generated_one(sandbox):
    settings = with_keys(sandbox, Basic(pepper=PEPPER), Sealing())

    assert understand_each_other(load_keys(settings), load_keys(settings))
    assert load_keys(settings).digester.digest("a") != load_keys(sandbox).digester.digest("a")


def test_values_made_before_a_rotation_are_still_valid(sandbox):
    before = load_keys(with_keys(sandbox, Basic(pepper=PEPPER), Sealing(key=KEY)))

    after = load_keys(
        with_keys(
            sandbox,
            Basic(pepper=OTHER_PEPPER, retired_peppers={"2025": PEPPER}),
            Sealing(key=OTHER_KEY, retired_keys={"2025": KEY}),
        )
    )

    assert understand_each_other(before, after)
    assert after.digester.digest("a")[0] != before.digester.digest("a")[0]


@pytest.mark.parametrize("label", ["a", "z"])
def test_the_label_of_a_retired_key_has_no_effect(sandbox, label):
    before = load_keys(with_keys(sandbox, Basic(pepper=PEPPER), Sealing(key=KEY)))

    basic = Basic(pepper=OTHER_PEPPER, retired_peppers={label: PEPPER})
    sealing = Sealing(key=OTHER_KEY, retired_keys={label: KEY})

    assert understand_each_other(before, load_keys(with_keys(sandbox, basic, sealing)))


@pytest.mark.parametrize(
    ("basic", "sealing"),
    [
        (Basic(), Sealing()),
        (Basic(pepper=PEPPER), Sealing()),
        (Basic(), Sealing(key=KEY)),
    ],
    ids=["neither", "pepper only", "sealing key only"],
)
def test_production_generates_no_keys(sandbox, basic, sealing):
    production = replace(with_keys(sandbox, basic, sealing), environment=Environment.PRODUCTION)

    with pytest.raises(ConfigError, match="production needs both"):
        load_keys(production)

    assert not production.folder.exists()


def test_production_refuses_sandbox_keys(sandbox):
    load_keys(sandbox)

    with pytest.raises(ConfigError):
        load_keys(replace(sandbox, environment=Environment.PRODUCTION))


def test_a_malformed_key_is_refused_without_being_quoted(sandbox):
    settings = with_keys(sandbox, Basic(pepper=PEPPER), Sealing(key=Secret("canary")))

    with pytest.raises(ConfigError) as caught:
        load_keys(settings)

    assert caught.value.problems[0].startswith("sealing: a key wants 32 bytes in base64")
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"pepper": "x"}', "\ufeff", "null"])
def test_an_invalid_key_file_is_reported_and_unchanged(sandbox, content):
    """Data sealed with its keys would be lost with them."""
    file = sandbox.folder / FILE
    file.parent.mkdir()
    file.write_text(content, encoding="utf-8")

    with pytest.raises(ConfigError, match="does not hold the sandbox's keys any more"):
        load_keys(sandbox)

    assert file.read_text(encoding="utf-8") == content


def test_an_unusable_folder_is_reported(sandbox, tmp_path):
    (tmp_path / "var").write_text("a file", encoding="utf-8")

    with pytest.raises(ConfigError, match="cannot be read or written"):
        load_keys(sandbox)
