"""The panel's screens and sessions: what is typed and shown, cookies, and files that leave."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_HEALTH = "tests/unit/gateway/banks/test_health.py"
_ONE_SECRET = "test_a_new_secret_is_shown_in_one_uncached_answer"
_PANEL = "tests/unit/gateway/http/panel"
_SURFACES = "tests/surfaces/panel/pages"
_APPROVALS = f"{_SURFACES}/test_approvals.py"
_CALLBACKS = "tests/unit/gateway/callbacks/test_pages.py"
_CREDENTIALS = "tests/unit/gateway/credentials/test_pages.py"
_FORMS = "tests/unit/policies/validation/test_forms.py"
_PAYOUT = "tests/unit/gateway/payouts/test_pages.py"
_PROVIDERS = "tests/unit/gateway/banks/test_pages.py"
_SEARCH = "tests/unit/gateway/search/test_pages.py"
_SEARCHES = "tests/unit/gateway/search/test_service.py"
_SESSIONS = "tests/unit/gateway/identity/test_panel_sessions.py"
_SURFACE = "tests/unit/gateway/identity/test_panel_surface.py"
_TEXTS = "tests/unit/gateway/reports/test_texts.py"
_UNRESOLVED = "tests/unit/gateway/reviews/test_pages.py"
_VENDOR = "tests/unit/gateway/panel/test_vendor.py"

ROWS = (
    Mistake(
        name="another-payout-is-judged",
        promise="What was typed about one payout is never taken for another.",
        source="docs/panel.md",
        file="gateway/reviews/pages.py",
        right="    if any(asked):\n        return next(iter(named), None)\n",
        wrong="    if named:\n        return named[0]\n",
        tests=(f"{_UNRESOLVED}::test_a_form_for_one_payout_does_not_judge_another",),
    ),
    Mistake(
        name="settlement-folded-away",
        promise="The look that settled a payout stands in its timeline by itself.",
        source="ADR 31",
        file="gateway/payouts/pages.py",
        right='if event["kind"] != "probed" or event["state"]:',
        wrong='if event["kind"] != "probed":',
        tests=(f"{_PAYOUT}::test_events_that_changed_the_state_are_not_collapsed",),
    ),
    Mistake(
        name="receipt-of-what-is-not-paid",
        promise="A receipt is printed of a payout that is settled.",
        source="docs/panel.md",
        file="gateway/payouts/pages.py",
        right='if data["dossier"].state != PayoutState.PAID:',
        wrong='if data["dossier"].state not in FINAL_STATES:',
        tests=(f"{_SURFACES}/test_payouts.py::test_only_settled_payouts_have_a_receipt",),
    ),
    Mistake(
        name="approved-without-its-amount",
        promise="An order of money is approved by typing its amount.",
        source="docs/panel.md",
        file="gateway/approvals/pages.py",
        right='"value") != approval.value:',
        wrong='"value") > approval.value:',
        tests=(f"{_APPROVALS}::test_an_order_of_money_is_approved_by_its_typed_amount",),
    ),
    Mistake(
        name="people-of-an-outage-as-ids",
        promise="An order of a company's sign-in names the people who may sign in in an outage.",
        source="ADR 0084",
        file="gateway/approvals/pages.py",
        right="[approval, *others], _in_an_outage(order))",
        wrong="[approval, *others])",
        tests=(
            f"{_SURFACES}/test_single_sign_on.py::test_the_approver_sees_the_people_named_for_an_outage",
        ),
    ),
    Mistake(
        name="whole-cpf-in-a-statement-file",
        promise="A statement that is taken from a page tells no whole tax number of a person.",
        source="docs/panel.md",
        file="gateway/statements/pages.py",
        right="hides_people=True",
        wrong="hides_people=False",
        tests=(f"{_SURFACES}/test_exports.py::test_no_statement_shows_a_complete_cpf",),
    ),
    Mistake(
        name="tax-number-in-an-address",
        promise="What names a person stands in no address, which is logged.",
        source="docs/panel.md",
        file="gateway/search/pages.py",
        right=r'    r"|\+\d|@|gws_|whsec_",',
        wrong=r'    r"|\+\d|@|whsec_",',
        tests=(f"{_SEARCH}::test_personal_data_is_kept_out_of_the_search_address",),
    ),
    Mistake(
        name="search-ends-at-a-cnpj",
        promise="A reference is found although it looks like a CNPJ.",
        source="docs/panel.md",
        file="gateway/search/service.py",
        right="        if exact:\n",
        wrong="        if exact or number:\n",
        tests=(f"{_SEARCHES}::test_a_reference_that_looks_like_a_cnpj_is_still_found",),
    ),
    Mistake(
        name="credential-ends-a-day-early",
        promise="A credential holds to the end of the day that was typed, in São Paulo.",
        source="docs/panel.md",
        file="gateway/credentials/pages.py",
        right="return local_end(day) - timedelta(seconds=1)",
        wrong="return local_end(day) - timedelta(hours=3, seconds=1)",
        tests=(f"{_CREDENTIALS}::test_a_credential_expires_at_the_end_of_its_last_local_day",),
    ),
    Mistake(
        name="credential-without-an-end",
        promise="A credential has no end only where that was chosen.",
        source="docs/panel.md",
        file="gateway/credentials/pages.py",
        right=(
            "    if day is None:\n"
            '        raise ServiceError(VALIDATION_FAILED, "form", field="expires_on")\n'
        ),
        wrong="    if day is None:\n        return None\n",
        tests=(f"{_CREDENTIALS}::test_a_credential_without_an_expiry_must_be_chosen",),
    ),
    Mistake(
        name="credential-ended-by-a-click",
        promise="A credential is ended by typing its name.",
        source="docs/panel.md",
        file="gateway/credentials/pages.py",
        right='if visit.form["words"] != found.name:',
        wrong='if visit.form["words"] not in found.name:',
        tests=(
            f"{_SURFACES}/test_credentials.py::test_a_credential_is_revoked_by_its_typed_name_alone",
        ),
    ),
    Mistake(
        name="cpf-in-a-callback",
        promise="A callback is shown without what names a person.",
        source="docs/panel.md",
        file="gateway/callbacks/model.py",
        right=r'    r"|(?<!\d)\d{3}\.?\d{3}\.?\d{3}-?\d{2}(?!\d)"',
        wrong=r'    r"|(?<!\d)\d{3}\.\d{3}\.\d{3}-\d{2}(?!\d)"',
        tests=(f"{_CALLBACKS}::test_personal_data_is_hidden",),
    ),
    Mistake(
        name="read-only-bank-that-pays",
        promise="A bank that is read only is shown as paying in no way.",
        source="docs/panel.md",
        file="gateway/banks/pages.py",
        right='return "read_only" if provider.read_only else True',
        wrong="return True",
        tests=(f"{_PROVIDERS}::test_a_read_only_bank_offers_no_payouts",),
    ),
    Mistake(
        name="rights-shown-that-a-factor-closes",
        promise="Who lacks a needed second factor is told to hold no right that changes anything.",
        source="docs/people.md",
        file="gateway/identity/panel_surface.py",
        right="held = {right for right in who.rights if not (lacks and changes(right))}",
        wrong="held = set(who.rights)",
        tests=(
            f"{_SURFACE}::test_listed_permissions_exclude_writes_until_a_required_factor_is_enrolled",
        ),
    ),
    Mistake(
        name="browser-not-cleared",
        promise="Signing out clears what a browser has kept.",
        source="docs/panel.md",
        file="gateway/identity/panel_surface.py",
        right='"Clear-Site-Data": \'"cache", "storage"\'',
        wrong='"Clear-Site-Data": \'"cache"\'',
        tests=(f"{_SURFACE}::test_signing_out_deletes_the_cookie_and_clears_site_data",),
    ),
    Mistake(
        name="script-writes-without-a-token",
        promise="Every write of a script of ours carries the session's token.",
        source="decisions 6 (`CSRF_FAILED`)",
        file="gateway/http/gates.py",
        right="return (WriteFromOurPage(self.users.origin), self.session, CsrfToken())",
        wrong="return (WriteFromOurPage(self.users.origin), self.session)",
        tests=(f"{_SURFACE}::test_every_route_behind_a_cookie_is_guarded",),
    ),
    Mistake(
        name="session-read-unmarked",
        promise="A script's read says that it is one, which no foreign page can.",
        source="decisions 6 (`CSRF_FAILED`)",
        file="gateway/http/gates.py",
        right="return (ReadFromOurPage(origin=self.users.origin, marked=True), self.session)",
        wrong="return (ReadFromOurPage(origin=self.users.origin, marked=False), self.session)",
        tests=(f"{_SURFACE}::test_every_read_except_the_session_requires_the_script_header",),
    ),
    Mistake(
        name="half-a-cookie-opens",
        promise="The half of a cookie that the store knows opens nothing.",
        source="docs/panel.md",
        file="gateway/identity/panel_sessions.py",
        right=("        if self._open(panel.sealed, cookie) is None:\n            return None\n"),
        wrong="",
        tests=(f"{_SESSIONS}::test_a_cookie_with_a_wrong_secret_is_refused",),
    ),
    Mistake(
        name="idle-for-ever",
        promise="A quarter of an hour without a call ends a session of the panel.",
        source="decisions 7",
        file="gateway/identity/panel_sessions.py",
        right=("if panel.state is PanelState.FULL and now - panel.seen_at >= self.settings.idle:"),
        wrong="if panel.state is not PanelState.FULL and now >= panel.ends_at:",
        tests=(f"{_SESSIONS}::test_an_idle_session_ends_with_its_sign_in",),
    ),
    Mistake(
        name="cookie-outlives-a-rise",
        promise="After a code the earlier cookie changes nothing once the newer one is in use.",
        source="docs/people.md",
        file="gateway/identity/panel_sessions.py",
        right="if not acts or (stepped_up and latest.panel.delivered):",
        wrong="if not acts:",
        tests=(f"{_SESSIONS}::test_after_a_code_the_old_cookie_only_reads_and_then_expires",),
    ),
    Mistake(
        name="stolen-cookie-gains-a-factor",
        promise="A cookie from before a code leads to the newer one without a fresh factor.",
        source="docs/people.md",
        file="gateway/identity/panel_sessions.py",
        right="note_factor(who.session_id, None)",
        wrong="note_factor(who.session_id, who.factor_at)",
        tests=(f"{_SESSIONS}::test_a_lost_answer_signs_no_user_out",),
    ),
    Mistake(
        name="old-cookie-counts-the-new-code",
        promise="A code counts with the cookie that it gave, and with no older one.",
        source="docs/people.md",
        file="gateway/identity/panel_sessions.py",
        right="counts = panel.proven_at is not None and who.factor_at <= panel.proven_at",
        wrong="counts = panel.proven_at is not None",
        tests=(f"{_SESSIONS}::test_a_fresh_factor_is_valid_with_the_new_cookie_alone",),
    ),
    Mistake(
        name="renewal-is-a-proof",
        promise="A cookie renewed while a code is given does not count the code.",
        source="docs/people.md",
        file="gateway/identity/panel_sessions.py",
        right="self._supersede(browser, panel.csrf, panel.proven_at)",
        wrong="self._supersede(browser, panel.csrf, now)",
        tests=(f"{_SESSIONS}::test_a_cookie_renewed_during_a_step_up_has_no_fresh_factor",),
    ),
    Mistake(
        name="replaced-cookie-writes",
        promise="A cookie that was replaced by a code reads, and changes nothing.",
        source="docs/people.md",
        file="policies/traffic/csrf.py",
        right="    if browser is not None and browser.reads_only:\n",
        wrong="    if browser is None and browser:\n",
        tests=(f"{_SESSIONS}::test_after_a_code_the_old_cookie_only_reads_and_then_expires",),
    ),
    Mistake(
        name="one-token-in-every-answer",
        promise="No two answers hold the token of forms as the same text.",
        source="docs/panel.md",
        file="gateway/http/panel/pages/represent.py",
        right="visit.mask = self.random(len(visit.browser.panel.csrf))",
        wrong="visit.mask = bytes(len(visit.browser.panel.csrf))",
        tests=(f"{_SURFACES}/test_frame.py::test_pages_and_parts_are_compressed",),
    ),
    Mistake(
        name="secret-compressed",
        promise="A page that shows a secret once is not compressed.",
        source="docs/panel.md",
        file="gateway/http/panel/pages/shown_once.py",
        right="is_secret=True",
        wrong="is_secret=False",
        tests=(f"{_SURFACES}/test_credentials.py::{_ONE_SECRET}",),
    ),
    Mistake(
        name="pause-that-never-ends",
        promise="When the pause of a breaker is over, nothing is on hold.",
        source="docs/panel.md",
        file="gateway/banks/health.py",
        right="until is not None and until <= self._now()",
        wrong="until is None",
        tests=(f"{_HEALTH}::test_a_breaker_stays_open_for_longer_each_time_in_a_row",),
    ),
    Mistake(
        name="refused-token-kept-in-a-browser",
        promise="A browser whose refresh token is refused is signed out.",
        source="contract 4.2",
        file="gateway/identity/panel_sessions.py",
        right="            await self.store.remove(panel.id_hash)\n",
        wrong="",
        tests=(f"{_SESSIONS}::test_a_refused_token_ends_the_session",),
    ),
    Mistake(
        name="company-of-several-told",
        promise="A page names a person's company only where they see no other.",
        source="docs/panel.md",
        file="gateway/identity/panel_sessions.py",
        right=(
            "        if len(who.companies) != 1:\n            return None\n"
            "        (company_id,) = who.companies\n"
        ),
        wrong=(
            "        if not who.companies:\n            return None\n"
            "        company_id, *_ = sorted(who.companies)\n"
        ),
        tests=(f"{_SESSIONS}::test_no_company_is_shown_for_a_user_of_several",),
    ),
    Mistake(
        name="password-without-its-blanks",
        promise="A password is read as it was typed, blanks at its ends included.",
        source="docs/people.md",
        file="policies/validation/forms.py",
        right='return self.values.get(name, ("",))[0]',
        wrong='return self.values.get(name, ("",))[0].strip()',
        tests=(f"{_FORMS}::test_a_password_is_read_as_typed",),
    ),
    Mistake(
        name="formula-behind-another-separator",
        promise="What a partner typed is run by no spreadsheet, whatever separates its cells.",
        source="docs/panel.md",
        file="gateway/reports/texts.py",
        right="(^|[{_BREAK}])",
        wrong="(^)",
        tests=(f"{_TEXTS}::test_no_cell_is_a_formula_when_read_with_another_separator",),
    ),
    Mistake(
        name="any-script-of-others",
        promise="A script of others is served only if it is the one that was listed.",
        source="docs/dependencies.md",
        file="gateway/panel/vendor.py",
        right="return content if file.matches(content) else None",
        wrong="return content",
        tests=(f"{_VENDOR}::test_a_vendored_file_is_read_only_with_its_listed_content",),
    ),
    Mistake(
        name="form-of-somebody-else",
        promise="A form of an ended session comes back to the person who typed it alone.",
        source="docs/panel.md",
        file="gateway/http/panel/pages/kept.py",
        right='return f"{user_id} {unquote(page)}"',
        wrong="return unquote(page)",
        tests=(
            f"{_PANEL}/pages/test_kept.py::test_a_kept_form_is_shown_to_its_user_on_its_page_for_fifteen_minutes",
        ),
    ),
)
