"""What is asked of people on every surface of theirs, and how much they send at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.core.calls import Policy
from policies.authentication.bearer import BearerToken
from policies.authentication.session import BrowserCookie, DeviceCookie, SessionCookie
from policies.authorization.user import RequiresSecondFactor
from policies.traffic.csrf import CsrfToken, Origin, ReadFromOurPage, WriteFromOurPage
from policies.traffic.quota import WithinAddressQuota, WithinPersonQuota

BODY_BYTES: Final = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class UserPolicies:
    """
    What is asked of users on every surface of theirs.

    Attributes:
        factor: Of some roles, before they change something.
        address_quota: Before the caller is known.
        user_quota: Afterwards; the same buckets everywhere, since a user has one.
        origin: The origin of our own pages.
    """

    bearer: BearerToken
    factor: RequiresSecondFactor
    address_quota: WithinAddressQuota
    user_quota: WithinPersonQuota
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelPolicies:
    """
    The policies of cookie gates.

    Attributes:
        users: What is asked of users everywhere. Their quotas come after the checks of
            the origin, so that a foreign page cannot use them up.
    """

    users: UserPolicies
    browser: BrowserCookie
    device: DeviceCookie
    session: SessionCookie

    @property
    def reads(self) -> Sequence[Policy]:
        """The policies of reads by our scripts."""
        return (ReadFromOurPage(origin=self.users.origin, marked=True), self.session)

    @property
    def writes(self) -> Sequence[Policy]:
        """The policies of writes by our scripts."""
        return (WriteFromOurPage(self.users.origin), self.session, CsrfToken())
