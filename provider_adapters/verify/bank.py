"""Cases about payouts: what a bank's answers mean, and that no money moves twice."""

from __future__ import annotations

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.providers import Accepted, NotFound, Settled
from provider_adapters.verify.cases import case
from provider_adapters.verify.stage import Fate, NotApplicable
from provider_adapters.verify.trial import Trial, far, new_provider_key

PAYS_AND_LOOKS = frozenset({PortCall.CREATE_PAYOUT, PortCall.FIND_PAYOUT})


@case("bank.settled", needs=PAYS_AND_LOOKS)
async def settled(trial: Trial) -> None:
    """A payout that settled is found settled, with the amount that was paid."""
    order = trial.order(await trial.stage.wish(Fate.SETTLES))
    async with trial.harness() as harness:
        ordered = await harness.adapter.create_payout(trial.account, order, far())
        trial.expect(isinstance(ordered, Accepted | Settled), f"it was answered by {ordered!r}")
        await trial.stage.settle()
        known = ordered.provider_id if isinstance(ordered, Accepted | Settled) else ""
        found = await harness.adapter.find_payout(trial.account, order.provider_key, known)
    trial.expect(isinstance(found, Settled), f"it is found as {found!r}")
    if isinstance(found, Settled):
        trial.expect(found.value == order.value, f"the amount is told as {found.value}")
    paid = await trial.stage.executions(order.provider_key)
    trial.expect(list(paid) == [order.value], f"the bank paid {list(paid)}")


@case("bank.absent", needs={PortCall.FIND_PAYOUT})
async def absent(trial: Trial) -> None:
    """A payout that the bank does not know is NotFound."""
    if not trial.capabilities.finds():
        message = "payouts are found by the bank's id alone"
        raise NotApplicable(message)
    async with trial.harness() as harness:
        looking = harness.adapter.find_payout(trial.account, new_provider_key(), "")
        await trial.raised(NotFound, looking, "a payout that is not there")
