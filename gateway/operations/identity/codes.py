"""Codes of a second factor: each is good once, and few may be tried."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.identity import RecoveryCode
from gateway.domain.people import User
from gateway.operations.identity.acts import own_act
from gateway.operations.identity.mailing import Mailing
from gateway.operations.identity.ports import Parts
from gateway.operations.identity.throttling import Throttle


@dataclass(frozen=True, slots=True)
class Codes:
    """Looks at codes as they were typed."""

    parts: Parts

    async def accept(self, user: User, code: str) -> bool:
        """
        Say whether a code of the app or a recovery code is right; it is used up.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS after ten wrong ones in a row.
        """
        throttle = Throttle(self.parts, user.id)
        await throttle.factor(user.id)
        read = self.parts.crafts.recovery.read(code)
        right = await (self._use(user, *read) if read else self._step(user, code.strip()))
        if right:
            await throttle.factor_right(user.id)
        else:
            self.parts.notice("authn_factor_fail", user.id)
        return right

    async def app_code(self, user: User, code: str) -> bool:
        """Say whether a code of the app alone is right; it is used up. Raises as ``accept``."""
        throttle = Throttle(self.parts, user.id)
        await throttle.factor(user.id)
        right = await self._step(user, code.strip())
        if right:
            await throttle.factor_right(user.id)
        else:
            self.parts.notice("authn_factor_fail", user.id)
        return right

    async def renew(self, user: User) -> list[str]:
        """Void every recovery code and return ten new ones, which are kept nowhere."""
        made = self.parts.crafts.recovery.make()
        rows = [await self._row(user, code) for code in made]
        await self.parts.stored.users.replace_codes(user.id, rows)
        return list(made)

    async def left(self, user_id: str) -> int:
        """Count the recovery codes that were not used."""
        codes = await self.parts.stored.users.codes(user_id)
        return sum(1 for each in codes if each.used_at is None)

    async def _step(self, user: User, code: str) -> bool:
        """Look at a code of the app; neither it nor an earlier one is right again."""
        if user.totp is None:
            return False
        secret = self.parts.crafts.sealing.open(user.totp.sealed_secret, sealed_for(user.id))
        step = self.parts.crafts.one_time.accepted_step(secret, code, self.parts.now())
        if step is None:
            return False
        if await self.parts.stored.users.accept_step(user.id, step):
            return True
        self.parts.notice("authn_factor_reuse", user.id)
        return False

    async def _use(self, user: User, index: int, code: str) -> bool:
        """Look at a recovery code; one slow comparison, whichever it is."""
        rows = {each.index: each for each in await self.parts.stored.users.codes(user.id)}
        row = rows.get(index)
        digest = row.digest if row is not None and row.used_at is None else ""
        if not await self.parts.crafts.hashing.matches(code, digest):
            return False
        if not await self.parts.stored.users.use_code(user.id, index, self.parts.now()):
            return False
        await self._tell(user, index)
        return True

    async def _tell(self, user: User, index: int) -> None:
        """Note that a recovery code was used, and tell its owner."""
        await self.parts.stored.audit.append(
            own_act(self.parts, user, "recovery_code.used", number=str(index))
        )
        left = await self.left(user.id)
        await Mailing(self.parts).notice(
            user,
            "Código de recuperação usado",
            f"Um código de recuperação foi usado na sua conta. Restam {left}.",
        )

    async def _row(self, user: User, code: str) -> RecoveryCode:
        """Make what is kept of a code."""
        read = self.parts.crafts.recovery.read(code)
        if read is None:
            message = "a recovery code of ours has not our form"
            raise ValueError(message)
        index, normal = read
        digest = await self.parts.crafts.hashing.make(normal)
        return RecoveryCode(user_id=user.id, index=index, digest=digest)


def sealed_for(user_id: str) -> str:
    """Name the row that a secret of an app is sealed for."""
    return f"user:{user_id}:totp"
