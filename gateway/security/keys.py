"""
The server's keys, configured or generated, and the keys derived from them.

The use of one key reveals nothing about another, and operators have one key to
guard instead of many.

A key's id is derived from the key, so that rotating means only to move the current
key to the retired ones and to configure a new one.
"""

from __future__ import annotations

import base64
import hmac
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway.config.checks import LEAST_KEY_BYTES, sealing_key
from gateway.config.reading import ConfigError
from gateway.config.settings import Settings
from gateway.config.values import Secret
from gateway.core.account import Environment
from gateway.core.folders import sync_folder
from gateway.core.key_rotation import PASSWORDS, PEPPER, SEALING, KeyIds
from gateway.security.sealing import Sealer
from gateway.security.secrets import Random, SecretDigester

# what AES-256 and HMAC-SHA-256 take
_BYTES = 32
_PREFIX = "pixgate v1 "


class Derivation:
    """Derives keys of 32 bytes."""

    def __init__(self, keys: Mapping[str, bytes], current: str) -> None:
        """Use the sealing keys by key id; ``current`` is the id of the current one."""
        self._keys = {current: keys[current], **keys}

    def __repr__(self) -> str:
        return "Derivation(***)"

    def keys(self, label: str) -> dict[str, bytes]:
        """Return the keys of a purpose by key id, the current one first."""
        return {key_id: _derived(key, label) for key_id, key in self._keys.items()}

    def key(self, label: str) -> bytes:
        """Return the current key of a purpose."""
        return _derived(next(iter(self._keys.values())), label)


def _derived(key: bytes, label: str) -> bytes:
    """Derive a key; a source of 32 random bytes needs no salt (RFC 5869, part 3.1)."""
    info = (_PREFIX + label).encode()
    return HKDF(algorithm=SHA256(), length=_BYTES, salt=None, info=info).derive(key)


FILE = "keys.json"
"""Generated keys of the sandbox, in the folder ``var``, mode 0600."""
# an operator has a handful of keys: 32 bits tell them apart
_KEY_ID_BYTES = 4
_PASSWORDS = "passwords"
_PEPPER, _SEALING_KEY = "pepper", "sealing_key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """
    The server's keys, ready for use.

    Attributes:
        digester: Makes digests of client secrets.
        sealer: Encrypts secrets that must be read again.
        derivation: Derives the keys of all other purposes from the sealing keys.
        password_peppers: By key id, the current one first.
        ids: The ids of the configured keys, by purpose.
    """

    digester: SecretDigester
    sealer: Sealer
    derivation: Derivation
    password_peppers: Mapping[str, bytes] = field(repr=False)
    ids: KeyIds


def load_keys(settings: Settings, random: Random = os.urandom) -> Keys:
    """
    Load the configured keys; the sandbox generates missing ones.

    Generated keys are written to ``keys.json`` once, before they are used: processes
    that start together load the same ones.

    Raises:
        ConfigError: production lacks a key, a key is malformed, or the file
            cannot be read or written.
    """
    pepper, key = settings.auth.basic.pepper, settings.sealing.key
    if not (pepper and key):
        made = _made(settings, random)
        pepper, key = pepper or made[_PEPPER], key or made[_SEALING_KEY]
    peppers = _by_id(
        "auth.basic", [pepper, *settings.auth.basic.retired_peppers.values()], str.encode
    )
    keys = _by_id("sealing", [key, *settings.sealing.retired_keys.values()], sealing_key)
    derivation = Derivation(keys, next(iter(keys)))
    return Keys(
        digester=SecretDigester(peppers, next(iter(peppers))),
        sealer=Sealer(keys, next(iter(keys)), random),
        derivation=derivation,
        password_peppers=_password_peppers(settings, derivation),
        ids={SEALING: [*keys], PEPPER: [*peppers], PASSWORDS: _password_ids(settings)},
    )


def key_id(purpose: str, text: str) -> str:
    """Return the id of a key as it is configured; ValueError where it is malformed."""
    return next(iter(_named([sealing_key(text) if purpose == SEALING else text.encode()])))


def _password_peppers(settings: Settings, derivation: Derivation) -> dict[str, bytes]:
    """Return the configured peppers, then those derived from every sealing key."""
    identity = settings.identity
    texts = [identity.pepper, *identity.retired_peppers.values()]
    derived = derivation.keys(_PASSWORDS).values()
    made = [each.encode() for each in texts if each]
    return _named([*made, *derived] if identity.pepper else [*derived, *made])


def _password_ids(settings: Settings) -> list[str]:
    """Return the ids of the configured peppers; those derived change with the sealing key."""
    identity = settings.identity
    ids = list(_named(each.encode() for each in identity.retired_peppers.values() if each))
    return [*(_named([identity.pepper.encode()]) if identity.pepper else [""]), *ids]


def _by_id(path: str, texts: Iterable[Secret], read: Callable[[str], bytes]) -> dict[str, bytes]:
    """Read keys, the current one first, and return them by id."""
    try:
        keys = [read(each) for each in texts if each]
    except ValueError as problem:
        message = f"{path}: a key {problem}"
        raise ConfigError(message) from problem
    return _named(keys)


def _named(keys: Iterable[bytes]) -> dict[str, bytes]:
    """Return keys by id; an id reveals nothing about its key."""
    return {
        hmac.digest(key, b"pixgate key id", "sha256")[:_KEY_ID_BYTES].hex(): key for key in keys
    }


def _made(settings: Settings, random: Random) -> dict[str, Secret]:
    """Return the sandbox's generated keys; generate them on first use."""
    if settings.environment is Environment.PRODUCTION:
        message = "auth.basic.pepper, sealing.key: production needs both"
        raise ConfigError(message)
    file = settings.folder / FILE
    try:
        if not file.exists():
            _make(file, random)
        return _read(file)
    except OSError as problem:
        message = f"var: {file} cannot be read or written: {problem.strerror}"
        raise ConfigError(message) from problem


def _make(file: Path, random: Random) -> None:
    """Write new keys, completely or not at all; the fastest process wins."""
    content = {
        name: base64.urlsafe_b64encode(random(LEAST_KEY_BYTES)).decode()
        for name in (_PEPPER, _SEALING_KEY)
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp creates with O_EXCL and mode 0600
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(content, stream)
            stream.flush()
            os.fsync(stream.fileno())
        # a link, unlike a rename, refuses to replace what another process has just put there
        Path(file).hardlink_to(draft)
        sync_folder(file.parent)
    except FileExistsError:
        return
    finally:
        Path(draft).unlink()


def _read(file: Path) -> dict[str, Secret]:
    """Read generated keys; a broken file is kept, because data is sealed under its keys."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return {name: Secret(content[name]) for name in (_PEPPER, _SEALING_KEY)}
    except (ValueError, KeyError, TypeError) as problem:
        message = f"var: {file} does not hold the sandbox's keys any more"
        raise ConfigError(message) from problem
