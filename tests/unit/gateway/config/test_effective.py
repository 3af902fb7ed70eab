"""The configuration in force, shown without a secret."""

import json

import msgspec

from gateway.config.effective import config_digest, effective
from gateway.config.listeners import Admin
from gateway.config.settings import Auth, Basic, Database, Sealing, Server, Settings
from gateway.config.upstream import Callbacks, Provider
from gateway.config.values import Address, Secret

CANARY = "canary-7f3a"


def guarded(canary: str = CANARY) -> Settings:
    foreign = {
        "base_url": f"https://user:{canary}@bank.example/v1",
        "client_secret": canary,
        "api_token": canary,
        "nested": {"key_passphrase": [canary], "path": "/v2"},
        "certificate": "/etc/bank.pem",
        "empty_token": "",
    }
    proven = Callbacks(secret=Secret(canary), retired_secrets={"old": Secret(canary)})
    return Settings(
        auth=Auth(basic=Basic(pepper=Secret(canary), retired_peppers={"old": Secret(canary)})),
        sealing=Sealing(key=Secret(canary), retired_keys={"old": Secret(canary)}),
        database=Database(url=Address(f"postgresql://u:{canary}@db/x")),
        providers={"bank": Provider(adapter="bank", settings=foreign, callbacks=proven)},
    )


def test_no_secret_is_shown():
    shown = json.dumps(effective(guarded()))

    assert CANARY not in shown


def test_settings_without_secrets_are_shown():
    shown = effective(guarded())

    assert shown["environment"] == "sandbox"
    assert shown["database"]["url"] == "postgresql://***@db/x"
    assert shown["auth"]["basic"]["retired_peppers"] == {"old": "***"}
    assert shown["providers"]["bank"]["breaker"]["consecutive"] == 5
    assert shown["providers"]["bank"]["settings"] == {
        "base_url": "https://***@bank.example/v1",
        "client_secret": "***",
        "api_token": "***",
        "nested": {"key_passphrase": ["***"], "path": "/v2"},
        "certificate": "/etc/bank.pem",
        "empty_token": "",
    }


def test_the_digest_does_not_depend_on_a_secret():
    assert config_digest(guarded("a" * 40)) == config_digest(guarded("b" * 40))


def test_the_digest_depends_on_every_other_setting():
    other = msgspec.structs.replace(guarded(), server=Server(keep_alive_s=1))

    assert config_digest(other) != config_digest(guarded())


def test_processes_with_one_configuration_have_the_same_digest():
    """Each has its own ports, and a worker has no public one."""
    shared = msgspec.structs.replace(
        guarded(), server=Server(port=1, reuse_port=True), admin=Admin(port=9091)
    )

    assert config_digest(shared) == config_digest(guarded())


def test_the_digest_does_not_depend_on_the_order_of_providers():
    first, second = Provider(adapter="x"), Provider(adapter="y")

    digests = {
        config_digest(Settings(providers=providers))
        for providers in ({"a": first, "b": second}, {"b": second, "a": first})
    }

    assert len(digests) == 1


def test_the_digest_is_short_and_stable():
    digest = config_digest(Settings())

    assert len(digest) == 12
    assert int(digest, 16) >= 0
    assert digest == config_digest(Settings())
