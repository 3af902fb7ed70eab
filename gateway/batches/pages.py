"""Pages of files of payouts: the list, the upload, and one file."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.banks.failures import PAYOUT_FAILS
from gateway.banks.service import BankReports
from gateway.batches.model import (
    BatchDetail,
    BatchFile,
    BatchStopBody,
    FileProblem,
    Progress,
    RowSearch,
)
from gateway.batches.reading import COLUMNS, MOST_BYTES, MOST_ROWS, TEMPLATE
from gateway.batches.searches import BATCHES
from gateway.batches.service import Batches
from gateway.core.errors import ServiceError
from gateway.core.money import Sum
from gateway.core.permissions import Action
from gateway.core.priority import Priority
from gateway.core.rights import Area, Right
from gateway.core.user_access import check_fresh_factor
from gateway.core.user_errors import VALIDATION_FAILED
from gateway.core.windows import Paging
from gateway.http.panel.pages.kit import (
    KnownAccount,
    PageContext,
    Pages,
    called,
    go_on,
    page_asked,
    part,
)
from gateway.http.panel.pages.page import Download, Page, Redirect, Result, Shown, Shows
from gateway.http.panel.pages.visit import HOME, Visit, address
from gateway.http.routing import CSV
from policies.validation.backoffice import inputs
from policies.validation.bodies import of_form
from policies.validation.parameters import uuid

_HERE: Final = "/panel/batches/{batch_id}"
_ROWS: Final = 50
_STOPS: Final = Right(Area.STOP, Action.WRITE)
_DECIDES: Final = Right(Area.APPROVAL, Action.WRITE)
_REVIEWS: Final = Right(Area.REVIEW, Action.READ)
_BALANCE: Final = Right(Area.BALANCE, Action.READ)
_LIVE: Final = frozenset({"waiting", "running", "held"})
_UNDER_WAY: Final = frozenset({Progress.HELD, Progress.SENT, Progress.UNKNOWN, Progress.REVIEW})
_ID: Final = inputs.of_path("batch_id")


@dataclass(frozen=True, slots=True)
class BatchPages:
    """The list, the upload, and one file."""

    panel: Pages
    batches: Batches
    banks: BankReports

    async def listed(self, visit: Visit) -> Result:
        """List the files of payouts, newest first."""
        asked = {name: visit.query(name) for name in ("account_id", "text", "page")}
        found = await self.panel.find(visit, self.batches.page, BATCHES, asked)
        items = found.data.items if found.data else ()
        data = {
            "found": found,
            "names": await self.panel.names(visit, [each.account_id for each in items]),
            "people": await self._people(visit, [each.id for each in items]),
            "may_upload": self.panel.may(visit, self.batches.upload),
        }
        return Shown(template="batches/list.html", data=data)

    async def new(self, visit: Visit) -> Result:
        """Choose a file of payouts, and the account that pays it."""
        accounts = await self._payers(visit)
        wanted = visit.form["account_id"] or visit.query("account_id")
        data = {
            "accounts": accounts,
            "chosen": wanted,
            "columns": COLUMNS,
            "most_rows": MOST_ROWS,
            "most_kb": MOST_BYTES // 1024,
            # A browser sends a file once: a code that is asked for later would cost it.
            "asks_code": visit.asks_code or _needs_code(visit, self.panel),
        }
        return Shown(template="batches/new.html", data=data)

    async def upload(self, visit: Visit) -> Result:
        """Read the file; nothing is ordered yet."""
        sent = visit.form.files.get("file")
        if sent is None or not sent.content:
            raise ServiceError(VALIDATION_FAILED, "missing", field="file")
        account = await self.panel.account(visit, uuid(visit.form["account_id"], "account_id"))
        content = base64.b64encode(sent.content).decode()
        file = BatchFile(name=sent.name or "payouts.csv", content=content)
        made = await self.batches.upload(self.panel.staff(visit), account, file)
        return Redirect(address(_HERE, batch_id=made.batch.id))

    async def one(self, visit: Visit) -> Result:
        """Show a file, its rows, and what the user may do with it."""
        who, batch_id = self.panel.staff(visit), _named(visit)
        detail = await self.batches.get(who, batch_id)
        batch = detail.batch
        account = await self.panel.account(visit, batch.account_id)
        is_odd = visit.query("odd") == "true"
        wanted = RowSearch(paging=Paging(page_asked(visit), _ROWS), is_odd=is_odd)
        concerns = account.company_id, account.id, account.provider
        found = await self.panel.stops(visit) if batch.ended_at is None else ()
        stops = [each for each in found if each.concerns(*concerns)]
        is_own = batch.made_by == who.acting.actor
        is_draft = batch.status == "draft"
        is_open = batch.status in {"draft", *_LIVE}
        data = {
            "detail": detail,
            "batch": batch,
            "account": account,
            "rows": await part(self.batches.rows(who, batch_id, wanted)) if batch.payouts else None,
            "problems": await self._problems(visit, detail),
            "sums": _sums(detail),
            "is_odd": is_odd,
            "is_live": batch.status in _LIVE or _is_under_way(detail),
            "stops": stops,
            "may_stop_payouts": visit.may(_STOPS),
            "may_review": visit.may(_REVIEWS),
            "names": await self.panel.names(visit, [each.subject for each in stops])
            if stops
            else {},
            "people": await self._people(visit, [batch_id]),
            "sees_history": who.may(_DECIDES) and not is_own,
            "may_order": is_draft and is_own and self.panel.may(visit, self.batches.order),
            "may_balance": is_draft and visit.may(_BALANCE),
            "may_stop": is_open and self.panel.may(visit, self.batches.stop),
            "may_resume": batch.status == "held"
            and not is_own
            and self.panel.may(visit, self.batches.resume),
            "may_result": self.panel.may(visit, self.batches.result),
            "waits": self.batches.wait is not None,
        }
        return Shown(template="batches/batch.html", part="batches/_batch.html", data=data)

    async def order(self, visit: Visit) -> Result:
        """Order all payouts of the file at once."""
        made = await self.batches.order(self.panel.staff(visit), _named(visit))
        return go_on(made, _here(visit))

    async def stop(self, visit: Visit) -> Result:
        """Cancel the rest of the file, with a reason."""
        if not visit.form["reason"]:
            raise ServiceError(VALIDATION_FAILED, "missing", field="reason")
        why = of_form(visit.form, BatchStopBody)
        await self.batches.stop(self.panel.staff(visit), _named(visit), why)
        return Redirect(_here(visit))

    async def resume(self, visit: Visit) -> Result:
        """Let the held file go on."""
        await self.batches.resume(self.panel.staff(visit), _named(visit))
        return Redirect(_here(visit))

    async def result(self, visit: Visit) -> Result:
        """Download every row with what became of it."""
        found = await self.batches.result(self.panel.staff(visit), _named(visit))
        return Download(
            content=found.first, content_type=CSV, filename="payouts.csv", rest=found.rest
        )

    async def template(self, _visit: Visit) -> Result:
        """Download a file with the columns and two example rows."""
        return Download(content=TEMPLATE, content_type=CSV, filename="pagamentos.csv")

    async def _problems(self, visit: Visit, detail: BatchDetail) -> Sequence[FileProblem]:
        """Return everything that is wrong with a refused file."""
        if not detail.problems:
            return ()
        whole = Paging(1, MOST_ROWS)
        who = self.panel.staff(visit)
        return (await self.batches.problems(who, detail.batch.id, whole)).items

    async def _people(self, visit: Visit, ids: Collection[str]) -> Mapping[str, str]:
        """Return the names of who uploaded these files; none if unreadable."""
        found = await part(self.batches.people(self.panel.staff(visit), ids))
        return called(found.data or ())

    async def _payers(self, visit: Visit) -> Sequence[KnownAccount]:
        """Return the accounts that can pay: active, at a bank that is not read-only."""
        known = await part(self.banks.providers(self.panel.staff(visit)))
        closed = {"", *(each.name for each in known.data or () if each.read_only)}
        found = await self.panel.accounts(visit)
        return [
            each for each in found if each.active and each.verified and each.provider not in closed
        ]


def pages(batches: Batches, banks: BankReports, context: PageContext) -> Sequence[Page]:
    """Return the pages; their forms call the same service as the API."""
    panel = Pages("/batches", context)
    does, one = BatchPages(panel, batches, banks), "/{batch_id}"
    panel.view("", "batches", batches.page)(does.listed)
    new = panel.view("/new", "batch_new", batches.upload)(does.new)
    panel.form(
        "/new",
        "batch_upload",
        batches.upload,
        shows=new,
        fails=PAYOUT_FAILS,
        file_bytes=MOST_BYTES,
    )(does.upload)
    panel.view("/template", "batch_template", batches.page, media=(CSV,))(does.template)
    shows = panel.view(one, "batch", batches.get)(does.one)
    declared: Sequence[tuple[str, Callable[..., Any], Shows]] = (
        ("order", batches.order, does.order),
        ("stop", batches.stop, does.stop),
        ("resume", batches.resume, does.resume),
    )
    for word, method, act in declared:
        panel.form(
            f"{one}/{word}",
            f"batch_{word}",
            method,
            shows=shows,
            fails=PAYOUT_FAILS,
            priority=Priority.PAYOUTS,
        )(act)
    panel.view(
        f"{one}/result",
        "batch_result",
        batches.result,
        media=(CSV,),
        priority=Priority.HEAVY,
    )(does.result)
    return panel.pages


def _named(visit: Visit) -> str:
    return _ID.read(visit.call.asked)


def _here(visit: Visit) -> str:
    return f"{HOME}/batches/{_named(visit)}"


def _needs_code(visit: Visit, panel: Pages) -> bool:
    """Return whether an upload will be asked for a code that the user has."""
    person = visit.person
    if person is None or not person.has_factor:
        return False
    try:
        check_fresh_factor(person, panel.staff(visit).acting.now())
    except ServiceError:
        return True
    return False


def _is_under_way(detail: BatchDetail) -> bool:
    return any(each.status in _UNDER_WAY for each in detail.progress)


def _sums(detail: BatchDetail) -> Mapping[str, tuple[int, Sum]]:
    """Return the payouts of each state and their sum, by the word of the state."""
    return {each.status.value: (each.payouts, each.value) for each in detail.progress}
