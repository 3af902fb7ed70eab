"""The keys that sign access tokens: created, rotated and retired."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gateway.core.audit_context import RuleViolation
from gateway.core.sessions import SigningKey
from gateway.identity.context import IdentityContext

MOST_PUBLISHED = 3
"""Keys published at the same time: the next, the current and the previous one."""

LEAD_TIME = timedelta(hours=24)
"""How long a key is published before it signs, so that every cache of keys has it."""

# clocks of verifiers may be behind ours by this much
_OVERLAP = timedelta(minutes=5)

NewKey = Callable[[datetime, datetime], SigningKey]
"""Make a key, given the time now and the time from which it signs."""


@dataclass(frozen=True, slots=True)
class SigningKeyRecords:
    """The register of signing keys."""

    context: IdentityContext
    new_key: NewKey

    async def list(self) -> Sequence[SigningKey]:
        """Return all keys, retired ones included, ordered by the start of signing."""
        return await self.context.stores.signing_keys.list()

    async def ensure(self) -> None:
        """
        Make the first key if none signs yet; called when a process starts.

        Processes that start together each make one; all but the first are retired
        again, before anybody can have signed in.
        """
        now = self.context.now()
        if any(_signs(each, now) for each in await self.list()):
            return
        await self._add("system", now)
        made = [each for each in await self.list() if each.retired_at is None]
        # the process that looks last sees all of them, and leaves one
        for surplus in sorted(made, key=lambda each: (each.created_at, each.id))[1:]:
            await self._retire("system", surplus)

    async def rotate(self, by: str, *, at_once: bool = False) -> SigningKey:
        """
        Publish the next key, which signs from a day later on, or at once in an emergency.

        Keys whose last token has expired are retired first.

        Raises:
            RuleViolation: three keys are published already.
        """
        await self._tidy(by)
        if len([each for each in await self.list() if each.retired_at is None]) >= MOST_PUBLISHED:
            message = f"{MOST_PUBLISHED} keys are published; retire one first"
            raise RuleViolation(message)
        now = self.context.now()
        return await self._add(by, now if at_once else now + LEAD_TIME)

    async def retire(self, by: str, key_id: str, *, at_once: bool = False) -> None:
        """
        Stop publishing a key: every token it signed is refused from now on.

        Raises:
            RuleViolation: there is no such key; it is the only one that signs;
                or, unless ``at_once``, tokens signed by it may still be valid.
        """
        keys = [each for each in await self.list() if each.retired_at is None]
        key = next((each for each in keys if each.id == key_id), None)
        if key is None:
            message = f"there is no published key {key_id}"
            raise RuleViolation(message)
        now = self.context.now()
        signing = [each for each in keys if _signs(each, now)]
        if _signs(key, now) and len(signing) == 1:
            message = "it is the only key that signs; rotate first"
            raise RuleViolation(message)
        if _signs(key, now) and not at_once and not self._is_over(key, signing):
            message = "tokens that it signed may live still"
            raise RuleViolation(message)
        await self._retire(by, key)

    async def _tidy(self, by: str) -> None:
        """Retire every key whose last token has expired."""
        now = self.context.now()
        signing = [each for each in await self.list() if _signs(each, now)]
        for key in signing:
            if self._is_over(key, signing):
                await self._retire(by, key)

    def _is_over(self, key: SigningKey, signing: Sequence[SigningKey]) -> bool:
        """Say whether a newer key has signed for so long that no token of this one is valid."""
        last = self.context.now() - self.context.settings.access - _OVERLAP
        return any(key.signs_from < each.signs_from <= last for each in signing)

    async def _add(self, by: str, signs_from: datetime) -> SigningKey:
        """Make and store a key."""
        key = self.new_key(self.context.now(), signs_from)
        event = self.context.audit_event(
            by,
            "signing_key.added",
            f"signing_key:{key.id}",
            signs_from=signs_from.isoformat(),
        )
        await self.context.stores.signing_keys.add(key, event)
        return key

    async def _retire(self, by: str, key: SigningKey) -> None:
        """Retire a key."""
        event = self.context.audit_event(by, "signing_key.retired", f"signing_key:{key.id}")
        await self.context.stores.signing_keys.retire(key.id, self.context.now(), event)


def _signs(key: SigningKey, now: datetime) -> bool:
    """Say whether a key may already have signed."""
    return key.retired_at is None and key.signs_from <= now
