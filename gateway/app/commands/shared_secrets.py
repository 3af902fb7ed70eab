"""
``pixgate config check --against``: secrets that two configurations must not share.

Who has the sandbox's secrets must not have production's. Secrets are compared by SHA-256; private
keys and certificates by their public key, so that a renewed certificate of the same key counts.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)
from sqlalchemy import select

from gateway.app.commands.store import is_missing, opened_store
from gateway.config.checks import named_keys, sealing_key
from gateway.config.settings import Settings
from gateway.config.upstream import Provider
from gateway.core.audit_context import RuleViolation
from gateway.core.storage import StoreUnavailable
from gateway.security.keys import load_keys
from gateway.security.sealing import SealBroken
from gateway.store.stamp import StoreRefused
from gateway.store.tables.core import accounts

Prints = dict[str, frozenset[str]]
"""Fingerprints by the path of a setting, or by account."""

_SECRET: Final = re.compile(r"secret|password|passphrase|token|key|credential|cert", re.IGNORECASE)
_PUBLIC: Final = frozenset({"pix_key"})
_LEAST_CHARACTERS: Final = 16
"""Of a credential: shorter ones, such as the name of a profile, may be equal by chance."""
_KEPT: Final = ("HOME", "PATH")
"""What the other configuration's commands need of this environment."""


def variables_of(file: Path, environ: Mapping[str, str]) -> Mapping[str, str]:
    """
    Read the variables of the other deployment: lines ``NAME='value'``, as systemd reads them.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line is none; names the line, not its content.
    """
    found = {name: environ[name] for name in _KEPT if name in environ}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.strip().partition("=")
        try:
            words = shlex.split(value)
        except ValueError:
            words = ["", ""]
        if not (name and equals) or len(words) > 1:
            problem = f"line {number} is not NAME='value'"
            raise ValueError(problem)
        found[name] = "".join(words)
    return found


def configured(settings: Settings) -> Prints:
    """Return the fingerprints of keys and of providers' credentials, by their paths."""
    keys = {path: key.encode() for path, key in named_keys(settings).items() if key}
    found = {path: _prints(key, *_bytes_of(path, key)) for path, key in keys.items()}
    for name, provider in settings.providers.items():
        found |= {f"providers.{name}.{path}": each for path, each in _of_provider(provider)}
    return found


async def stored(settings: Settings) -> Prints:
    """
    Return the fingerprints of the credentials of accounts at their banks.

    Raises:
        RuleViolation: they cannot be read; the message is for the operator.
    """
    if is_missing(settings.store_url):
        return {}
    wanted = select(accounts.c.id, accounts.c.sealed_credentials)
    sealed = accounts.c.sealed_credentials
    try:
        async with opened_store(settings, migrate=False) as store:
            rows = await store.database.rows(wanted.where(sealed.is_not(None), sealed != b""))
        if not rows:
            return {}
        unseal = load_keys(settings).sealer.open
        return {
            f"account {row.id}": _of_fields(unseal(row.sealed_credentials, row.id)) for row in rows
        }
    except (StoreUnavailable, StoreRefused, SealBroken, ValueError) as problem:
        message = f"the banks' credentials cannot be read: {problem}"
        raise RuleViolation(message) from problem


def shared(ours: Prints, theirs: Prints) -> Iterator[tuple[str, str]]:
    """Return the places of ours, each with the place of the same secret in the other."""
    for path, prints in ours.items():
        for other, known in theirs.items():
            if prints & known:
                yield path, other


def _bytes_of(path: str, key: bytes) -> Iterator[bytes]:
    """Return the bytes of a sealing key, which has several spellings."""
    if path.startswith("sealing."):
        with suppress(ValueError):  # malformed, and named as such where it is ours
            yield sealing_key(key.decode())


def _of_provider(provider: Provider) -> Iterator[tuple[str, frozenset[str]]]:
    """Return the fingerprints of our credentials at a bank and of its callback secrets."""
    callbacks = provider.callbacks
    secrets = {"callbacks.secret": callbacks.secret} | {
        f"callbacks.retired_secrets.{name}": each
        for name, each in callbacks.retired_secrets.items()
    }
    for path, secret in secrets.items():
        if secret:
            yield path, _prints(secret.encode())
    for path, file in (
        ("tls.certificate", provider.tls.certificate),
        ("tls.key", provider.tls.key),
    ):
        if file:
            yield path, _of_text(Path(file).read_text(encoding="utf-8"))
    for path, text in _texts("settings", provider.settings):
        if _is_secret(path, text):
            yield path, _of_text(text)


def _texts(path: str, value: object) -> Iterator[tuple[str, str]]:
    """Return the texts of an adapter's own settings, by their paths."""
    if isinstance(value, Mapping):
        for name, child in value.items():
            yield from _texts(f"{path}.{name}", child)
    elif isinstance(value, list):
        for at, child in enumerate(value):
            yield from _texts(f"{path}[{at}]", child)
    elif isinstance(value, str):
        yield path, value


def _of_fields(credentials: str) -> frozenset[str]:
    """Return the fingerprints of an account's credentials: a JSON object, or one text."""
    try:
        found = json.loads(credentials)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        return _of_text(credentials)
    secrets = (each for path, each in _texts("", found) if _is_secret(path, each))
    return frozenset[str]().union(*map(_of_text, secrets))


def _is_secret(path: str, text: str) -> bool:
    """Return whether the name of a text says that it is secret; an address is none, nor a word."""
    name, text = path.rpartition(".")[2], text.strip()
    is_public = name in _PUBLIC or text.startswith(("https://", "http://"))
    return bool(_SECRET.search(name)) and not is_public and len(text) >= _LEAST_CHARACTERS


def _of_text(text: str) -> frozenset[str]:
    """Return the fingerprints of a text, and of the public keys in it."""
    return _prints(text.strip().encode(), *_public_keys(text.encode()))


def _public_keys(pem: bytes) -> Iterator[bytes]:
    """Return the public keys of the first certificate and of the private key in a text."""
    spki = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    try:
        if b"BEGIN CERTIFICATE-----" in pem:
            yield x509.load_pem_x509_certificate(pem).public_key().public_bytes(*spki)
        if b"PRIVATE KEY-----" in pem:
            yield load_pem_private_key(pem, None).public_key().public_bytes(*spki)
    except (TypeError, ValueError):  # encrypted, or no PEM: compared as a text
        return


def _prints(*contents: bytes) -> frozenset[str]:
    return frozenset(sha256(each).hexdigest() for each in contents)
