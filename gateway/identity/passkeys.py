"""Users' acts on their own passkeys: listed, registered and removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from gateway.core import strict
from gateway.core.approvals import Approval
from gateway.core.audit import AuditEvent
from gateway.core.browsers import ClientInfo
from gateway.core.errors import ServiceError
from gateway.core.fields import meaning
from gateway.core.sessions import SignedInUser
from gateway.core.storage import AlreadyExists
from gateway.core.user import RecoveryCode, User
from gateway.core.user_errors import (
    NOT_FOUND,
    NOT_POSSIBLE,
    VALIDATION_FAILED,
)
from gateway.identity.context import IdentityContext, changed_meanwhile
from gateway.identity.factor_removal import FactorRemovals
from gateway.identity.mail import Mailer
from gateway.identity.model import Passkey
from gateway.identity.passkey_check import PasskeyCheck, Use
from gateway.identity.reauthentication import Proof, Reauthentication
from gateway.identity.second_factor_codes import SecondFactorCodes
from gateway.identity.webauthn import AssertionOptions, Registration, RegistrationOptions

MOST: Final = 10
"""Of one user: a telephone, a computer and a security key, with room for their successors."""
_LONGEST_NAME: Final = 60


PasskeyName = Annotated[
    str, meaning("What its owner calls it.", "Telefone", min_length=1, max_length=_LONGEST_NAME)
]


class NewPasskey(Proof, frozen=True, kw_only=True):
    """A new passkey, and the proof that the user registers it."""

    name: PasskeyName
    registration: Annotated[
        Registration, meaning("The answer to registration options that were asked for here.")
    ]


@dataclass(frozen=True, slots=True)
class Passkeys:
    """A user's passkeys."""

    context: IdentityContext
    removals: FactorRemovals

    async def list(self, caller: SignedInUser) -> Sequence[Passkey]:
        """List your own passkeys, oldest first."""
        return await self.context.stores.passkeys.of(caller.user_id)

    async def options(self, caller: SignedInUser) -> AssertionOptions:
        """
        Ask for one of your passkeys: the answer works once, for five minutes, in this session.

        Raises:
            ServiceError: NOT_POSSIBLE where browsers use no passkeys of this panel.
        """
        known = await self.list(caller)
        return PasskeyCheck(self.context).options(Use.PROOF, caller.session_id, known)

    async def registration_options(self, caller: SignedInUser) -> RegistrationOptions:
        """
        Ask for a new passkey: the answer works once, for five minutes, in this session.

        Raises:
            ServiceError: NOT_POSSIBLE with ten passkeys, or where browsers use none of this panel.
        """
        user = await self.context.active_user(caller.user_id)
        known = await self.list(caller)
        _refuse_many(known)
        challenge = PasskeyCheck(self.context).challenge(Use.REGISTRATION, caller.session_id)
        return self.context.relying_party.registration_options(challenge, user, known)

    async def register(
        self, caller: SignedInUser, wanted: NewPasskey, client: ClientInfo
    ) -> Sequence[str]:
        """
        Register a passkey, given password and code of the app, or another passkey.

        A user without a second factor gives the password alone; their other sessions end, which
        the password alone began.

        Returns:
            Ten recovery codes with the first second factor, shown once; none with another.

        Raises:
            ServiceError: NOT_POSSIBLE with ten passkeys, or a passkey that is registered;
                PASSKEY_INVALID; VALIDATION_FAILED for a name that is empty, too long or no plain
                text; as ``Reauthentication.prove``.
        """
        called = _name(wanted.name)
        user = await Reauthentication(self.context).prove(caller, wanted, client)
        _refuse_many(await self.list(caller))
        check, now = PasskeyCheck(self.context), self.context.now()
        answered = check.answered(wanted.registration, Use.REGISTRATION, caller.session_id)
        made = self.context.relying_party.register(wanted.registration, answered.content)
        await check.use_up(answered, user.id)
        # stored with the passkey: nobody has a second factor without codes, or codes of another
        codes: Sequence[str] = ()
        rows: Sequence[RecoveryCode] = ()
        if not user.has_factor:
            codes, rows = await SecondFactorCodes(self.context).make(user)
        new = Passkey(
            id=self.context.new_id(),
            user_id=user.id,
            name=called,
            credential_id=made.credential_id,
            credential=made.credential,
            sign_count=made.sign_count,
            created_at=now,
        )
        event = self.context.own_audit_event(
            user, "passkey.registered", passkey=new.id, name=called
        )
        try:
            if not await self.context.stores.passkeys.add(new, user.updated_at, event, rows):
                raise changed_meanwhile()
        except AlreadyExists as problem:
            detail = "this passkey is registered already"
            raise ServiceError(NOT_POSSIBLE, "passkey_known", detail=detail) from problem
        if not user.has_factor:
            ended = self.context.own_audit_event(user, "sessions.ended", why="passkey.registered")
            await self.context.stores.sessions.end_all(
                user.id, now, "factor", caller.session_id, ended
            )
        self.context.events.on_security_event("authn_factor_change", user.id)
        await self._notify(
            user,
            ("Nova chave de acesso", "New passkey"),
            ("foi registrada na sua conta.", "was registered for your account."),
        )
        return codes

    async def remove(
        self, caller: SignedInUser, passkey_id: str, proof: Proof, client: ClientInfo
    ) -> Approval | None:
        """
        Remove a passkey, given password and code of the app, or a passkey; every session ends.

        The last second factor of a user who may write is removed when another person agrees.

        Raises:
            ServiceError: NOT_FOUND for another user's; NOT_POSSIBLE; as
                ``Reauthentication.prove`` and ``FactorRemovals.remove_last``.
        """
        user = await Reauthentication(self.context).prove(caller, proof, client)
        known = await self.list(caller)
        if passkey_id not in {each.id for each in known}:
            raise ServiceError(NOT_FOUND, "passkey")
        if len(known) == 1 and not user.has_app:
            return await self.removals.remove_last(caller, user)

        def update(now: User) -> User:
            """Refuse when another factor was removed meanwhile: this one may be the last by now."""
            if now.updated_at != user.updated_at:
                raise changed_meanwhile()
            return now

        def event_of(now: User) -> AuditEvent:
            return self.context.own_audit_event(now, "passkey.removed", passkey=passkey_id)

        changed = await self.context.change_user(user.id, update, event_of, passkey_id)
        if changed is None:
            raise changed_meanwhile()
        event = self.context.own_audit_event(user, "sessions.ended", why="passkey.removed")
        now = self.context.now()
        await self.context.stores.sessions.end_all(user.id, now, "factor", "", event)
        self.context.events.on_security_event("authn_factor_change", user.id)
        await self._notify(
            user,
            ("Chave de acesso removida", "Passkey removed"),
            ("foi removida da sua conta.", "was removed from your account."),
        )
        return None

    async def _notify(self, user: User, subject: tuple[str, str], says: tuple[str, str]) -> None:
        """Mail the owner; the name, which somebody typed, is left out."""
        text = f"Uma chave de acesso (passkey) {says[0]}", f"A passkey {says[1]}"
        await Mailer(self.context).notify(user, subject, text)


def _refuse_many(known: Sequence[Passkey]) -> None:
    if len(known) >= MOST:
        detail = f"there are {MOST} passkeys; remove one first"
        raise ServiceError(NOT_POSSIBLE, "passkeys_full", detail=detail)


def _name(text: str) -> str:
    try:
        called = strict.plain_text(text.strip(), _LONGEST_NAME)
    except ValueError as problem:
        raise ServiceError(VALIDATION_FAILED, "text_form", field="name") from problem
    if not called:
        raise ServiceError(VALIDATION_FAILED, "missing", field="name")
    return called
