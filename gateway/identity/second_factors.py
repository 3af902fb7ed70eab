"""Second factors: enrolled, checked, given again before dangerous acts, and removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final

import pyotp

from gateway.core.approvals import Approval
from gateway.core.audit import AuditEvent
from gateway.core.browsers import ClientInfo
from gateway.core.errors import ServiceError
from gateway.core.networks import pool
from gateway.core.sessions import SignedInUser
from gateway.core.user import Totp, User
from gateway.core.user_access import FRESH
from gateway.core.user_errors import (
    MFA_INVALID,
    NOT_POSSIBLE,
    STEP_UP_REQUIRED,
)
from gateway.identity.context import IdentityContext, changed_meanwhile
from gateway.identity.factor_removal import FactorRemovals
from gateway.identity.mail import Mailer, Text
from gateway.identity.passkey_check import PasskeyCheck
from gateway.identity.reauthentication import Proof, Reauthentication
from gateway.identity.second_factor_codes import SecondFactorCodes, totp_row
from gateway.identity.webauthn import Assertion

_NETWORKS: Final = 20
"""Of one session: a telephone on a journey through several carriers has fewer in eight hours."""


@dataclass(frozen=True, slots=True)
class Enrolment:
    """An authenticator app that is being enrolled; both values are shown once."""

    secret: str = field(repr=False)
    uri: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SecondFactors:
    """Users' acts on their second factor."""

    context: IdentityContext
    removals: FactorRemovals

    async def step_up(self, caller: SignedInUser, code: str, client: ClientInfo) -> datetime:
        """
        Submit a code of the second factor; it counts as recent for five minutes.

        From then on the session may be used at the client's network, too.

        Returns:
            Until when it does.

        Raises:
            ServiceError: STEP_UP_REQUIRED for a user without a second factor;
                MFA_INVALID; TOO_MANY_ATTEMPTS.
        """
        user = await self.context.active_user(caller.user_id)
        if not user.has_factor:
            raise ServiceError(STEP_UP_REQUIRED, "no_factor")
        counted = "" if caller.is_known_at(client.address) else caller.session_id
        if not await SecondFactorCodes(self.context).accept(user, code, counted):
            raise ServiceError(MFA_INVALID, "code")
        return await self._stepped_up(user, caller, client)

    async def step_up_by_passkey(
        self, caller: SignedInUser, passkey: Assertion, client: ClientInfo
    ) -> datetime:
        """
        Use a passkey; it counts as a recent second factor for five minutes.

        From then on the session may be used at the client's network, too.

        Returns:
            Until when it does.

        Raises:
            ServiceError: PASSKEY_INVALID; TOO_MANY_ATTEMPTS.
        """
        user = await PasskeyCheck(self.context).of_caller(caller, passkey)
        return await self._stepped_up(user, caller, client)

    async def _stepped_up(self, user: User, caller: SignedInUser, client: ClientInfo) -> datetime:
        """Note that a second factor was given now, and where."""
        now = self.context.now()
        if not caller.is_known_at(client.address):
            await self._know_network(user, caller, client.address)
        await self.context.stores.sessions.note_factor(caller.session_id, now)
        return now + FRESH

    async def _know_network(self, user: User, caller: SignedInUser, address: str) -> None:
        """Let the caller's session be used at the network of an address."""
        networks = (*caller.networks[1 - _NETWORKS :], pool(address))
        event = self.context.own_audit_event(
            user, "session.network_added", session=caller.session_id, address=address
        )
        await self.context.stores.sessions.note_network(caller.session_id, networks, event)

    async def begin(self, caller: SignedInUser, proof: Proof, client: ClientInfo) -> Enrolment:
        """
        Start to enrol an authenticator app, given the password again.

        A user with passkeys gives one of them instead.

        Raises:
            ServiceError: NOT_POSSIBLE while there is an app, which must be removed first; as
                ``Reauthentication.prove``.
        """
        user = _without_app(await self.context.active_user(caller.user_id))
        await Reauthentication(self.context).prove(caller, proof, client)
        secret = pyotp.random_base32()
        totp = Totp(sealed_secret=self.context.crypto.sealing.seal(secret, totp_row(user.id)))
        # nothing changes for the user yet, so their sessions stay
        waiting = replace(user, totp=totp)
        if not await self.context.stores.users.replace(waiting, None, user.updated_at):
            raise changed_meanwhile()
        app = pyotp.TOTP(secret, name=user.email, issuer=self.context.settings.issuer)
        return Enrolment(secret, app.provisioning_uri())

    async def confirm(self, caller: SignedInUser, code: str) -> Sequence[str]:
        """
        Confirm the app by its first code; returns recovery codes; all sessions end.

        The ten codes are shown once. Signing in requires the factor from now on.

        Raises:
            ServiceError: MFA_INVALID; NOT_POSSIBLE when no enrolment was started;
                TOO_MANY_ATTEMPTS.
        """
        user = _without_app(await self.context.active_user(caller.user_id))
        if user.totp is None:
            detail = "begin to enrol an authenticator app first"
            raise ServiceError(NOT_POSSIBLE, "factor_absent", detail=detail)
        if not await SecondFactorCodes(self.context).app_code(user, code):
            raise ServiceError(MFA_INVALID, "code")
        # before the factor takes effect, so that nobody has a factor without codes
        codes = await SecondFactorCodes(self.context).renew(user)
        update = partial(_confirmed, begun=user.totp, at=self.context.now())
        notice = ("Um aplicativo autenticador foi ligado", "An authenticator app was turned on")
        await self._change(user, update, "factor.enrolled", notice)
        return codes

    async def remove(
        self, caller: SignedInUser, proof: Proof, client: ClientInfo
    ) -> Approval | None:
        """
        Remove the app, given the password and its newest code, or a passkey; every session ends.

        Without a passkey it is the last second factor: for a user who may write another person
        has to agree.

        Raises:
            ServiceError: as ``_proven``; NOT_POSSIBLE without an app; as
                ``FactorRemovals.remove_last``.
        """
        user = await self._proven(caller, proof, client)
        if not user.has_app:
            raise ServiceError(NOT_POSSIBLE, "factor_absent", detail="there is no app to remove")
        if not user.has_passkey:
            return await self.removals.remove_last(caller, user)

        def update(now: User) -> User:
            """Keep the passkey that made this no removal of the last factor."""
            if not now.has_passkey:
                raise changed_meanwhile()
            return replace(now, totp=None)

        notice = ("O aplicativo autenticador foi desligado", "The authenticator app was turned off")
        await self._change(user, update, "factor.removed", notice)
        return None

    async def new_recovery_codes(
        self, caller: SignedInUser, proof: Proof, client: ClientInfo
    ) -> Sequence[str]:
        """
        Replace all recovery codes by ten new ones, given password and code, or a passkey.

        They are shown once.

        Raises:
            ServiceError: as ``_proven``.
        """
        user = await self._proven(caller, proof, client)
        codes = await SecondFactorCodes(self.context).renew(user)
        await self.context.audit.append(
            self.context.own_audit_event(user, "recovery_codes.renewed")
        )
        await Mailer(self.context).notify(
            user,
            ("Novos códigos de recuperação", "New recovery codes"),
            ("Os códigos anteriores não valem mais.", "The former codes are not valid any more."),
        )
        return codes

    async def _proven(self, caller: SignedInUser, proof: Proof, client: ClientInfo) -> User:
        """
        Return the caller, who has a second factor and has just given it.

        Raises:
            ServiceError: STEP_UP_REQUIRED without a second factor; as ``Reauthentication.prove``.
        """
        user = await Reauthentication(self.context).prove(caller, proof, client)
        if not user.has_factor:
            raise ServiceError(STEP_UP_REQUIRED, "no_factor")
        return user

    async def _change(
        self, user: User, update: Callable[[User], User], word: str, notice: Text
    ) -> None:
        """Change the factor, end every session and notify the owner."""

        def event_of(now: User) -> AuditEvent:
            return self.context.own_audit_event(now, word)

        if await self.context.change_user(user.id, update, event_of) is None:
            raise changed_meanwhile()
        event = self.context.own_audit_event(user, "sessions.ended", why=word)
        now = self.context.now()
        await self.context.stores.sessions.end_all(user.id, now, "factor", "", event)
        await Mailer(self.context).notify(
            user, notice, (f"{notice[0]} na sua conta.", f"{notice[1]} for your account.")
        )
        self.context.events.on_security_event("authn_factor_change", user.id)


def _confirmed(user: User, begun: Totp, at: datetime) -> User:
    """Confirm the enrolment that the code belongs to, and none that was started since."""
    if user.totp is None or user.totp.sealed_secret != begun.sealed_secret:
        raise changed_meanwhile()
    return replace(user, totp=replace(user.totp, confirmed_at=at), factor_reset=False)


def _without_app(user: User) -> User:
    """Return a user who has no app in force; refuse any other."""
    if user.has_app:
        detail = "remove the present app first"
        raise ServiceError(NOT_POSSIBLE, "factor_present", detail=detail)
    return user
