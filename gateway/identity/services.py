"""Every operation of identity, built once in a process."""

from __future__ import annotations

from gateway.companies.model import KnownCompany
from gateway.identity.context import IdentityContext
from gateway.identity.factor_removal import FactorRemovals
from gateway.identity.passkeys import Passkeys
from gateway.identity.password_changes import Passwords, ResetRequests
from gateway.identity.second_factors import SecondFactors
from gateway.identity.sessions import OwnSessions, TokenRefresh
from gateway.identity.sign_in import SignIn
from gateway.identity.signing_keys import Keyring, SigningKeyRecords
from gateway.identity.users import Users


class IdentityServices:
    """
    The operations of identity, and its hashing threads, which ``close`` ends.

    Attributes:
        keyring: The keys published at ``/.well-known/jwks.json``.
        reset_requests: Queued here, answered by a periodic task.
    """

    def __init__(
        self, context: IdentityContext, keyring: Keyring, known_company: KnownCompany
    ) -> None:
        self.context, self.keyring = context, keyring
        self.sign_in = SignIn(context)
        self.tokens = TokenRefresh(context)
        self.sessions = OwnSessions(context)
        self.reset_requests = ResetRequests(context)
        self.passwords = Passwords(context, self.reset_requests)
        self.factor_removals = FactorRemovals(context)
        self.second_factors = SecondFactors(context, self.factor_removals)
        self.passkeys = Passkeys(context, self.factor_removals)
        self.users = Users(context=context, known_company=known_company)
        self.signing_keys = SigningKeyRecords(
            context.stores.signing_keys,
            context.crypto.sealing,
            context.settings.access,
            context.now,
        )

    async def close(self) -> None:
        """Stop the hashing threads."""
        self.context.crypto.hashing.close()
