"""Pages of notifications: the user's own choice, and the chats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.companies.service import Companies
from gateway.core.errors import ServiceError
from gateway.core.user_errors import VALIDATION_FAILED
from gateway.deliveries.model import TryFailure
from gateway.http.panel.pages.kit import CHOICES, PageContext, Pages, part
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit
from gateway.notifications.model import (
    BRIEF,
    NOT_FOR_CHATS,
    ChatFormat,
    Choice,
    Kind,
    NewChat,
    NewSubscription,
)
from gateway.notifications.service import Chats, Notifications
from policies.validation.backoffice.inputs import of_path
from policies.validation.bodies import of_form, read_fields

_CHAT: Final = of_path("chat_id")
_KINDS: Final = tuple(each.value for each in Kind)
_OF_CHATS: Final = tuple(each.value for each in Kind if each not in NOT_FOR_CHATS)
_LONGEST_NAME: Final = 300
_NEVER, _AT_ONCE, _DIGEST = "never", "at_once", "digest"
_TAKEN: Final = "taken"
_OUTCOMES: Final = frozenset({_TAKEN, *(each.value for each in TryFailure)})
_WHEN: Final = (_NEVER, _AT_ONCE, _DIGEST)


def pages(
    notifications: Notifications, chats: Chats, companies: Companies, context: PageContext
) -> Sequence[Page]:
    """Return the pages; every user has the page of their own choice."""
    panel = Pages("", context)

    @panel.view("/me/notifications", "own_notifications", None)
    async def own(visit: Visit) -> Result:
        """Show the caller's choice of notifications and times."""
        who = panel.staff(visit)
        choice = await notifications.choice(who)
        data = {
            "choice": choice,
            "kinds": _KINDS,
            "brief": [each.value for each in BRIEF],
            "browsers": await notifications.browsers(who),
            "push_key": notifications.push_key,
        }
        return Shown(template="notifications/own.html", data=data)

    @panel.form("/me/notifications", "own_notifications_set", None, shows=own)
    async def choose(visit: Visit) -> Result:
        """Store which notifications the user gets, and when."""
        form = visit.form
        chosen = {kind: form[kind] for kind in _KINDS}
        if not {*chosen.values()} <= {*_WHEN}:
            raise ServiceError(VALIDATION_FAILED, "not_one_of", field="when")
        is_quiet = bool(form["quiet"])
        fields = {
            "at_once": [kind for kind, when in chosen.items() if when == _AT_ONCE],
            "digest": [kind for kind, when in chosen.items() if when == _DIGEST],
            "push": list(form.all("push")),
            "quiet_from": form["quiet_from"] if is_quiet else "",
            "quiet_until": form["quiet_until"] if is_quiet else "",
        }
        await notifications.choose(panel.staff(visit), read_fields(Choice, fields))
        return Redirect(f"{HOME}/me/notifications?saved=1")

    @panel.form("/me/push", "push_subscribe", None, shows=own)
    async def subscribe(visit: Visit) -> Result:
        """Send push messages to this browser."""
        wanted = of_form(visit.form, NewSubscription)
        browser = visit.client.user_agent[:_LONGEST_NAME]
        await notifications.subscribe(panel.staff(visit), wanted, browser)
        return Redirect(f"{HOME}/me/notifications")

    @panel.form("/me/push/{subscription_id}/remove", "push_remove", None, shows=own)
    async def unsubscribe(visit: Visit) -> Result:
        """Send no more push messages to a browser."""
        await notifications.unsubscribe(panel.staff(visit), visit.parameter("subscription_id"))
        return Redirect(f"{HOME}/me/notifications")

    @panel.view("/chats", "chats", chats.list)
    async def rooms(visit: Visit) -> Result:
        """List the chats, beside the form of a new chat."""
        who = panel.staff(visit)
        found = await part(companies.page(who, CHOICES))
        listed = found.data.items if found.data else ()
        data = {
            "rooms": await part(chats.list(who)),
            "companies": listed,
            "names": {each.id: each.name for each in listed},
            "kinds": _OF_CHATS,
            "formats": tuple(each.value for each in ChatFormat),
            "may_all": who.scope.everything,
            "tried": visit.query("tried") if visit.query("tried") in _OUTCOMES else "",
        }
        return Shown(template="notifications/chats.html", data=data)

    @panel.form("/chats", "chat_add", chats.add, shows=rooms)
    async def add(visit: Visit) -> Result:
        """Add a chat."""
        form = visit.form
        fields: dict[str, object] = {
            name: form[name] for name in NewChat.__struct_fields__ if form[name]
        }
        fields["kinds"] = list(form.all("kinds"))
        await chats.add(panel.staff(visit), read_fields(NewChat, fields))
        return Redirect(f"{HOME}/chats")

    @panel.form("/chats/{chat_id}/try", "chat_try", chats.send_test, shows=rooms)
    async def send_test(visit: Visit) -> Result:
        """Send a test message to a chat."""
        found = await chats.send_test(panel.staff(visit), _CHAT.read(visit.call.asked))
        return Redirect(f"{HOME}/chats?tried={found.failure.value or _TAKEN}")

    @panel.form("/chats/{chat_id}/remove", "chat_remove", chats.remove, shows=rooms)
    async def remove(visit: Visit) -> Result:
        """Remove a chat."""
        await chats.remove(panel.staff(visit), _CHAT.read(visit.call.asked))
        return Redirect(f"{HOME}/chats")

    return panel.pages
