"""
An account's secrets: a struct of texts that the adapter's factory names.

A factory has ``account_secrets``, a ``msgspec.Struct`` such as::

    class Secrets(msgspec.Struct, frozen=True, kw_only=True):
        client_id: SecretText
        client_secret: SecretText
        certificate: PemCertificate
        key: PemKey

The gateway reads an operator's input into it, refuses unfit values, seals it, and
hands the struct to the adapter with every call (``secrets_of``). A factory without one has
accounts with a single text, ``ProviderAccount.credentials``.
"""

from __future__ import annotations

import ssl
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Final, Protocol, TypeVar, runtime_checkable

import msgspec

from gateway.banks.client.messages import Identity
from gateway.banks.client.tls import TlsFiles, TlsSetup
from gateway.banks.client.transport import AccountTransports, HttpTransport, Transport
from gateway.banks.port.providers import CredentialsRefused, ProviderAccount, Reason
from gateway.core.account import BankSecrets, BankSecretsRefused, Environment, GivenSecrets
from gateway.net.common.certificates import (
    CertificatePair,
    PairRefused,
    Part,
    check_pair,
    load_pair,
)
from provider_adapters.kit.client import ProviderClient, parts_of
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.limits import ClientLimits
from provider_adapters.kit.signing import EcdsaSigner

Secrets = TypeVar("Secrets", bound=msgspec.Struct)
SecretsKind = type[msgspec.Struct]

SecretText = Annotated[str, msgspec.Meta(min_length=1, max_length=8192)]
"""One line. Longer than any secret of a bank: a signed token may have some thousand characters."""

_PEM: Final = "pem"
PemCertificate = Annotated[str, msgspec.Meta(extra={_PEM: Part.CERTIFICATE})]
"""The account's certificate, and after it those between it and the bank's authority."""
PemKey = Annotated[str, msgspec.Meta(extra={_PEM: Part.KEY})]
"""Its private key, not encrypted."""

_BEGINNINGS: Final = "beginnings"


def in_environments(beginnings: Mapping[Environment, str]) -> msgspec.Meta:
    """
    Mark a secret whose prefix names its environment, such as ``$aact_prod_``.

    One of the other environment is refused when it is entered, and when it was sealed before.
    Write it into the field's type: ``Annotated[str, msgspec.Meta(...), in_environments({...})]``.
    """
    return msgspec.Meta(extra={_BEGINNINGS: dict(beginnings)})


_SIGNING: Final = "signing"
SigningKey = Annotated[str, msgspec.Meta(extra={_SIGNING: "secp256k1"})]
"""A private key that requests are signed with (``kit.signing``), in PEM and not encrypted."""

_ANY_TEXTS: Final = msgspec.json.Decoder(dict[str, str])


class Flaw(StrEnum):
    """Faults of entered secrets: words of ``gateway.core.reasons``."""

    MISSING = "missing"
    LENGTH = "length"
    FORM = "form"
    ONE_TEXT = "bank_credentials_text"
    NO_OBJECT = "bank_credentials_form"
    SIGNING_KEY = "pem_signing_key"
    UNKNOWN = "bank_credentials_unknown"
    ENVIRONMENT = "bank_credentials_environment"


class SecretsMisdeclared(TypeError):
    """A factory's ``account_secrets`` cannot be used; the message is for the adapter's author."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """
    The fields of a secrets struct; ``certificate`` and ``key`` are the names of those fields.

    Attributes:
        signing: The fields that hold keys to sign with.
        beginnings: By field, how a secret begins in each environment.
    """

    kinds: Mapping[str, object]
    required: frozenset[str]
    beginnings: Mapping[str, Mapping[Environment, str]]
    certificate: str = ""
    key: str = ""
    signing: frozenset[str] = frozenset()


@runtime_checkable
class SecretsFactory(Protocol):
    """The further part of an ``AdapterFactory`` whose accounts have more than one secret text."""

    @property
    def account_secrets(self) -> SecretsKind:
        """The struct of an account's secrets."""
        ...


@runtime_checkable
class SecretsBySettings(Protocol):
    """The further part of a ``SecretsFactory`` whose settings choose the secrets' struct."""

    def secrets_for(self, settings: Mapping[str, object]) -> SecretsKind:
        """Return the struct for a provider of these settings, which may be wrong ones."""
        ...


def secrets_kind(
    factory: object, settings: Mapping[str, object] | None = None
) -> SecretsKind | None:
    """Return the struct that a factory names; None if its bank wants a single text."""
    if settings is not None and isinstance(factory, SecretsBySettings):
        return factory.secrets_for(settings)
    return factory.account_secrets if isinstance(factory, SecretsFactory) else None


def check_kind(kind: SecretsKind) -> None:
    """
    Check that a struct can be entered by people: texts alone, and a key beside a certificate.

    Raises:
        SecretsMisdeclared: it cannot.
    """
    _shape(kind)


def read_secrets(
    kind: SecretsKind | None, given: GivenSecrets, environment: Environment | None = None
) -> BankSecrets:
    """
    Read the secrets entered for an account; they must be valid and complete.

    Args:
        kind: The factory's struct; None for a bank that wants a single text.
        given: A text, which is a JSON object where there is a struct, or the fields.
        environment: The gateway's; None takes a secret of any.

    Raises:
        BankSecretsRefused: with the field and the reason, never a value.
    """
    if kind is None:
        if not isinstance(given, str):
            raise BankSecretsRefused(Flaw.ONE_TEXT)
        return BankSecrets(text=given)
    texts, shape = _texts(given), _shape(kind)
    if texts.keys() - shape.kinds.keys():
        raise BankSecretsRefused(Flaw.UNKNOWN)
    fitting = {name: _fitting(shape, name, texts.get(name, "")) for name in shape.kinds}
    for name in _foreign(shape, fitting, environment):
        raise BankSecretsRefused(Flaw.ENVIRONMENT, name)
    whole = {name: text for name, text in fitting.items() if text}
    pair = pair_of(msgspec.convert(whole, kind))
    ends = None if pair is None else _checked(pair, shape)
    return BankSecrets(text=msgspec.json.encode(whole).decode(), certificate_ends_at=ends)


def open_secrets(
    kind: SecretsKind, text: str, environment: Environment | None = None
) -> msgspec.Struct:
    """
    Parse the decrypted secrets.

    Raises:
        CredentialsRefused: ``credentials_unfit``: it was sealed for another adapter, for a
            version that asked for less, or is of another environment than the gateway's. The
            account's credentials must be entered again.
    """
    try:
        secrets: msgspec.Struct = msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise CredentialsRefused(Reason.CREDENTIALS_UNFIT) from problem
    shape = _shape(kind)
    values = {name: getattr(secrets, name) for name in shape.beginnings}
    for _name in _foreign(shape, values, environment):
        raise CredentialsRefused(Reason.CREDENTIALS_UNFIT)
    return secrets


def secrets_of(account: ProviderAccount, kind: type[Secrets]) -> Secrets:
    """
    Return an account's secrets as the adapter declared them.

    Raises:
        CredentialsRefused: it has none; the gateway refuses its calls before that.
    """
    if not isinstance(account.secrets, kind):
        raise CredentialsRefused(Reason.CREDENTIALS_UNFIT)
    return account.secrets


def identity_of(account: ProviderAccount) -> Identity:
    """Return whose call it is: the account, and its certificate if its secrets hold one."""
    secrets = account.secrets
    pair = pair_of(secrets) if isinstance(secrets, msgspec.Struct) else None
    return Identity(account_id=account.account_id, pair=pair)


def pair_of(secrets: msgspec.Struct) -> CertificatePair | None:
    """Return certificate and key of some secrets; None where there are none."""
    shape = _shape(type(secrets))
    if not shape.certificate:
        return None
    certificate: str = getattr(secrets, shape.certificate)
    key: str = getattr(secrets, shape.key)
    return CertificatePair(certificate=certificate, key=key) if certificate or key else None


def with_pair(secrets: Secrets, pair: CertificatePair) -> Secrets:
    """Return the same secrets with another certificate and key; for secrets that have both."""
    shape = _shape(type(secrets))
    changed = {shape.certificate: pair.certificate, shape.key: pair.key}
    return msgspec.structs.replace(secrets, **changed)


def client_of_accounts(
    context: AdapterContext,
    base_url: str,
    harmless: Collection[str],
    limits: ClientLimits,
    tls: TlsFiles | None = None,
) -> ProviderClient:
    """
    Build the client of a provider at which each account has a certificate of its own.

    As ``kit.client.client_of``, but a request goes out on connections of its ``identity``
    alone. Without a valid certificate nothing is opened: a read raises ``Unreachable``, a
    payout is NotSent. Of ``tls`` it takes ``ca``, which keeps 1,000 accounts small: the
    system's authorities cost 0.8 MB for each account in use.
    """
    context.on_limits(limits)
    transport = _transport(context, base_url, limits, tls or TlsFiles())
    traced = context.runtime.traced(base_url, transport)
    return ProviderClient(parts_of(context, traced, harmless, limits))


def _transport(
    context: AdapterContext, base_url: str, limits: ClientLimits, files: TlsFiles
) -> Transport:
    """Make the transports of accounts; a simulated network has no certificates."""
    where = (base_url, limits, context.environment, context.runtime)
    if context.transport is not HttpTransport:
        return context.transport(*where, files)
    return AccountTransports(*where, TlsSetup(files=files, certificate_required=True))


@cache
def _shape(kind: SecretsKind) -> _Shape:
    """Read a struct's fields; each adapter has one struct, so that few are kept."""
    kinds: dict[str, object] = {}
    marked: dict[str, Mapping[str, Any]] = {}
    pem = {Part.CERTIFICATE: "", Part.KEY: ""}
    described = _described(kind)
    fields = msgspec.structs.fields(kind)
    for field, seen in zip(fields, described.fields, strict=True):
        if field.encode_name != field.name or not _is_text(seen.type):
            message = f"{kind.__name__}.{field.name}: a secret is a text, under its own name"
            raise SecretsMisdeclared(message)
        kinds[field.name] = field.type
        extra = getattr(seen.type, "extra", None) or {}
        if _PEM in extra:
            pem[extra[_PEM]] = field.name
        marked[field.name] = extra
    if bool(pem[Part.CERTIFICATE]) != bool(pem[Part.KEY]):
        message = f"{kind.__name__}: a certificate needs its key, and a key its certificate"
        raise SecretsMisdeclared(message)
    needed = {each.name for each in fields if each.required}
    return _Shape(
        kinds=kinds,
        required=frozenset(needed),
        beginnings={
            name: extra[_BEGINNINGS] for name, extra in marked.items() if _BEGINNINGS in extra
        },
        certificate=pem[Part.CERTIFICATE],
        key=pem[Part.KEY],
        signing=frozenset(name for name, extra in marked.items() if _SIGNING in extra),
    )


def _foreign(
    shape: _Shape, texts: Mapping[str, str], environment: Environment | None
) -> Iterator[str]:
    """Name the fields whose secret is of no environment, or of another than this."""
    for name, beginnings in shape.beginnings.items():
        wanted = beginnings.values() if environment is None else (beginnings[environment],)
        if texts[name] and not texts[name].startswith(tuple(wanted)):
            yield name


def _is_text(seen: msgspec.inspect.Type) -> bool:
    inner = seen.type if isinstance(seen, msgspec.inspect.Metadata) else seen
    return isinstance(inner, msgspec.inspect.StrType)


def _described(kind: SecretsKind) -> msgspec.inspect.StructType:
    found = msgspec.inspect.type_info(kind)
    if not isinstance(found, msgspec.inspect.StructType):
        message = f"{kind!r} is no msgspec.Struct"
        raise SecretsMisdeclared(message)
    return found


def _texts(given: GivenSecrets) -> Mapping[str, str]:
    """Return the fields that were given; a text must be a JSON object of texts."""
    if not isinstance(given, str):
        return given
    try:
        return _ANY_TEXTS.decode(given)
    except (msgspec.DecodeError, UnicodeEncodeError) as problem:
        raise BankSecretsRefused(Flaw.NO_OBJECT) from problem


def _fitting(shape: _Shape, name: str, text: str) -> str:
    """Check one field by itself; an optional one may be absent."""
    if not text:
        if name in shape.required:
            raise BankSecretsRefused(Flaw.MISSING, name)
        return ""
    if name in {shape.certificate, shape.key}:
        return text
    if name in shape.signing:
        return _signing_key(name, text)
    try:
        msgspec.convert(text, shape.kinds[name])
    except msgspec.ValidationError as problem:
        reason = Flaw.LENGTH if "of length" in str(problem) else Flaw.FORM
        raise BankSecretsRefused(reason, name) from problem
    if not text.isprintable():
        raise BankSecretsRefused(Flaw.FORM, name)
    return text


def _signing_key(name: str, text: str) -> str:
    try:
        EcdsaSigner(text)
    except ValueError as problem:
        raise BankSecretsRefused(Flaw.SIGNING_KEY, name) from problem
    return text


def _checked(pair: CertificatePair, shape: _Shape) -> datetime:
    """Check that a certificate can be used here, and return its end."""
    names = {Part.CERTIFICATE: shape.certificate, Part.KEY: shape.key}
    for part, text in ((Part.CERTIFICATE, pair.certificate), (Part.KEY, pair.key)):
        if not text:
            raise BankSecretsRefused(Flaw.MISSING, names[part])
    try:
        validity = check_pair(pair)
        load_pair(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), pair)
    except PairRefused as problem:
        raise BankSecretsRefused(problem.flaw, names[problem.part]) from problem
    return validity.ends
