"""The effective configuration, printed without secrets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from enum import Enum

import msgspec

from gateway.config.settings import Settings
from gateway.config.values import Address, Secret, without_credentials

_SECRET_NAME = re.compile(r"secret|password|passphrase|token|key|credential", re.IGNORECASE)


def effective(settings: Settings) -> dict[str, object]:
    """
    Return the settings as a document that may be printed.

    A secret is ``***`` when there is one and empty when there is none. The
    adapters' own settings are not known here, so there every text hides whose
    name speaks of a secret, and the user and password of every URL.
    """
    document = msgspec.structs.asdict(settings)
    document["providers"] = {
        name: {**msgspec.structs.asdict(provider), "settings": _foreign(provider.settings)}
        for name, provider in settings.providers.items()
    }
    return {name: _shown(value) for name, value in document.items()}


def config_digest(settings: Settings) -> str:
    """
    Return 12 hexadecimal characters that are equal in processes of one configuration.

    Server processes and workers of one configuration have the same digest: their own ports do not
    count.
    """
    shared = msgspec.structs.replace(
        settings,
        server=msgspec.structs.replace(settings.server, port=0, reuse_port=False),
        admin=msgspec.structs.replace(settings.admin, port=0),
    )
    document = msgspec.json.encode(effective(shared), order="sorted")
    return hashlib.sha256(document).hexdigest()[:12]


def _shown(value: object) -> object:
    """Convert structs to mappings, and mask secrets."""
    if isinstance(value, msgspec.Struct):
        value = msgspec.structs.asdict(value)
    if isinstance(value, Mapping):
        return {str(name): _shown(each) for name, each in value.items()}
    if isinstance(value, (Secret, Address)):
        return value.shown
    return value.value if isinstance(value, Enum) else value


def _foreign(value: object, name: str = "") -> object:
    """Mask texts that look like secrets in an adapter's own settings."""
    if isinstance(value, Mapping):
        return {each: _foreign(child, str(each)) for each, child in value.items()}
    if isinstance(value, list):
        return [_foreign(each, name) for each in value]
    if value and _SECRET_NAME.search(name):
        return "***"
    return without_credentials(value) if isinstance(value, str) else value
