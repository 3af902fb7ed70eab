"""The provider's part of ``config.yaml``."""

from __future__ import annotations

from typing import Final

from gateway.banks.port.capabilities import Hosts
from provider_adapters.kit.settings import ClientLimits, TlsFiles

from pixgate_outside.proof import ProofSettings

HOSTS: Final = Hosts(
    production=frozenset({"api.outside.example"}),
    sandbox=frozenset({"sandbox.outside.example"}),
)
"""TODO: the bank's hosts, with their source. This machine is allowed in the sandbox by itself."""


class Settings(ProofSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Where the bank is, and within which limits it is called.

    Attributes:
        base_url: With ``https://`` and one of the hosts of our environment.
        limits: The gateway's, see ``config.yaml``; they need no entry here.
        tls: The same.
    """

    base_url: str
    limits: ClientLimits = ClientLimits()
    tls: TlsFiles = TlsFiles()
