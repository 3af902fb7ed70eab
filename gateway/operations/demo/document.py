"""The demo as it is printed and kept: ids, secrets and references under fixed names."""

from __future__ import annotations

from typing import Protocol, TypedDict


class Identified(TypedDict):
    """A company or an account."""

    id: str


class Pair(TypedDict):
    """A credential with its secret in clear: the demo's alone are ever kept so."""

    client_id: str
    client_secret: str


class Demo(TypedDict):
    """
    Everything a first call or a test needs to know.

    ``accounts``, ``credentials`` and ``charges`` are found by what they are for
    (``inactive``, ``balance:read``, ``expired``), ``pix_keys`` by account, as
    the ids the banking surface shows, ``users`` by role: e-mail, password and, but
    for the viewer, the secret of an authenticator app.
    """

    base_url: str
    ops_url: str
    sandbox_bank_url: str
    sandbox_control_url: str
    companies: dict[str, Identified]
    accounts: dict[str, Identified]
    credentials: dict[str, Pair]
    pix_keys: dict[str, list[str]]
    charges: dict[str, str]
    users: dict[str, dict[str, str]]


class DemoUrls(TypedDict):
    """Where the parts of this deployment listen, without a trailing slash."""

    base_url: str
    ops_url: str
    sandbox_bank_url: str
    sandbox_control_url: str


class DemoKeeper(Protocol):
    """Where the demo is kept, secrets included: readable by the owner of the process alone."""

    def read(self) -> Demo | None:
        """
        Return what is kept; None when nothing is.

        Raises:
            RuleViolation: when it is there and no demo.
        """
        ...

    def begin(self, demo: Demo) -> Demo:
        """Keep the first demo; return that of another process if it was faster."""
        ...

    def replace(self, demo: Demo) -> None:
        """Keep another state of it; whole or not at all."""
        ...
