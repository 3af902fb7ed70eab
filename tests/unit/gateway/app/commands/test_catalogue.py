"""``pixgate routes``, ``errors`` and ``providers``."""

from pathlib import Path

from gateway.app.commands.catalogue import EVERY_CODE, error_page
from gateway.banks.port.capabilities import OPTIONAL_CALLS, PortCall
from gateway.core.reasons import REASONS


def test_every_route_shows_its_permission_and_quota(shell):
    """The banking surface has the ten operations of contract 4.1 and three public ones."""
    rows = {each["name"]: each for each in shell.reads("routes")}

    assert len([name for name in rows if name.startswith("banking.")]) == 13
    create = rows["banking.payout_create"]
    assert (create["method"], create["permission"]) == ("POST", "withdraw:write")
    assert (create["quota"], create["per_second"], create["burst"]) == ("payout", 10, 20)
    assert (create["body_bytes"], rows["banking.balance"]["body_bytes"]) == (65536, 0)
    assert "SVC.PIX.010 502" in create["errors"]


def test_sign_in_routes_draw_from_a_quota_by_address(shell):
    rows = {each["name"]: each for each in shell.reads("routes")}

    assert (rows["identity.login"]["quota"], rows["panel.mfa"]["quota"]) == (
        "sign_in",
        "second_factor",
    )
    assert rows["identity.session"]["quota"] == "anonymous"
    assert rows["identity.logout"]["quota"] == rows["panel.logout"]["quota"] == ""


def test_routes_with_a_session_draw_from_a_quota_by_user(shell):
    """On identity, in the panel, and in the back office by token and by cookie."""
    rows = {each["name"]: each for each in shell.reads("routes")}

    drawn = [
        rows[name] for name in ("identity.sessions", "panel.session_end", "backoffice.balance")
    ]

    assert {(each["quota"], each["per_second"], each["burst"]) for each in drawn} == {
        ("person", 20, 40)
    }


def test_only_public_routes_need_no_permission_and_draw_no_quota(shell):
    """On the banking surface."""
    rows = [each for each in shell.reads("routes") if each["name"].startswith("banking.")]

    assert all(bool(each["permission"]) is bool(each["quota"]) for each in rows)
    assert {each["name"].split(".")[1] for each in rows if not each["permission"]} == {
        "info",
        "health",
        "error_codes",
    }


def test_routes_are_printed_as_a_table(shell):
    lines = shell.says("routes").splitlines()

    assert lines[0].split()[:3] == ["method", "path", "permission"]
    assert len(lines) == 1 + len(shell.reads("routes"))


def test_every_error_is_listed(shell):
    listed = shell.reads("errors")

    assert [(each["code"], each["status"]) for each in listed] == [
        (each.code, each.status) for each in EVERY_CODE
    ]
    assert len(shell.says("errors").splitlines()) == 1 + len(EVERY_CODE)


def test_errors_need_no_configuration(shell):
    assert shell.reads("errors", "--config", "/nowhere.yaml")


def test_the_page_matches_the_command_s_output(shell):
    page = shell.says("errors", "--markdown")

    assert page == "\n".join(error_page(EVERY_CODE)) + "\n"
    assert page.count("\n| `") == len(EVERY_CODE) + len(REASONS)


def test_the_sandbox_adapter_is_listed_with_its_capabilities(shell):
    (sandbox,) = [each for each in shell.reads("providers") if each["adapter"] == "sandbox"]

    assert (sandbox["payouts"], sandbox["repeat"]) == (True, "same_answer")
    assert set(sandbox["calls"]) == set(PortCall)
    assert set(sandbox["operations"]) == OPTIONAL_CALLS
    assert sandbox["blocked_known"] is True
    assert "sandbox" in shell.says("providers")


def test_the_matrix_of_adapters_matches_the_code(shell):
    """After a change of capabilities run ``make docs``."""
    page = Path(__file__).parents[5] / "docs/providers/matrix.md"

    assert page.read_text(encoding="utf-8") == shell.says("providers", "--markdown")


def test_the_matrix_has_a_line_for_each_word_and_a_column_for_each_adapter(shell):
    lines = {each["word"]: each for each in shell.reads("providers", "--matrix")}

    assert lines["get_balance"]["sandbox"] == "yes"
    assert lines["largest_page"]["sandbox"] == "500"
    assert "absent_after" in shell.says("providers", "--matrix")


def test_a_bank_is_looked_up_by_number_and_name(shell):
    """The numbers used in payouts to a bank account."""
    found = [
        shell.reads("banks", "lookup", text) for text in ("341", "60701190", "itaú unibanco s")
    ]

    assert [[each["ispb"] for each in some] for some in found] == [["60701190"]] * 3
    assert shell.reads("banks", "lookup", "nobody at all") == []
