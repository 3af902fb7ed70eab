"""Endpoints: where events go, who may say so, and with what they are signed."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_ADDRESSES = "tests/unit/gateway/endpoints/test_addresses.py"
_SERVICE = "tests/unit/gateway/endpoints/test_service.py"
_STORE = "tests/contract/stores/test_endpoints.py"
_COMPANIES = "tests/unit/gateway/companies/test_service.py"
_PAGE = "docs/events.md"
_ADR = "docs/adr/0074-endpoints-of-partners.md"

ROWS = (
    Mistake(
        name="endpoint-at-a-literal-address",
        promise="An endpoint is a name, and no address of a network.",
        source=_PAGE,
        file="gateway/endpoints/addresses.py",
        right="(?=[a-z]){_LABEL}",
        wrong="{_LABEL}",
        tests=(f"{_ADDRESSES}::test_an_invalid_endpoint_address_is_refused",),
    ),
    Mistake(
        name="endpoint-on-this-machine-in-production",
        promise="This machine, http and other ports are admitted by a setting alone.",
        source=_PAGE,
        file="gateway/endpoints/addresses.py",
        right="or (allow_local and is_local))",
        wrong="or is_local)",
        tests=(f"{_ADDRESSES}::test_this_machine_http_and_other_ports_are_for_trials_alone",),
    ),
    Mistake(
        name="endpoint-on-any-port",
        promise="An endpoint is on port 443 or 8443.",
        source=_PAGE,
        file="gateway/endpoints/addresses.py",
        right='is_https = url.scheme == "https" and port in PORTS',
        wrong='is_https = url.scheme == "https"',
        tests=(f"{_ADDRESSES}::test_this_machine_http_and_other_ports_are_for_trials_alone",),
    ),
    Mistake(
        name="local-endpoints-allowed-in-production",
        promise="Production refuses events.allow_local.",
        source=_PAGE,
        file="gateway/config/checks.py",
        right="    if settings.events.allow_local:\n",
        wrong="    if not settings.events:\n",
        tests=(
            (
                "tests/unit/gateway/config/test_checks.py::"
                "test_errors_only_in_production_are_found_there_only"
            ),
        ),
    ),
    Mistake(
        name="endpoint-added-by-one-person",
        promise="A new endpoint takes two people.",
        source=_ADR,
        file="gateway/endpoints/service.py",
        right="""        waits = second_person(self.wait, who)
        if waits is None:
            return await self._add(who.acting, order)
""",
        wrong="""        waits = second_person(self.wait, who)
        if waits is None or who.person is not None:
            return await self._add(who.acting, order)
""",
        tests=(f"{_SERVICE}::test_one_person_alone_adds_no_endpoint",),
    ),
    Mistake(
        name="endpoint-moved-by-one-person",
        promise="Another address, and other types and accounts, take two people.",
        source=_ADR,
        file="gateway/endpoints/service.py",
        right="""        if waits is None:
            return await self._change(who.acting, order, found)
""",
        wrong="""        if waits is None or order.url != found.url:
            return await self._change(who.acting, order, found)
""",
        tests=(f"{_SERVICE}::test_a_change_waits_and_the_second_person_sees_what_it_replaces",),
    ),
    Mistake(
        name="endpoint-changed-over-another-change",
        promise="An order is void once the endpoint is not as it was when it was given.",
        source=_ADR,
        file="gateway/endpoints/service.py",
        right="        if found is None or not _still_fits(order, found):\n",
        wrong="        if found is None:\n",
        tests=(f"{_SERVICE}::test_an_order_is_void_once_the_endpoint_has_changed",),
    ),
    Mistake(
        name="endpoint-of-another-company",
        promise="Endpoints of companies that a person does not see are not there.",
        source=_PAGE,
        file="gateway/endpoints/store.py",
        right="own = (endpoints.c.id == endpoint_id, *of_company(endpoints.c.company_id, scope))",
        wrong="own = (endpoints.c.id == endpoint_id,)",
        tests=(f"{_SERVICE}::test_endpoints_of_other_companies_are_not_there",),
    ),
    Mistake(
        name="endpoint-told-of-accounts-of-others",
        promise="An endpoint is told of accounts of its company alone.",
        source=_PAGE,
        file="gateway/endpoints/service.py",
        right="if account is None or account.company_id != company_id:",
        wrong="if account is None:",
        tests=((f"{_SERVICE}::test_no_endpoint_is_added_to_another_company_or_its_accounts"),),
    ),
    Mistake(
        name="eleventh-endpoint-of-a-company",
        promise="A company has ten endpoints at most, however many are added at once.",
        source=_PAGE,
        file="gateway/endpoints/store.py",
        right='select(companies.c.id).where(companies.c.id == bindparam("company_id"))'
        ".with_for_update()",
        wrong='select(companies.c.id).where(companies.c.id == bindparam("company_id"))',
        tests=(f"{_STORE}::test_two_that_are_added_at_once_do_not_pass_the_limit",),
    ),
    Mistake(
        name="address-active-that-never-answered",
        promise="An endpoint is active once the address that it has now answered a ping.",
        source=_ADR,
        file="gateway/endpoints/store.py",
        right="    return update(endpoints).where(endpoints.c.id == endpoint.id, "
        "endpoints.c.url == endpoint.url)\n",
        wrong="    return update(endpoints).where(endpoints.c.id == endpoint.id)\n",
        tests=(f"{_STORE}::test_an_answered_ping_activates_the_address_that_was_pinged",),
    ),
    Mistake(
        name="another-address-stays-active",
        promise="Another address has to answer a ping before it is told anything.",
        source=_ADR,
        file="gateway/endpoints/store.py",
        right="else_=EndpointState.PENDING.value),",
        wrong="else_=endpoints.c.state),",
        tests=(f"{_STORE}::test_another_address_has_to_answer_unless_people_paused_it",),
    ),
    Mistake(
        name="former-secret-signs-for-ever",
        promise="A former secret of an endpoint signs for the overlap alone.",
        source=_PAGE,
        file="gateway/endpoints/store.py",
        right="if row.former_secret_ends_at is not None and row.former_secret_ends_at > now:",
        wrong="if row.former_secret_ends_at is not None:",
        tests=(f"{_STORE}::test_a_former_secret_signs_until_its_end",),
    ),
    Mistake(
        name="former-contact-not-told",
        promise="The former contact of a company is told that there is another one.",
        source=_PAGE,
        file="gateway/companies/service.py",
        right="        if found.contact:\n",
        wrong="        if contact and found.contact:\n",
        tests=(f"{_COMPANIES}::test_a_changed_contact_is_mailed_to_the_former_contact",),
    ),
)
