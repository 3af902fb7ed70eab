"""Where a bank is, as data: the hosts of its production and of its test environment."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.accounts.accounts import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """
    The host names of a bank, in lower case and without ports.

    An address that stands in neither set is refused: credentials must not reach a
    host that nobody has looked up in the bank's documents.

    Attributes:
        production: Hosts that move real money.
        sandbox: Hosts of the bank's own test environment. This machine needs no
            entry: it is allowed in the sandbox environment of every bank.
    """

    production: frozenset[str] = frozenset()
    sandbox: frozenset[str] = frozenset()

    def of(self, environment: Environment) -> frozenset[str]:
        """Return the hosts of one environment."""
        return self.sandbox if environment is Environment.SANDBOX else self.production

    def environment_of(self, host: str) -> Environment | None:
        """Return the environment of a host; None if the bank has no such host."""
        if host in self.production:
            return Environment.PRODUCTION
        return Environment.SANDBOX if host in self.sandbox else None
