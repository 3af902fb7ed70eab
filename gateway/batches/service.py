"""
Files of payouts for staff: upload, reading, order, stop.

A file is read once, when it is uploaded: its payouts and their references are fixed from then on,
so that nothing that happens to the file later can pay one of them twice.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import structs

from gateway.accounts.store import StoredAccounts
from gateway.audit.store import StoredAudit
from gateway.banks.connections import paying_bank_of, refuse_letters
from gateway.batches import result_file
from gateway.batches.model import (
    HISTORY,
    Batch,
    BatchDetail,
    BatchDocument,
    BatchFile,
    BatchRow,
    BatchRowDocument,
    BatchSearch,
    BatchState,
    BatchStopBody,
    FileProblem,
    Oddity,
    RowSearch,
    bound,
    counted,
)
from gateway.batches.oddities import KnownPayout, Oddities
from gateway.batches.order import OrderedBatch
from gateway.batches.reading import read_file
from gateway.batches.store import BatchRecords, ShownBatch, ShownRow
from gateway.core import errors, strict, user_errors
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.approvals import Approval, ApprovalKind, NewOrder, Wait
from gateway.core.audit_context import AuditContext, RuleViolation, reason
from gateway.core.calls import Caller
from gateway.core.errors import ServiceError
from gateway.core.exports import ExportKind, Exports
from gateway.core.money import Sum, sum_of
from gateway.core.permissions import Action, client_of, payer
from gateway.core.rights import Area, Right
from gateway.core.sessions import SignedInUser
from gateway.core.storage import AlreadyExists, LimitReached
from gateway.core.windows import LARGEST_LIMIT, Listed, Paging
from gateway.payouts.create import Payouts
from gateway.payouts.documents import Orderer
from gateway.payouts.model import PayoutRequest, hidden_destination
from gateway.payouts.order_text import payout_text, read_payout
from gateway.reports.files import DownloadFile, DownloadPage, DownloadReader
from gateway.store.tables.columns import reference_digest

_APPROVES: Final = Right(Area.APPROVAL, Action.WRITE)
_LONGEST_NAME: Final = 200
_OWN_FILE: Final = "Another person lets a file of your own go on."
_NOT_OWN: Final = "Only whoever uploaded a file may order it."
_ENDED: Final = "The file was carried out or cancelled already."
_NOT_HELD: Final = "The file is not held any more: look at it again."
_DAY_OVER: Final = "The day of its payouts is over: upload the rest as another file."


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """
    Takes files of payouts, shows them, and orders them.

    Attributes:
        seal, open: Encrypt a payout for its row, and decrypt it.
        wait: Lets an order wait for another person; None where the settings want one person.
    """

    records: BatchRecords
    accounts: StoredAccounts
    payouts: Payouts
    oddities: Oddities
    audit: StoredAudit
    exports: Exports
    new_id: Callable[[], str]
    seal: Callable[[str, str], bytes]
    open: Callable[[bytes, str], str]
    wait: Wait | None

    @requires(Area.PAYOUT, Action.WRITE, active=True)
    async def upload(self, who: Staff, account: Account, file: BatchFile) -> BatchDetail:
        """
        Read a file of payouts; nothing is ordered yet.

        A file with a bad row is refused as a whole: its problems are kept, and none of its
        payouts.

        Raises:
            RuleViolation: the name or the Base64 is malformed.
            ServiceError: ``SVC.GTW.009`` (409) where the same file is a draft or under way;
                ``NOT_POSSIBLE`` where the company has 20 drafts; as an order of a payout where
                the account cannot pay.
        """
        person, now, content = _person(who), who.acting.now(), _content(file)
        found = read_file(content, now.date())
        problems = found.problems or self._unfit(account, found.payouts)
        known = {} if problems else await self.oddities.known(account.id, found.payouts)
        problems = problems or _in_use(person, found.payouts, known)
        taken = {} if problems else found.payouts
        batch = Batch(
            id=self.new_id(),
            account_id=account.id,
            company_id=account.company_id,
            name=_name(file.name),
            file_sha256=hashlib.sha256(content).digest(),
            state=BatchState.REFUSED if problems else BatchState.DRAFT,
            payouts=len(taken),
            centavos=sum_of(each.value for each in taken.values()).centavos,
            made_by=person.user_id,
            maker=person.actor,
            made_at=now,
            ended_at=now if problems else None,
        )
        odd = await self.oddities.of(account, taken, known, now)
        rows = [self._row(batch, number, each, odd) for number, each in taken.items()]
        details = {"account": account.id, "payouts": str(batch.payouts), "value": str(batch.value)}
        word = "refused" if problems else "uploaded"
        event = who.acting.event(f"batch.{word}", _subject(batch), details)
        try:
            await self.records.add(batch, rows, problems, event)
        except AlreadyExists as same:
            raise ServiceError(
                errors.ALREADY_IN_USE, "file_known", detail=f"It is {same}."
            ) from same
        except LimitReached as full:
            raise ServiceError(user_errors.NOT_POSSIBLE, "drafts_many") from full
        return await self._detail(who, ShownBatch(batch, "", is_waiting=False))

    @requires(Area.PAYOUT, Action.READ)
    async def page(self, who: Staff, wanted: BatchSearch) -> Listed[BatchDocument]:
        """List the files of payouts, the newest first."""
        found = await self.records.page(wanted, who.scope)
        items = [each.document() for each in found.items]
        return Listed(items=items, paging=found.paging, total=found.total)

    @requires(Area.PAYOUT, Action.READ)
    async def people(self, who: Staff, ids: Collection[str]) -> Sequence[Orderer]:
        """Return the names of the users who uploaded these files."""
        return await self.records.makers(ids, who.scope)

    @requires(Area.PAYOUT, Action.READ)
    async def get(self, who: Staff, batch_id: str) -> BatchDetail:
        """
        Read a file of payouts, and how far it is carried out.

        Raises:
            ServiceError: ``NOT_FOUND``, also for one outside of the scope.
        """
        return await self._detail(who, await self._found(who, batch_id))

    @requires(Area.PAYOUT, Action.READ)
    async def rows(self, who: Staff, batch_id: str, wanted: RowSearch) -> Listed[BatchRowDocument]:
        """
        List the payouts of a file, in the order of its rows.

        Users who may decide on its waiting order see recipients in full, which is recorded.

        Raises:
            ServiceError: ``NOT_FOUND``; ``SVC.GTW.005`` (429) as ``Exports.show``.
        """
        shown = await self._found(who, batch_id)
        words = _visible(who, shown.batch)
        found = await self.records.rows(batch_id, wanted, words)
        await self.exports.show(who, len(found.items))
        is_whole = shown.is_waiting and words >= HISTORY
        if is_whole and found.items:
            await self.audit.append(who.acting.event("batch.read", _subject(shown.batch)))
        items = [self._row_document(each, words, is_whole=is_whole) for each in found.items]
        return Listed(items=items, paging=found.paging, total=found.total)

    @requires(Area.PAYOUT, Action.READ)
    async def problems(self, who: Staff, batch_id: str, paging: Paging) -> Listed[FileProblem]:
        """
        List what is wrong with a refused file, in the order of its rows.

        Raises:
            ServiceError: ``NOT_FOUND``, also for one outside of the scope.
        """
        await self._found(who, batch_id)
        return await self.records.problems(batch_id, paging)

    @requires(Area.PAYOUT, Action.WRITE)
    async def order(self, who: Staff, batch_id: str) -> BatchDetail | Approval:
        """
        Order all payouts of your file at once; another person has to approve them together.

        What stands out is looked for again. The order ends, and the payouts are dated, with the
        UTC day.

        Raises:
            ServiceError: ``NOT_FOUND``; ``FORBIDDEN`` for another user's file; ``SVC.GTW.009``
                (409) where it waits already; as an order of a payout where the account cannot pay.
            RuleViolation: it is no draft, or a reference has been used since.
        """
        person, shown = _person(who), await self._found(who, batch_id)
        batch = shown.batch
        if batch.made_by != person.user_id:
            raise ServiceError(user_errors.FORBIDDEN, "not_own_order", detail=_NOT_OWN)
        if batch.state is not BatchState.DRAFT:
            raise _ended()
        rows = await self.records.every_row(batch.id)
        account = await self.paying_account(batch)
        orders = {each.number: self.payout(each) for each in rows}
        if self._unfit(account, orders):
            raise ServiceError(user_errors.NOT_POSSIBLE, "bank_takes_digits")
        known = await self.oddities.known(account.id, orders)
        if _in_use(person, orders, known):
            raise ServiceError(user_errors.NOT_POSSIBLE, "other_content", field="reference")
        odd = await self.oddities.of(account, orders, known, who.acting.now())
        changed = {
            each.number: odd.get(each.number, ())
            for each in rows
            if odd.get(each.number, ()) != each.odd
        }
        await self.records.mark(batch.id, changed)
        if self.wait is None:
            await self.begin(who.acting, batch)
            return await self.get(who, batch_id)
        ordered = OrderedBatch.of(batch, orders, odd)
        wanted = NewOrder(
            kind=ApprovalKind.BATCH,
            text=ordered.text(),
            company_id=batch.company_id,
            account_id=batch.account_id,
            subject=batch.id,
            reference=batch.name,
            centavos=batch.centavos,
        )
        return await self.wait(person, wanted)

    @requires(Area.STOP, Action.WRITE)
    async def stop(self, who: Staff, batch_id: str, why: BatchStopBody) -> BatchDetail:
        """
        Cancel the rest of a file: rows that nobody began are never paid.

        What was sent stays as it is. Whoever orders payouts may stop them, too.

        Raises:
            ServiceError: ``NOT_FOUND``, also for one outside of the scope.
            RuleViolation: it ended before, or there is no reason.
        """
        shown = await self._found(who, batch_id)
        event = who.acting.event(
            "batch.stopped", _subject(shown.batch), {"reason": reason(why.reason)}
        )
        now = who.acting.now()
        if not await self.records.end(batch_id, BatchState.CANCELLED, now, event):
            raise _ended()
        return await self.get(who, batch_id)

    @requires(Area.APPROVAL, Action.WRITE)
    async def resume(self, who: Staff, batch_id: str) -> BatchDetail:
        """
        Let a held file go on, on the day of its payouts.

        Whoever does had a hand in its payouts, as its approver: they do not review them.

        Raises:
            ServiceError: ``NOT_FOUND``; ``FORBIDDEN`` for whoever uploaded it.
            RuleViolation: it is not held, or its day is over.
        """
        person, shown = _person(who), await self._found(who, batch_id)
        batch, now = shown.batch, who.acting.now()
        if batch.made_by == person.user_id:
            raise ServiceError(user_errors.FORBIDDEN, "own_order", detail=_OWN_FILE)
        if batch.day != now.date() and batch.state is BatchState.HELD:
            raise RuleViolation(_DAY_OVER, "day_over")
        event = who.acting.event("batch.resumed", _subject(batch), {"held_for": batch.held_for})
        if not await self.records.resume(batch, person.user_id, now, event):
            raise RuleViolation(_NOT_HELD, "not_held")
        return await self.get(who, batch_id)

    @requires(Area.REPORT, Action.READ, also=Area.PAYOUT)
    async def result(self, who: Staff, batch_id: str) -> DownloadFile:
        """
        Read every row of a file with what became of it, as a table: semicolons, decimal commas.

        Raises:
            ServiceError: ``NOT_FOUND``; ``SVC.GTW.005`` (429) as ``Exports.begin`` and
                ``Export.take``.
        """
        words = _visible(who, (await self._found(who, batch_id)).batch)
        export = await self.exports.begin(who, ExportKind.PAYOUTS)

        async def read(after: int | None) -> DownloadPage[BatchRowDocument, int]:
            number = after or 1
            wanted = RowSearch(paging=Paging(number, LARGEST_LIMIT))
            found = await self.records.rows(batch_id, wanted, words)
            items = [self._row_document(each, words, is_whole=False) for each in found.items]
            is_last = number * LARGEST_LIMIT >= found.total
            return DownloadPage(items, None if is_last else number + 1)

        reader = DownloadReader(read=read, write=result_file.lines, export=export)
        return await reader.file(result_file.HEAD)

    # For the order and the worker

    async def begin(self, acting: AuditContext, batch: Batch) -> None:
        """
        Let a draft be carried out from now on, dated today.

        Raises:
            RuleViolation: it is no draft any more.
        """
        now = acting.now()
        begun = structs.replace(batch, day=now.date(), began_at=now)
        if not await self.records.start(begun, acting.event("batch.began", _subject(batch))):
            raise _ended()

    async def paying_account(self, batch: Batch) -> Account:
        """
        Return the account of a file, as it is now.

        Raises:
            ServiceError: it cannot pay now, or payouts are stopped there.
        """
        account = await self.accounts.find(batch.account_id)
        if account is None:
            raise ServiceError(errors.ACCOUNT_NOT_FOUND, "no_account")
        if not account.active:
            raise ServiceError(errors.ACCOUNT_INACTIVE, "inactive")
        if not account.verified:
            raise ServiceError(errors.ACCOUNT_UNVERIFIED, "unverified")
        caller = Caller(payer(batch.made_by, account.company_id), account)
        await self.payouts.guards.go_on(caller)
        return account

    def payout(self, row: BatchRow) -> PayoutRequest:
        """Return the payout of a row, as it was fixed when the file was read."""
        return read_payout(self.open(row.sealed_order, bound(row.batch_id, row.number)))

    def _unfit(
        self, account: Account, orders: Mapping[int, PayoutRequest]
    ) -> Sequence[FileProblem]:
        """
        Return the rows that the account's bank cannot pay.

        Raises:
            ServiceError: it takes no payouts of a method that the file has.
        """
        banks = self.payouts.banks
        for method in sorted({each.method for each in orders.values()}):
            paying_bank_of(banks, account, method)
        problems = []
        for number, each in orders.items():
            try:
                refuse_letters(banks, account, each.tax_numbers())
            except ServiceError as refusal:
                problems.append(
                    FileProblem(number=number, field=refusal.field, reason=refusal.reason)
                )
        return problems

    def _row(
        self,
        batch: Batch,
        number: int,
        order: PayoutRequest,
        odd: Mapping[int, tuple[Oddity, ...]],
    ) -> BatchRow:
        return BatchRow(
            batch_id=batch.id,
            number=number,
            account_id=batch.account_id,
            reference_sha256=reference_digest(order.reference),
            reference=order.reference,
            centavos=order.value.centavos,
            sealed_order=self.seal(payout_text(order), bound(batch.id, number)),
            odd=odd.get(number, ()),
        )

    def _row_document(
        self, shown: ShownRow, words: Collection[Oddity], *, is_whole: bool
    ) -> BatchRowDocument:
        row, order = shown.row, self.payout(shown.row)
        sent = order.destination_sent
        texts = sent if is_whole else hidden_destination(sent)
        return BatchRowDocument(
            number=row.number,
            reference=row.reference,
            value=Sum(row.centavos),
            method=order.method.value,
            destination={name: text for name, text in texts.items() if text},
            description=order.description,
            odd=[each for each in row.odd if each in words],
            status=shown.progress,
            has_payout=shown.has_payout,
            code=shown.code,
        )

    async def _found(self, who: Staff, batch_id: str) -> ShownBatch:
        found = await self.records.find(batch_id, who.scope)
        if found is None:
            raise ServiceError(user_errors.NOT_FOUND, "no_batch")
        return found

    async def _detail(self, who: Staff, shown: ShownBatch) -> BatchDetail:
        batch = shown.batch
        if batch.state is BatchState.REFUSED:
            wrong = (await self.records.problems(batch.id, Paging(1, 1))).total
            return BatchDetail(
                batch=shown.document(), progress=[], odd=[], problems=wrong, same_file=""
            )
        words = _visible(who, batch)
        same = await self.records.same_file(batch)
        return BatchDetail(
            batch=shown.document(),
            progress=list(await self.records.progress(batch.id)),
            odd=[each for each in counted(await self.records.odd(batch.id)) if each.odd in words],
            problems=0,
            same_file="" if same is None else same.id,
        )


def _in_use(
    person: SignedInUser, orders: Mapping[int, PayoutRequest], known: Mapping[int, KnownPayout]
) -> Sequence[FileProblem]:
    """
    Return the rows whose reference is that of another payout.

    A payout of somebody else is another one, whatever is in it: whether the content is the same
    would tell a hidden tax number.
    """
    problems = []
    for number, stored in sorted(known.items()):
        if stored.client_id != client_of(person.user_id):
            why = "reference_of_another"
        elif orders[number].fingerprint() != stored.fingerprint:
            why = "other_content"
        else:
            continue
        problems.append(FileProblem(number=number, field="reference", reason=why))
    return problems


def _visible(who: Staff, batch: Batch) -> frozenset[Oddity]:
    """Return what stands out that a reader is shown."""
    every = frozenset(Oddity)
    return every if who.may(_APPROVES) and not _is_maker(who, batch) else every - HISTORY


def _content(file: BatchFile) -> bytes:
    try:
        return base64.b64decode(file.content, validate=True)
    except (binascii.Error, ValueError) as problem:
        message = "the content is not Base64"
        raise RuleViolation(message, "form", field="content") from problem


def _name(text: str) -> str:
    """Return the name of a file without its folder."""
    try:
        last = text.replace("\\", "/").rpartition("/")[2].strip()
        return strict.visible_text(last)[:_LONGEST_NAME]
    except ValueError as problem:
        message = "the name is not plain text"
        raise RuleViolation(message, "form", field="name") from problem


def _person(who: Staff) -> SignedInUser:
    """Return the acting user; the command line neither uploads nor orders."""
    if who.person is None:
        raise ServiceError(user_errors.FORBIDDEN, "permission")
    return who.person


def _is_maker(who: Staff, batch: Batch) -> bool:
    return who.person is not None and who.person.user_id == batch.made_by


def _ended() -> RuleViolation:
    return RuleViolation(_ENDED, "batch_ended")


def _subject(batch: Batch) -> str:
    return f"batch:{batch.id}"
