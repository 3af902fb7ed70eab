"""Codes of a second factor: checked, counted, and used up."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.core.user import RecoveryCode, User
from gateway.identity.context import IdentityContext
from gateway.identity.mail import Mailer
from gateway.identity.one_time_codes import (
    accepted_step,
    make_recovery_codes,
    read_recovery_code,
)
from gateway.identity.throttling import Throttle


@dataclass(frozen=True, slots=True)
class SecondFactorCodes:
    """Checks codes of a second factor: each works once, and few may be tried."""

    context: IdentityContext

    async def accept(self, user: User, code: str, session_id: str = "") -> bool:
        """
        Check a code of the app or a recovery code; a right one is used up.

        Args:
            user: Whose code it is.
            code: As it was typed.
            session_id: Wrong codes count against this session alone: attempts with a
                stolen one does not lock the user out.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS after ten wrong ones in a row.
        """
        throttle, counted = Throttle(self.context, user.id), session_id or user.id
        await throttle.factor(counted)
        read = read_recovery_code(code)
        right = await (self._use(user, *read) if read else self._of_app(user, code))
        return await self._counted(throttle, user, counted, right=right)

    async def app_code(self, user: User, code: str) -> bool:
        """
        Check a code of the app alone, also of one that is being enrolled; a right one is used up.

        Raises as ``accept``.
        """
        throttle = Throttle(self.context, user.id)
        await throttle.factor(user.id)
        return await self._counted(throttle, user, user.id, right=await self._step(user, code))

    async def renew(self, user: User) -> list[str]:
        """Void every recovery code and return ten new ones; only digests are stored."""
        made, rows = await self.make(user)
        await self.context.stores.users.replace_codes(user.id, rows)
        return made

    async def make(self, user: User) -> tuple[list[str], list[RecoveryCode]]:
        """Make ten recovery codes, and what is to be stored of them."""
        made, digest_of = make_recovery_codes(), self.context.crypto.hashing.make
        rows = [
            RecoveryCode(user_id=user.id, index=index, digest=await digest_of(code))
            for index, code in enumerate(made)
        ]
        return made, rows

    async def left(self, user_id: str) -> int:
        """Count the unused recovery codes."""
        codes = await self.context.stores.users.codes(user_id)
        return sum(1 for each in codes if each.used_at is None)

    async def _counted(self, throttle: Throttle, user: User, counted: str, *, right: bool) -> bool:
        """Reset the count after a right code, report a wrong one; return ``right``."""
        if right:
            await throttle.code_accepted(counted)
        else:
            self.context.events.on_security_event("authn_factor_fail", user.id)
        return right

    async def _of_app(self, user: User, code: str) -> bool:
        """Check a code of an app that was confirmed: beside a passkey another may be begun."""
        return user.has_app and await self._step(user, code)

    async def _step(self, user: User, code: str) -> bool:
        """Check a code of the app; neither it nor an earlier one is accepted again."""
        if user.totp is None:
            return False
        secret = self.context.crypto.sealing.open(user.totp.sealed_secret, totp_row(user.id))
        step = accepted_step(secret, code, self.context.now())
        if step is None:
            return False
        if await self.context.stores.users.accept_step(user.id, step):
            return True
        self.context.events.on_security_event("authn_factor_reuse", user.id)
        return False

    async def _use(self, user: User, index: int, code: str) -> bool:
        """Check a recovery code; always one slow comparison."""
        rows = {each.index: each for each in await self.context.stores.users.codes(user.id)}
        row = rows.get(index)
        digest = row.digest if row is not None and row.used_at is None else ""
        if not await self.context.crypto.hashing.matches(code, digest):
            return False
        if not await self.context.stores.users.use_code(user.id, index, self.context.now()):
            return False
        await self._report_use(user, index)
        return True

    async def _report_use(self, user: User, index: int) -> None:
        """Audit the use of a recovery code, and notify its owner."""
        await self.context.audit.append(
            self.context.own_audit_event(user, "recovery_code.used", number=str(index))
        )
        left = await self.left(user.id)
        await Mailer(self.context).notify(
            user,
            ("Código de recuperação usado", "Recovery code used"),
            (
                f"Um código de recuperação foi usado na sua conta. Restam {left}.",
                f"A recovery code was used for your account. {left} are left.",
            ),
        )


def totp_row(user_id: str) -> str:
    """Return the name of the row that the secret of an app is sealed for."""
    return f"user:{user_id}:totp"
