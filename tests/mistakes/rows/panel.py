"""The panel: forms, markup, addresses, rights of pages, and headers for browsers."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_PANEL = "tests/unit/gateway/http/panel"
_PAGES = f"{_PANEL}/pages"
_SURFACES = "tests/surfaces/panel/pages"
_BADGES = f"{_PAGES}/test_badges.py"
_CSRF = "tests/unit/policies/traffic/test_csrf.py"
_FORMATS = f"{_PAGES}/test_formats.py"
_NAVIGATION = f"{_PAGES}/test_navigation.py"
_PAGES_SURFACE = f"{_PAGES}/test_surface.py"
_PEOPLE = f"{_SURFACES}/test_people.py"
_RESPONSES = f"{_PAGES}/test_represent.py"
_TEMPLATES = f"{_PAGES}/test_templates.py"
_VISIT = f"{_PAGES}/test_visit.py"

ROWS = (
    Mistake(
        name="point-read-as-centavos",
        promise="An amount is typed with a comma, and one that could mean two things is refused.",
        source="docs/panel.md",
        file="gateway/http/panel/pages/formats.py",
        right=r'{1,6}|\d{1,18})(?:,(\d{2}))?", re.ASCII',
        wrong=r'{1,6}|\d{1,18})(?:[,.](\d{2}))?", re.ASCII',
        tests=(f"{_FORMATS}::test_an_invalid_typed_amount_is_refused",),
    ),
    Mistake(
        name="whole-cpf-on-a-page",
        promise="A page shows the tax number of a person without its ends.",
        source="docs/panel.md",
        file="gateway/http/panel/pages/formats.py",
        right="    return hidden_tax_number(value)\n",
        wrong="    return value\n",
        tests=(f"{_FORMATS}::test_a_cpf_is_masked_and_a_cnpj_is_not",),
    ),
    Mistake(
        name="writing-turned-on-a-page",
        promise="A character that is invisible, or turns the writing, is shown as a box.",
        source="docs/panel.md",
        file="gateway/http/panel/pages/formats.py",
        right='frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"})',
        wrong='frozenset({"Cc", "Zl", "Zp", "Cs", "Co", "Cn"})',
        tests=(f"{_FORMATS}::test_invisible_characters_are_shown",),
    ),
    Mistake(
        name="markup-of-a-partner",
        promise="What a partner typed is text on a page, and no markup.",
        source="docs/panel.md",
        file="gateway/http/panel/pages/templates.py",
        right="autoescape=True,",
        wrong="autoescape=False,",
        tests=(f"{_TEMPLATES}::test_user_text_is_escaped",),
    ),
    Mistake(
        name="absent-amount-is-blank",
        promise="A page that lacks what it shows fails, and shows no blank in its place.",
        source="docs/panel.md",
        file="gateway/http/panel/pages/templates.py",
        right="            undefined=StrictUndefined,\n",
        wrong="",
        tests=(f"{_TEMPLATES}::test_an_undefined_template_variable_is_an_error",),
    ),
    Mistake(
        name="next-page-elsewhere",
        promise="After the sign-in a browser is led to a page of ours alone.",
        source="docs/panel.md",
        file="gateway/http/panel/pages/visit.py",
        right='is_ours = text == HOME or text.startswith((f"{HOME}/", f"{HOME}?"))',
        wrong='is_ours = text == HOME or text.startswith("/")',
        tests=(f"{_VISIT}::test_another_path_is_replaced_by_the_home_page",),
    ),
    Mistake(
        name="address-with-a-slash-in-it",
        promise="A reference with a slash leads to its own payout.",
        source="decisions 7",
        file="gateway/http/panel/pages/visit.py",
        right='{name: quote(each, safe="") for name, each in values.items()}',
        wrong="{name: quote(each) for name, each in values.items()}",
        tests=(f"{_VISIT}::test_an_address_encodes_its_parameters",),
    ),
    Mistake(
        name="password-shown-again",
        promise="A refused form is shown again without its passwords and codes.",
        source="docs/panel.md",
        file="gateway/http/panel/pages/surface.py",
        right="visit.form, visit.problem = visit.form.without(*_SECRETS), problem",
        wrong="visit.problem = problem",
        tests=(f"{_PAGES_SURFACE}::test_a_refused_form_is_shown_again_without_secrets",),
    ),
    Mistake(
        name="page-without-its-right",
        promise="A page is opened with the right that it declares.",
        source="ADR 29",
        file="gateway/http/panel/pages/surface.py",
        right="return (place, policies.session, users.user_quota, RequiresRight())",
        wrong="return (place, policies.session, users.user_quota)",
        tests=(f"{_PAGES_SURFACE}::test_every_page_behind_the_sign_in_requires_its_right",),
    ),
    Mistake(
        name="form-without-its-token",
        promise="A form is done with the token of the session that it was shown in.",
        source="decisions 6 (`CSRF_FAILED`)",
        file="policies/traffic/csrf.py",
        right="if expected and is_right:",
        wrong="if is_right or not sent:",
        tests=(f"{_CSRF}::test_a_form_must_have_the_csrf_token_of_its_session",),
    ),
    Mistake(
        name="form-leads-elsewhere",
        promise="A form that was accepted leads to a page of ours alone.",
        source="docs/panel.md",
        file="gateway/http/panel/pages/represent.py",
        right='{**HEADERS, "Location": own_path(result.to)}',
        wrong='{**HEADERS, "Location": result.to}',
        tests=(f"{_RESPONSES}::test_a_form_redirects_only_to_our_pages",),
    ),
    Mistake(
        name="page-in-a-foreign-frame",
        promise="No other site shows a page of ours inside its own.",
        source="docs/panel.md",
        file="gateway/http/panel/pages/represent.py",
        right=" frame-ancestors 'none'\"",
        wrong=" frame-ancestors 'self'\"",
        tests=(f"{_RESPONSES}::test_pages_forbid_caching_and_framing",),
    ),
    Mistake(
        name="page-kept-by-the-browser",
        promise="No page is stored: after signing out nobody finds it by going back.",
        source="docs/panel.md",
        file="gateway/http/panel/pages/represent.py",
        right='"Cache-Control": "no-store",',
        wrong='"Cache-Control": "private, max-age=60",',
        tests=(f"{_RESPONSES}::test_pages_forbid_caching_and_framing",),
    ),
    Mistake(
        name="counts-of-another-company",
        promise="What waits is counted for each person, in the companies that they see.",
        source="docs/panel.md",
        file="gateway/http/panel/pages/badges.py",
        right="    return person.user_id, person.companies, frozenset(person.roles)",
        wrong="    return person.user_id, frozenset(), frozenset(person.roles)",
        tests=(f"{_BADGES}::test_counts_cover_the_companies_a_user_sees",),
    ),
    Mistake(
        name="entry-of-a-closed-page",
        promise="The side column shows the pages that one may open.",
        source="docs/panel.md",
        file="gateway/http/panel/pages/navigation.py",
        right="return needed is None or visit.may(needed)",
        wrong="return True",
        tests=(f"{_NAVIGATION}::test_a_menu_entry_is_not_shown_without_its_right",),
    ),
    Mistake(
        name="stale-person-overwritten",
        promise="A page changes a person only as they were seen.",
        source="docs/panel.md",
        file="gateway/identity/pages.py",
        right="expected=expected([version]) if version else ANY_VERSION,",
        wrong="expected=ANY_VERSION,",
        tests=(f"{_PEOPLE}::test_a_change_of_a_user_changed_meanwhile_is_refused",),
    ),
)
