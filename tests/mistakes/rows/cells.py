"""Cells: which one a request goes to, and a company that moves between two."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_MOVES = "tests/contract/stores/test_company_moves.py"
_ROUTING = "tests/unit/gateway/cells/test_routing.py"
_MOVING = "gateway/cells/moving.py"
_TRANSFER = "gateway/cells/transfer.py"
_PAGE = "docs/cells.md"

ROWS = (
    Mistake(
        name="rows-leave-unlocked",
        promise="While a company leaves a cell, no payout is stored there.",
        source=_PAGE,
        file=_MOVING,
        right="await transfer.lock(source, self.company)\n            if counted",
        wrong="if counted",
        tests=(f"{_MOVES}::test_a_payout_during_the_copy_is_stored_in_neither_cell",),
    ),
    Mistake(
        name="company-moves-with-payouts-under-way",
        promise="A company moves when none of its payouts is under way.",
        source=_PAGE,
        file=_TRANSFER,
        right="state NOT IN ({_AT_REST}) OR review",
        wrong="state IN ('sending') OR review",
        tests=(f"{_MOVES}::test_a_move_waits_for_open_work",),
    ),
    Mistake(
        name="copy-is-not-compared",
        promise="A copy that differs is not committed.",
        source=_PAGE,
        file=_TRANSFER,
        right="if theirs[name] != content]",
        wrong="if theirs[name].rows > content.rows]",
        tests=(f"{_MOVES}::test_a_copy_that_differs_changes_nothing",),
    ),
    Mistake(
        name="copy-that-was-paid-from-is-replaced",
        promise="Payouts that were made from a copy by hand are not thrown away.",
        source=_PAGE,
        file=_MOVING,
        right="noted is None or noted.digest != _digest(known)",
        wrong="noted is None",
        tests=(f"{_MOVES}::test_a_copy_with_changed_payouts_is_not_replaced",),
    ),
    Mistake(
        name="events-arrive-twice",
        promise="Events that stayed behind are not there twice when a company comes back.",
        source=_PAGE,
        file=_TRANSFER,
        right="WHERE NOT EXISTS (SELECT FROM {name} AS known",
        wrong="WHERE true OR NOT EXISTS (SELECT FROM {name} AS known",
        tests=(f"{_MOVES}::test_a_move_interrupted_at_any_point_can_be_repeated",),
    ),
    Mistake(
        name="hours-are-counted-twice",
        promise="A company's payouts are in the figures of one cell, once.",
        source=_PAGE,
        file=_TRANSFER,
        right="        if row[payout_hours.c.hour] in closed_here\n",
        wrong="",
        tests=(f"{_MOVES}::test_hourly_sums_move_between_cells_without_double_counting",),
    ),
    Mistake(
        name="company-is-held-for-ever",
        promise="A company that failed to leave is served where it is.",
        source=_PAGE,
        file=_MOVING,
        right="                await self.switch()  # the company is in force where it was\n",
        wrong="",
        tests=(f"{_MOVES}::test_a_company_whose_move_failed_is_still_served_by_its_cell",),
    ),
    Mistake(
        name="cells-that-cannot-read-are-moved-to",
        promise="A company moves only to a cell that has the keys of its rows.",
        source=_PAGE,
        file=_MOVING,
        right="if lacking := ids - self.target.known_keys[purpose]:",
        wrong="if lacking := self.target.known_keys[purpose] - ids:",
        tests=(f"{_MOVES}::test_an_incompatible_target_is_refused",),
    ),
    Mistake(
        name="stop-of-everything-left-behind",
        promise="A stop of everything or of a bank holds for a company that moves, too.",
        source=_PAGE,
        file=_MOVING,
        right="            if (each.scope, each.subject) not in known:\n",
        wrong="            if False:\n",
        tests=(
            f"{_MOVES}::test_a_company_under_a_stop_of_everything_moves_to_the_same_stop_alone",
        ),
    ),
    Mistake(
        name="stops-that-came-along-are-not-told",
        promise="Processes of the target know the stops that came along before they serve.",
        source=_PAGE,
        file=_MOVING,
        right="            *([replace(company, action=STOPPED)] if side is self.target else []),\n",
        wrong="",
        tests=(f"{_MOVES}::test_a_move_is_in_both_audit_logs_and_names_changed_records",),
    ),
    Mistake(
        name="restored-payouts-are-thrown-away",
        promise="What a restore brought back is deleted where the target has each payout.",
        source=_PAGE,
        file=_MOVING,
        right="            if lacking:\n",
        wrong="            if False:\n",
        tests=(f"{_MOVES}::test_a_restored_company_with_other_payouts_stays",),
    ),
    Mistake(
        name="company-is-served-by-a-copy",
        promise="A company is served by the cell that it moves from until its rows have left.",
        source=_PAGE,
        file="gateway/cells/routing.py",
        right="each.companies.keys() - (each.arriving & settled)",
        wrong="each.companies.keys() - (settled - each.arriving)",
        tests=(f"{_ROUTING}::test_a_company_that_is_arriving_is_served_by_its_former_cell",),
    ),
    Mistake(
        name="two-cells-claim-one-account",
        promise="No map is written where two cells claim one account.",
        source=_PAGE,
        file="gateway/cells/routing.py",
        right="    if other != cell:\n",
        wrong="    if False:\n",
        tests=(f"{_ROUTING}::test_two_cells_that_claim_one_key_are_refused",),
    ),
    Mistake(
        name="path-decides-the-cell",
        promise="The cell of a request is that of its credential; an account elsewhere is 404.",
        source=_PAGE,
        file="deploy/haproxy.cfg",
        right='"path,field(5,/),lower,map(${PIXGATE_CELLS})" if !celled {',
        wrong='"path,field(5,/),lower,map(${PIXGATE_CELLS})" if {',
        tests=("tests/deploy/test_cells.py",),
    ),
)
