"""The outflow guard for people: trips, and a subject beside its envelope."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from gateway.core.access import Staff, requires
from gateway.core.clocks import Now
from gateway.core.company_scope import StopScope
from gateway.core.errors import ServiceError
from gateway.core.money import Sum
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.user_errors import NOT_FOUND
from gateway.core.windows import LOCAL, Listed, Paging
from gateway.outflow.envelope import (
    HISTORY_DAYS,
    Bounds,
    Figures,
    Recent,
    Spent,
    Window,
    new_payees,
)
from gateway.outflow.guard import GuardConfig, hours_of, judged
from gateway.outflow.model import SCOPES, HourOfDay, SubjectOutflow, TripDocument, WindowFigures
from gateway.outflow.store import HOUR, OutflowRecords, Payee, Payout, Subject, local_hour


@dataclass(frozen=True, slots=True, kw_only=True)
class Outflows:
    """The guard's findings, within a company scope."""

    records: OutflowRecords
    config: GuardConfig
    now: Now

    @requires(Area.PAYOUT, Action.READ)
    async def page(self, who: Staff, paging: Paging) -> Listed[TripDocument]:
        """List the credentials, accounts and companies that were outside, the last one first."""
        found = await self.records.page(who.scope, paging)
        items = [each.document() for each in found.items]
        return Listed(items=items, paging=found.paging, total=found.total)

    @requires(Area.PAYOUT, Action.READ)
    async def of(self, who: Staff, scope: str, subject: str) -> SubjectOutflow:
        """
        Return a credential, account or company beside its envelope of this hour.

        Raises:
            ServiceError: ``NOT_FOUND``: the caller's companies have no such subject.
        """
        asked = Subject(StopScope(scope), subject) if scope in SCOPES else None
        company = await self.records.company_of(asked) if asked else None
        if asked is None or company is None or not who.scope.includes(company):
            raise ServiceError(
                NOT_FOUND, "subject_unknown", detail="no such credential, account, company"
            )
        now = self.now()
        midnight = now.astimezone(LOCAL).replace(hour=0, minute=0, second=0, microsecond=0)
        kept = await self.records.hours(asked, midnight)
        # The hours before the guard's last one are kept; those after it are read.
        since = min(now - HOUR, max([midnight, *(at + HOUR for at, _ in kept)]))
        own: list[tuple[Payout, Spent]] = []
        first: dict[Payee, datetime] = {}
        async for part in self.records.payouts(since, now, company):
            found = await judged(self.records, part, first)
            own += [each for each in found if asked in each[0].subjects]
        recent = Recent(spent for payout, spent in own if payout.at > now - HOUR)
        for window in (recent.short, recent.long):
            window.forget(now.timestamp())
        history = await self.records.history(asked, now - timedelta(days=HISTORY_DAYS))
        envelope = history.envelope(local_hour(now), self.config.floor)
        known = {at for at, _ in kept}
        open_hours = [
            (at, each.whole) for at, each in hours_of(own) if at >= midnight and at not in known
        ]
        return SubjectOutflow(
            scope=asked.scope,
            subject=asked.id,
            mode=self.config.mode_of(company),
            established=envelope.until.established,
            normal_day=Sum(envelope.until.normal_day),
            windows=[
                _window(window, bounds, new_payees(window, recent, envelope))
                for window, bounds in ((recent.short, envelope.short), (recent.long, envelope.long))
            ],
            today=[_hour(at, figures) for at, figures in sorted([*kept, *open_hours], key=_at)],
            trips=[each.document() for each in await self.records.trips(asked)],
        )


def _at(hour: tuple[datetime, Figures]) -> datetime:
    return hour[0]


def _window(window: Window, bounds: Bounds, new: tuple[float, float]) -> WindowFigures:
    now, (number, money) = window.figures, new
    return WindowFigures(
        window_s=window.length_s,
        payouts=now.payouts,
        payouts_bound=int(bounds.payouts),
        money=Sum(now.centavos),
        money_bound=Sum(int(bounds.centavos)),
        new_payees_payouts=now.new_payouts,
        new_payees_payouts_bound=int(number),
        new_payees_money=Sum(now.new_centavos),
        new_payees_money_bound=Sum(int(money)),
    )


def _hour(at: datetime, figures: Figures) -> HourOfDay:
    return HourOfDay(
        hour=at,
        payouts=figures.payouts,
        money=Sum(figures.centavos),
        new_payees_payouts=figures.new_payouts,
        new_payees_money=Sum(figures.new_centavos),
    )
