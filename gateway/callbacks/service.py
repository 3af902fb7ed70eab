"""Callbacks received (contract 4.3, GetWebhooks), and their processing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.callbacks.model import Callback, CallbackSearch
from gateway.callbacks.store import CallbackRecords
from gateway.core.access import Staff, requires
from gateway.core.exports import Exports
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right
from gateway.core.windows import Listed
from gateway.payouts.model import Payout

_PAYOUTS: Final = Right(Area.PAYOUT, Action.READ)


@dataclass(frozen=True, slots=True)
class Callbacks:
    """The callbacks of companies in scope."""

    records: CallbackRecords
    exports: Exports

    @requires(Area.WEBHOOK, Action.READ)
    async def search(self, who: Staff, wanted: CallbackSearch) -> Listed[Callback]:
        """
        List the callbacks that banks sent, newest first; their bodies name payers.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.show``.
        """
        found = await self.records.search(wanted, who.scope)
        await self.exports.show(who, len(found.items))
        return found

    @requires(Area.WEBHOOK, Action.READ)
    async def payouts(self, who: Staff, callbacks: Sequence[Callback]) -> Mapping[str, Payout]:
        """Return the payouts that callbacks are about, by their subjects, if they may be read."""
        if not who.may(_PAYOUTS):
            return {}
        return await self.records.payouts([each.subject for each in callbacks], who.scope)
