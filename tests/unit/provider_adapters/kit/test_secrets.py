"""An account's secrets: what fits is taken whole, the rest is refused by its field."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from gateway.banks.port.providers import CredentialsRefused, ProviderAccount
from gateway.core.account import BankSecretsRefused, Environment
from gateway.core.reasons import REASONS
from gateway.net.common.certificates import PemFlaw
from provider_adapters.kit.secrets import (
    Flaw,
    PemCertificate,
    PemKey,
    SecretsMisdeclared,
    SecretText,
    SigningKey,
    check_kind,
    identity_of,
    in_environments,
    open_secrets,
    pair_of,
    read_secrets,
    secrets_of,
    with_pair,
)
from provider_adapters.kit.signing import EcdsaSigner
from tests.world.banks.authority import EXPIRED, VALID, Authority
from tests.world.banks.signers import private_pem
from tests.world.tables import cases

CANARY = "canary-7f3a"


class Secrets(msgspec.Struct, frozen=True, kw_only=True):
    client_id: SecretText
    client_secret: SecretText
    certificate: PemCertificate
    key: PemKey
    payer_key: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f-]{36}$")] = ""


class Optional(msgspec.Struct, frozen=True, kw_only=True):
    """As of a bank that asks for a certificate in production alone."""

    client_id: SecretText
    certificate: PemCertificate = ""
    key: PemKey = ""


class Plain(msgspec.Struct, frozen=True):
    access_id: SecretText
    token: SecretText


class Signing(msgspec.Struct, frozen=True):
    access_id: SecretText
    private_key: SigningKey


@pytest.fixture
def whole(tmp_path: Path) -> dict[str, str]:
    pair = Authority(tmp_path).pair("we")
    return {
        "client_id": "id",
        "client_secret": "secret",
        "certificate": pair.certificate,
        "key": pair.key,
    }


def account(secrets: object) -> ProviderAccount:
    return ProviderAccount(account_id="a", provider_account="1", secrets=secrets)


def refusal(kind: type[msgspec.Struct] | None, given: str | dict[str, str]) -> BankSecretsRefused:
    with pytest.raises(BankSecretsRefused) as refused:
        read_secrets(kind, given)
    said = f"{refused.value!r} {refused.value}"
    assert CANARY not in said
    assert refused.value.reason in REASONS
    return refused.value


@pytest.mark.parametrize("as_text", [False, True])
def test_secrets_are_sealed_as_one_text_and_opened_again(whole: dict[str, str], as_text: bool):
    given = msgspec.json.encode(whole).decode() if as_text else whole

    read = read_secrets(Secrets, given)
    opened = open_secrets(Secrets, read.text)

    assert read.certificate_ends_at == VALID[1].replace(microsecond=0)
    assert opened == Secrets(**whole)
    assert secrets_of(account(opened), Secrets) is opened
    assert identity_of(account(opened)).pair == pair_of(opened)
    assert CANARY not in repr(read_secrets(Plain, {"access_id": "1", "token": CANARY}))


def test_the_certificate_of_secrets_can_be_replaced(whole: dict[str, str], tmp_path: Path):
    new = Authority(tmp_path, "other").pair("we")

    renewed = with_pair(Secrets(**whole), new)

    assert pair_of(renewed) == new
    assert (renewed.client_id, renewed.client_secret) == ("id", "secret")


def test_secrets_of_a_single_text_are_kept_unchanged():
    """Also a text that looks like an object: a bank may require just that."""
    for text in ("token", '{"a": 1}', "-----BEGIN", "x" * 32_768):
        assert read_secrets(None, text).text == text
    assert refusal(None, {"token": CANARY}).reason == Flaw.ONE_TEXT


def test_an_expired_certificate_is_accepted_with_its_end(whole, tmp_path: Path):
    """Calls are refused before anything is sent; the alert and the lists give the reason."""
    pair = Authority(tmp_path, "other").pair("we", EXPIRED)

    read = read_secrets(Secrets, whole | {"certificate": pair.certificate, "key": pair.key})

    assert read.certificate_ends_at == EXPIRED[1].replace(microsecond=0)


def test_an_optional_certificate_may_be_absent():
    read = read_secrets(Optional, {"client_id": "id"})
    opened = open_secrets(Optional, read.text)

    assert (read.certificate_ends_at, pair_of(opened)) == (None, None)
    assert identity_of(account(opened)).pair is None


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"client_id": None}, "client_id", "missing"),
        ({"client_secret": ""}, "client_secret", "missing"),
        ({"client_secret": f"{CANARY}\r\nX: 1"}, "client_secret", "form"),
        ({"client_secret": CANARY * 1000}, "client_secret", "length"),
        ({"payer_key": CANARY}, "payer_key", "form"),
        ({CANARY: "x"}, "", "bank_credentials_unknown"),
        ({"certificate": None}, "certificate", "missing"),
        ({"key": None}, "key", "missing"),
        ({"certificate": CANARY}, "certificate", PemFlaw.NO_CERTIFICATE),
        ({"key": CANARY}, "key", PemFlaw.NO_KEY),
        ({"key": "other"}, "key", PemFlaw.OTHER_KEY),
    ],
)
def test_an_invalid_secret_is_refused_with_its_field(
    whole: dict[str, str], tmp_path: Path, change: dict[str, str | None], field: str, reason: str
):
    if change.get("key") == "other":
        change = {"key": Authority(tmp_path, "other").pair("they").key}
    given = {name: text for name, text in (whole | change).items() if text is not None}

    refused = refusal(Secrets, given)

    assert (refused.field, refused.reason) == (field, reason)


@pytest.mark.parametrize("half", ["certificate", "key"])
def test_half_of_an_optional_certificate_is_refused(whole: dict[str, str], half: str):
    refused = refusal(Optional, {"client_id": "id", half: whole[half]})

    assert refused.reason == "missing"
    assert {refused.field, half} == {"certificate", "key"}


def test_a_signing_key_is_checked_on_entry(tmp_path: Path):
    """On the one supported curve, in PEM lines as banks provide it."""
    key = private_pem(ec.SECP256K1())
    read = read_secrets(Signing, {"access_id": "1", "private_key": key})
    opened = open_secrets(Signing, read.text)

    assert (opened, pair_of(opened)) == (Signing("1", key), None)
    assert EcdsaSigner(key).sign(b"1")
    for wrong in (CANARY, private_pem(ec.SECP256R1()), Authority(tmp_path).pair("we").key):
        refused = refusal(Signing, {"access_id": "1", "private_key": wrong})
        assert (refused.field, refused.reason) == ("private_key", Flaw.SIGNING_KEY)
    assert refusal(Signing, {"access_id": "1"}).reason == Flaw.MISSING


@cases("text", [CANARY, "[]", '{"token": 1}', '"x"', "{", '{"a": {}}', "\udcff"])
def test_secrets_must_be_an_object_of_texts(text: str):
    assert refusal(Plain, text).reason == Flaw.NO_OBJECT


@cases("text", ["token", "{}", '{"access_id": "1"}', '{"access_id": 1, "token": ""}'])
def test_secrets_sealed_for_another_bank_are_refused(text: str):
    with pytest.raises(CredentialsRefused) as refused:
        open_secrets(Plain, text)

    assert refused.value.reason == "credentials_unfit"


def test_an_account_without_secrets_shows_none():
    with pytest.raises(CredentialsRefused):
        secrets_of(account(None), Secrets)
    assert identity_of(account(None)).pair is None


class Number(msgspec.Struct):
    """Wrong: a number."""

    pin: int


class Nested(msgspec.Struct):
    """Wrong: a struct in it."""

    inner: Plain


class Renamed(msgspec.Struct, rename="camel"):
    """Wrong: another name outside."""

    client_id: str


class Keyless(msgspec.Struct):
    """Wrong: nothing proves the certificate ours."""

    certificate: PemCertificate


@cases("kind", [Number, Nested, Renamed, Keyless, dict])
def test_a_struct_that_cannot_be_entered_in_a_form_is_refused(kind: type[msgspec.Struct]):
    with pytest.raises(SecretsMisdeclared):
        check_kind(kind)


@cases("kind", [Secrets, Optional, Plain, Signing])
def test_a_struct_of_texts_can_be_entered_in_a_form(kind: type[msgspec.Struct]):
    check_kind(kind)


class Prefixed(msgspec.Struct, frozen=True, kw_only=True):
    api_key: Annotated[
        str,
        msgspec.Meta(max_length=64),
        in_environments({Environment.PRODUCTION: "prod_", Environment.SANDBOX: "test_"}),
    ]


@cases(
    ("environment", "taken"),
    [
        (Environment.PRODUCTION, {"prod_"}),
        (Environment.SANDBOX, {"test_"}),
        (None, {"prod_", "test_"}),
    ],
)
@cases("beginning", ["prod_", "test_", "", "PROD_"])
def test_a_secret_of_another_environment_is_refused_without_its_value(
    environment: Environment | None, taken: set[str], beginning: str
):
    """On entry, and again for one sealed before the environment changed."""
    key = f"{beginning}{CANARY}"

    if beginning in taken:
        sealed = read_secrets(Prefixed, {"api_key": key}, environment).text
        assert open_secrets(Prefixed, sealed, environment) == Prefixed(api_key=key)
        return
    with pytest.raises(BankSecretsRefused) as refused:
        read_secrets(Prefixed, {"api_key": key}, environment)
    assert (refused.value.field, refused.value.reason) == ("api_key", Flaw.ENVIRONMENT)
    assert CANARY not in str(refused.value)
    with pytest.raises(CredentialsRefused):
        open_secrets(Prefixed, msgspec.json.encode({"api_key": key}).decode(), environment)
