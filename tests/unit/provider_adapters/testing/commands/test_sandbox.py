"""``pixgate sandbox``."""

from itertools import pairwise

import pytest

from provider_adapters.testing.commands.sandbox import sandbox


@pytest.fixture(scope="module")
def demo(demo_shell):
    return demo_shell.reads("demo")


@pytest.fixture(scope="module")
def main(demo) -> str:
    return demo["accounts"]["main"]["id"]


def test_a_charge_can_be_paid_only_once(demo_shell, demo):
    reference = demo["charges"]["pending"]

    paid = demo_shell.reads("sandbox", "pay", reference)

    assert (paid["reference"], paid["centavos"]) == (reference, 25_00)
    assert "CHARGE_PAID" in demo_shell.fails("sandbox", "pay", reference)


def test_a_top_up_credits_the_exact_amount(demo_shell, main):
    """The demo's refund of R$ 20.00 may settle before, between or after."""
    held = [
        demo_shell.reads("sandbox", "top-up", main, "--value", value)["balance_centavos"]
        for value in ("1", "10.50", "0.1")
    ]

    assert [(after - before) % 20_00 for before, after in pairwise(held)] == [10_50, 10]


def test_any_call_of_the_control_interface_can_be_made(demo_shell, main):
    """With its query, exact amounts and any characters in segments."""
    made = demo_shell.reads(
        "sandbox", "call", "post", f"/accounts/{main}/block", '{"value": 10.50}'
    )
    listed = demo_shell.reads("sandbox", "call", "GET", "executions?key=none%2F1")
    refused = demo_shell.fails("sandbox", "call", "DELETE", "nothing")

    assert made["blocked_centavos"] % 20_00 == 10_50  # the demo's refund may be blocked, too
    assert listed["data"] == []
    assert "404" in refused


def test_a_body_that_is_not_json_is_a_usage_error(fresh_shell):
    assert "no JSON" in fresh_shell.fails("sandbox", "call", "POST", "faults", "{", status=2)


def test_the_next_payout_of_an_account_is_held(demo_shell, main):
    told = demo_shell.reads("sandbox", "hold", main, "--next", "--seconds", "60")

    assert told == {"id": main, "seconds": 60}


def test_an_unknown_payout_cannot_be_held_released_or_returned(demo_shell):
    for command in ("hold", "release", "return"):
        assert "NOT_FOUND" in demo_shell.fails("sandbox", command, "0" * 32)


def test_a_payment_is_refunded_in_parts_of_which_each_has_its_key(demo_shell, main):
    demo_shell.says("sandbox", "charge", main, "given-back", "--value", "25.00")
    payment = demo_shell.reads("sandbox", "pay", "given-back")["e2e_id"]
    asked = ("sandbox", "refund", main, payment, "--value", "5.00")

    part, same = demo_shell.reads(*asked), demo_shell.reads(*asked)
    other = demo_shell.reads(*asked, "--key", "another")

    assert part["centavos"] == 5_00
    assert part["return_id"].startswith("D")
    assert same == part
    assert other["return_id"] != part["return_id"]


def test_a_malformed_amount_is_a_usage_error(fresh_shell):
    for value in ("0", "-1", "1.234", "1e3", "ten", "1,50", "NaN"):
        for command in (("top-up",), ("return",), ("pay",), ("refund", "account")):
            said = fresh_shell.fails("sandbox", *command, "any", "--value", value, status=2)
            assert "--value" in said


def test_an_amount_is_an_option_in_every_command():
    """Always ``--value``; only ids and references are positional."""
    told = {
        name: {each.opts[0]: type(each).__name__ for each in command.params}
        for name, command in sandbox.commands.items()
    }

    valued = {name for name, params in told.items() if {"value", "--value"} & params.keys()}
    assert valued == {"pay", "charge", "top-up", "refund", "return"}
    assert {told[name].get("--value") for name in valued} == {"Option"}


def test_a_charge_with_an_open_amount_is_paid_with_the_given_one(demo_shell, main):
    made = demo_shell.reads("sandbox", "charge", main, "order/1")

    paid = demo_shell.reads("sandbox", "pay", "order/1", "--account", main, "--value", "2.5")

    assert made["emv"].startswith("000201")
    assert paid["centavos"] == 2_50


def test_a_fault_is_set_listed_and_cleared(demo_shell):
    demo_shell.says("sandbox", "fault", "payout", "status", "--status", "503", "--count", "0")

    (listed,) = demo_shell.reads("sandbox", "fault")
    assert (listed["operation"], listed["fault"]) == ("payout", "status")
    assert (listed["status"], listed["count"]) == (503, None)
    assert demo_shell.reads("sandbox", "fault", "--clear") == {"cleared": 1}
    assert demo_shell.reads("sandbox", "fault") == []


def test_an_unknown_fault_is_a_usage_error(fresh_shell):
    for arguments in [("payout",), ("payout", "explode"), ("nothing", "hang")]:
        assert "Error: " in fresh_shell.fails("sandbox", "fault", *arguments, status=2)


def test_a_new_bank_lists_no_executions(demo_shell):
    assert demo_shell.reads("sandbox", "executions") == []


def test_production_has_no_sandbox_bank(demo_shell):
    """Not even beside a running one."""
    config = demo_shell.folder / "production.yaml"
    port = demo_shell.environ["PIXGATE_BANK_CONTROL_PORT"]
    config.write_text(f"environment: production\nsandbox_bank: {{control_port: {port}}}\n")

    for arguments in [
        *(("pay", "r"), ("top-up", "a", "--value", "1"), ("call", "GET", "faults")),
        *(("hold", "p"), ("release", "p"), ("return", "p")),
        *(("charge", "a", "r"), ("fault",), ("executions",), ("refund", "a", "e", "--value", "1")),
    ]:
        line = demo_shell.fails("sandbox", *arguments, "--config", str(config))
        assert "this is production" in line
