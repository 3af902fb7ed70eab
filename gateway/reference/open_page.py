"""The API reference without sign-in: Swagger UI over the partners' interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import Template
from typing import Final

from gateway.http.documents import REFERENCE, Page
from gateway.http.panel.pages.represent import HEADERS

PATH: Final = "/docs/api"
DOCUMENT: Final = "/openapi.json"
_STYLES: Final = ("fonts.css", "tokens.css", "panel.css", "swagger-ui.css")


def open_page(static: Callable[[str], str], *, tries: bool) -> Mapping[str, Page]:
    """
    Return the page by its path: the same for everybody, without a cookie.

    Args:
        static: Returns the address of a static file, empty where it is not installed.
        tries: Calls can be sent from the page; for the sandbox alone.
    """
    styles = "".join(
        f'<link rel="stylesheet" href="{found}">' for name in _STYLES if (found := static(name))
    )
    scripts = {"swagger": static("swagger-ui.js"), "try": static("try.js")}
    body = _HTML.substitute(
        document=DOCUMENT,
        styles=styles,
        icon=static("favicon.svg"),
        scripts=_SCRIPTS.substitute(scripts) if all(scripts.values()) else _ABSENT,
        calls="get post delete" if tries else "",
        trying=_TRYING if tries else "",
    )
    return {PATH: Page(REFERENCE, "text/html; charset=utf-8", body.encode(), HEADERS)}


_TRYING: Final = (
    "<p>Calls go to this sandbox, with the credential that you enter under <b>Authorize</b>. "
    "The credential is not stored: it is gone when you leave the page.</p>"
)
_SCRIPTS: Final = Template(
    '<script defer src="$swagger"></script><script type="module" src="$try"></script>'
)
_ABSENT: Final = "<p>The files of Swagger UI are not installed here.</p>"
_HTML: Final = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · pixgate</title>
$styles
<link rel="icon" href="$icon">
</head>
<body>
<main class="main" id="main"><div class="page">
<div class="head"><div><h1>API reference</h1>
<p>The banking interface for partners, as this gateway serves it: <a href="$document">OpenAPI 3.1
document</a>. Each error code has its meaning beside it.</p>
$trying
<p>JavaScript shortens the numbers shown in an answer: <code>"blocked": 0</code> is
<code>"blocked": 0.00</code> as it was sent. The gateway writes two decimals always.</p>
</div></div>
<noscript><p>This page needs JavaScript; the document does not.</p></noscript>
<div id="try" data-document="$document" data-calls="$calls"></div>
$scripts
</div></main>
</body>
</html>
""")
