"""``pixgate sandbox``."""

import pytest


@pytest.fixture
def demo(shell, bank):
    return shell.reads("demo")


@pytest.fixture
def main(demo) -> str:
    return demo["accounts"]["main"]["id"]


def test_a_charge_is_paid_once(shell, demo):
    reference = demo["charges"]["pending"]

    paid = shell.reads("sandbox", "pay", reference)

    assert (paid["reference"], paid["centavos"]) == (reference, 25_00)
    assert "CHARGE_PAID" in shell.fails("sandbox", "pay", reference)


def test_money_comes_in_to_the_centavo(shell, main):
    """The demo's refund of R$ 20.00 may settle before, between or after."""
    held = [
        shell.reads("sandbox", "top-up", main, value)["balance_centavos"]
        for value in ("10.50", "0.1")
    ]

    assert [each % 20_00 for each in held] == [10_50, 10_60]


def test_money_is_blocked_and_released(shell, main):
    """The demo's refund of R$ 20.00 is blocked until it settles: before, between or after."""
    blocked = [
        shell.reads("sandbox", "block", main, *arguments)["blocked_centavos"]
        for arguments in (
            ("10.50", "--kind", "court", "--reference", "0001-22"),
            ("0.50", "--release"),
        )
    ]

    assert (blocked[0] - blocked[1]) % 20_00 == 50


def test_the_next_payout_of_an_account_is_held(shell, main):
    told = shell.reads("sandbox", "hold", main, "--next", "--seconds", "60")

    assert told == {"id": main, "seconds": 60}


@pytest.mark.parametrize("command", ["hold", "release", "return"])
def test_a_payout_that_is_not_there_is_neither_held_nor_released_nor_returned(
    shell, bank, command: str
):
    assert "NOT_FOUND" in shell.fails("sandbox", command, "0" * 32)


@pytest.mark.parametrize("value", ["0", "-1", "1.234", "1e3", "ten", "1,50", "NaN"])
def test_what_is_no_amount_is_a_mistake_in_typing(shell, value: str):
    assert "VALUE" in shell.fails("sandbox", "top-up", "any", "--", value, status=2)


def test_a_charge_of_an_open_amount_is_paid_with_what_is_said(shell, main):
    made = shell.reads("sandbox", "charge", main, "order/1", "--reusable")

    paid = [
        shell.reads("sandbox", "pay", "order/1", "--account", main, "--value", value)["centavos"]
        for value in ("1", "2.5")
    ]

    assert made["emv"].startswith("000201")
    assert paid == [1_00, 2_50]


@pytest.mark.parametrize("state", ["paid", "expired", "anonymous", "canceled"])
def test_a_charge_is_made_in_any_state(shell, main, state: str):
    made = shell.reads("sandbox", "charge", main, "order-1", "--state", state, "--value", "1")

    assert made["state"] == state


def test_a_fault_is_set_listed_and_cleared(shell, bank):
    shell.says("sandbox", "fault", "payout", "status", "--status", "503", "--count", "0")

    (listed,) = shell.reads("sandbox", "fault")
    assert (listed["operation"], listed["fault"]) == ("payout", "status")
    assert (listed["status"], listed["count"]) == (503, None)
    assert shell.reads("sandbox", "fault", "--clear") == {"cleared": 1}
    assert shell.reads("sandbox", "fault") == []


@pytest.mark.parametrize("arguments", [("payout",), ("payout", "explode"), ("nothing", "hang")])
def test_a_fault_that_does_not_exist_is_a_mistake_in_typing(shell, arguments):
    assert "Error: " in shell.fails("sandbox", "fault", *arguments, status=2)


def test_nothing_was_executed_yet(shell, bank):
    assert shell.reads("sandbox", "executions") == []
    assert shell.reads("sandbox", "executions", "--key", "0" * 32) == []


@pytest.mark.parametrize(
    "arguments",
    [
        *(("pay", "r"), ("top-up", "a", "1"), ("block", "a", "1")),
        *(("hold", "p"), ("release", "p"), ("return", "p")),
        *(("charge", "a", "r"), ("fault",), ("executions",)),
    ],
    ids=" ".join,
)
def test_in_production_there_is_no_sandbox_bank(shell, bank, arguments):
    """Not even when one runs beside it."""
    config = shell.folder / "production.yaml"
    config.write_text(
        f"environment: production\nsandbox_bank: {{control_port: {bank.control_port}}}\n"
    )

    line = shell.fails("sandbox", *arguments, "--config", str(config))

    assert "this is production" in line
