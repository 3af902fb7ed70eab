"""Public keys of credentials: a payout of a credential that has any is signed by one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from gateway.core.access import Staff, requires
from gateway.core.approvals import Approval, OrderDocument, Outcome, VoidReason, second_person
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.permissions import Action
from gateway.core.public_keys import MOST_KEYS, PublicKey, read_public_key
from gateway.core.rights import Area
from gateway.credentials.model import Credential, KeyChange, PublicKeyBody
from gateway.credentials.notices import NoticeKind
from gateway.credentials.service import (
    Credentials,
    about,
    changed_meanwhile,
    known,
    live,
)

_ORDERS: Final = msgspec.json.Decoder(KeyChange)


@dataclass(frozen=True, slots=True)
class PublicKeys:
    """
    Registers and removes public keys, and executes the orders about them.

    A key opens payouts to its owner, and without the last one the secret alone is enough: both
    take two people where credentials do. The end of one of several is in force at once.
    """

    credentials: Credentials

    @requires(Area.CREDENTIAL, Action.WRITE)
    async def add(self, who: Staff, client_id: str, wanted: PublicKeyBody) -> Credential | Approval:
        """
        Register a public key; payouts of the credential are signed from then on. May wait.

        Raises:
            ServiceError: as ``Credentials.get`` does.
            RuleViolation: the credential has ended, has five keys or this one, or it is no
                Ed25519 public key.
        """
        found = await self.credentials.get(who, client_id)
        try:
            key = read_public_key(wanted.public_key, who.acting.now())
        except ValueError as problem:
            message = "no Ed25519 public key in PEM"
            raise RuleViolation(message, "public_key_form", field="public_key") from problem
        order = KeyChange(
            client_id=client_id,
            name=found.name,
            key_id=key.key_id,
            added=key,
            keys_before=found.key_ids,
        )
        self._changed(found, order)
        return await self._order(who, found, order)

    @requires(Area.CREDENTIAL, Action.WRITE)
    async def remove(self, who: Staff, client_id: str, public_key_id: str) -> Credential | Approval:
        """
        Remove a public key; the last one waits, since the secret alone pays then.

        Raises:
            ServiceError: as ``Credentials.get`` does.
            RuleViolation: the credential has ended, or has no such key.
        """
        found = await self.credentials.get(who, client_id)
        order = KeyChange(
            client_id=client_id,
            name=found.name,
            key_id=public_key_id,
            keys_before=found.key_ids,
        )
        if self._changed(found, order):
            return await self._set(who.acting, found, order)
        return await self._order(who, found, order)

    async def check_again(self, _approval: Approval, text: str) -> VoidReason:
        """Refuse an order that is impossible by now; see ``Executor``."""
        order = _ORDERS.decode(text)
        found = live(await known(self.credentials.stored, order.client_id), self.credentials.now())
        return VoidReason.NONE if order.still_fits(found) else VoidReason.CREDENTIAL_CHANGED

    async def carry_out(self, approval: Approval, text: str) -> Outcome:
        """Register or remove the key; see ``Executor``."""
        order = _ORDERS.decode(text)
        found = await known(self.credentials.stored, order.client_id)
        if not order.still_fits(found):
            raise changed_meanwhile(order.client_id)
        if found.key_ids == order.keys:
            return Outcome.DONE
        acting = AuditContext(approval.orderer, self.credentials.now)
        await self._set(acting, found, order, approval.decider)
        return Outcome.DONE

    def order_document(self, text: str) -> OrderDocument:
        """Return the order as a document."""
        order = _ORDERS.decode(text)
        shown: OrderDocument = {"client_id": order.client_id, "name": order.name}
        if order.added is None:
            return {**shown, "removed_key": order.key_id}
        return {**shown, "public_key": order.added}

    async def _order(
        self, who: Staff, found: Credential, order: KeyChange
    ) -> Credential | Approval:
        """Let the order wait for a second person, or execute it where none is asked for."""
        waits = second_person(self.credentials.wait, who)
        if waits is None:
            return await self._set(who.acting, found, order)
        return await waits(about(found, order))

    def _changed(self, found: Credential, order: KeyChange) -> Sequence[PublicKey]:
        """Return the keys after an order; RuleViolation if it is not possible now."""
        live(found, self.credentials.now())
        keys, is_known = found.public_keys, order.key_id in found.key_ids
        if order.added is None:
            if not is_known:
                message = f"the credential has no public key {order.key_id}"
                raise RuleViolation(message, "key_unknown", field="public_key_id")
            return [each for each in keys if each.key_id != order.key_id]
        if is_known:
            message = f"the credential has the public key {order.key_id} already"
            raise RuleViolation(message, "key_known", field="public_key")
        if len(keys) >= MOST_KEYS:
            message = f"the credential has {MOST_KEYS} public keys"
            raise RuleViolation(message, "too_many_keys", field="public_key")
        return [*keys, order.added]

    async def _set(
        self, acting: AuditContext, found: Credential, order: KeyChange, approved_by: str = ""
    ) -> Credential:
        keys = self._changed(found, order)
        action = "credential.key_removed" if order.added is None else "credential.key_added"
        event = acting.event(action, f"credential:{found.client_id}", {"key_id": order.key_id})
        if not await self.credentials.stored.set_public_keys(
            found.client_id, found.public_keys, keys, event, self.credentials.now()
        ):
            raise changed_meanwhile(found.client_id)
        made = replace(found, public_keys=tuple(keys))
        if order.added is not None or not keys:
            kind = NoticeKind.KEY_ADDED if keys else NoticeKind.UNSIGNED
            await self.credentials.announce(kind, made, acting, approved_by)
        return made
