"""The documentation site: where it is served, and which refusals lead to it."""

from __future__ import annotations

from tests.mistakes.mistake import Mistake

_SITE = "tests/unit/gateway/reference/test_site.py"
_SERVED = (
    "tests/unit/gateway/app/test_assembly_listeners.py"
    "::test_the_site_is_served_and_linked_only_where_docs_are_on"
)
SOURCE = "ADR 0079"
ROWS = (
    Mistake(
        name="site-served-unasked",
        promise="The documentation site is served only where `server.docs` is on.",
        source=SOURCE,
        file="gateway/app/assembly.py",
        right="    if server.docs:\n",
        wrong="    if server.docs or server.panel:\n",
        tests=(_SERVED,),
    ),
    Mistake(
        name="refusal-without-its-page",
        promise="A refusal names the page of its code, where there is one.",
        source=SOURCE,
        file="gateway/http/server.py",
        right="            reply.headers[hdrs.LINK] = link\n",
        wrong="            pass\n",
        tests=(_SERVED,),
    ),
    Mistake(
        name="listener-refusal-without-its-page",
        promise="A refusal of the listener names the page of its code, too.",
        source=SOURCE,
        file="gateway/net/server/refusals.py",
        right="            headers[hdrs.LINK] = link\n",
        wrong="            pass\n",
        tests=(_SERVED,),
    ),
    Mistake(
        name="page-of-a-code-invented",
        promise="A code that has no page has no link.",
        source=SOURCE,
        file="gateway/reference/site.py",
        right=" for code, place in places.items() if place in known}",
        wrong=" for code, place in places.items() if known}",
        tests=(_SITE,),
    ),
)
