"""Payouts that banks refuse because the tax number is not that of the key's owner."""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from gateway.banks.port.payout_orders import FailureCode, PayoutMethod
from gateway.core.allowances import Allowance, refuse_for
from gateway.core.clocks import Monotonic
from gateway.core.limits import keep
from gateway.payouts.model import Failure, Payout

TOO_MANY_MISMATCHES: Final = "owner_mismatches"
"""The reason of a refusal: the credential has named many owners wrongly lately."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OwnerMismatches:
    """
    Limits how often a credential learns that a number is not that of a key's owner.

    Such a payout costs nothing: whoever tries numbers by centavos finds the owner of a key.

    Attributes:
        learnt: Refusals of each credential, or user who orders.
        clock: Measures elapsed time.
        refused_until: Until when whose payouts by key are refused in this process.
    """

    learnt: Allowance
    clock: Monotonic
    refused_until: OrderedDict[str, float] = field(default_factory=OrderedDict)

    async def note(self, payout: Payout, failure: Failure) -> None:
        """Count a payout that failed, if for that; beyond the limit the next ones are refused."""
        is_of_key = payout.method is PayoutMethod.PIX
        if failure.code is not FailureCode.OWNER_MISMATCH or not is_of_key:
            return
        wait_s = await self.learnt.take(payout.client_id)
        if wait_s:
            keep(self.refused_until, payout.client_id, self.clock() + wait_s)
            _log.warning("owner_mismatches client_id=%s", payout.client_id)

    def check(self, payout: Payout) -> None:
        """
        Refuse a payout to a key while its credential has named too many owners wrongly.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) with ``Retry-After``; nothing is stored or sent.
        """
        wait_s = self.refused_until.get(payout.client_id, 0.0) - self.clock()
        if wait_s <= 0:
            self.refused_until.pop(payout.client_id, None)
        elif payout.method is PayoutMethod.PIX:
            refuse_for(wait_s, TOO_MANY_MISMATCHES)
