"""Partners' credentials: their secrets and limits, and the orders about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final, Literal, NotRequired, TypedDict, cast

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from gateway.core import fields
from gateway.core.access import Staff
from gateway.core.caller_rules import (
    ANYWHERE,
    UNDECIDED,
    CallerRule,
)
from gateway.core.fields import meaning
from gateway.core.money import MAX_CENTAVOS, Money, Sum
from gateway.core.night import Night
from gateway.core.permissions import (
    EVERY_PERMISSION,
    UNLIMITED,
    Action,
    CredentialLimits,
    Permission,
    Principal,
    Resource,
)
from gateway.core.public_keys import PublicKey
from gateway.core.schemas import Instant, Moment, Name, OptionalMoment, Text, instant
from gateway.core.versions import entity_tag
from gateway.core.windows import Paging
from gateway.security.secrets import SecretDigest

DEFAULT_OVERLAP: Final = timedelta(hours=24)
"""A day for a partner to roll the new secret out."""
LONGEST_OVERLAP: Final = timedelta(days=30)
"""At most a month with two secrets in use."""
EXPIRES_SOON: Final = timedelta(days=30)
"""Long enough to give a partner's people a new secret before the old one ends."""
LONG_UNUSED: Final = timedelta(days=90)
"""A quarter: what runs once a month has run by then."""
LEARNT: Final = timedelta(days=30)
"""Days before today whose payouts a daily limit is proposed from; a month has its salary day."""
TIMES_MEDIAN: Final = 3
"""A busy day is within three usual ones; a thief's is not."""
PAYS: Final = Permission(Resource.WITHDRAW, Action.WRITE)
"""What a credential needs to pay out."""

State = Literal["live", "expired", "revoked"]
Care = Literal["", "no_caller_rule", "expires_soon", "pays_unused", "no_limits", "wide_for_ever"]


class CredentialState(StrEnum):
    """Whether a credential still opens anything; ``care`` is live and asks for a look."""

    LIVE = "live"
    ENDED = "ended"
    CARE = "care"


CredentialName = Annotated[str, meaning("Name, as people know it.", "Loja online")]


class CredentialDocument(TypedDict):
    """A credential, never a secret or a digest; a limit that is absent does not limit."""

    client_id: fields.ClientId
    name: CredentialName
    state: Annotated[State, meaning("The state that it is in.")]
    company_id: fields.CompanyId
    account_id: fields.AccountId
    permissions: fields.Permissions
    live_secrets: Annotated[int, meaning("Secrets that work now: two while one is rotated.")]
    created_at: Instant
    expires_at: Instant
    revoked_at: Instant
    last_used_at: Instant
    care: Annotated[Care, meaning("Why a live one asks for a look; empty for none.")]
    callers: Annotated[CallerRule, meaning("Where it may be used.")]
    public_keys: Annotated[
        Sequence[PublicKey],
        meaning("Public keys, one of which signs each payout; empty for payouts without."),
    ]
    limit_per_payout: NotRequired[Sum]
    limit_per_day: NotRequired[Sum]
    limit_per_payout_at_night: NotRequired[Sum]
    limit_per_night: NotRequired[Sum]


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """
    A partner's credential as stored.

    Attributes:
        account_id: The one account it may act on; None for every account of
            the company (contract 5.1).
        secrets: The current secret first, then at most one rotated away.
        rules_changed_at: The last change of where it may be used or of its public keys.
        principal: Who is calling with it; made once, for all requests.
    """

    client_id: str
    company_id: str
    account_id: str | None
    name: str
    permissions: frozenset[Permission]
    secrets: tuple[SecretDigest, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    limits: CredentialLimits = UNLIMITED
    callers: CallerRule = ANYWHERE
    public_keys: tuple[PublicKey, ...] = ()
    rules_changed_at: datetime | None = None
    principal: Principal = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        is_open = not self.callers.is_decided and not pays(self.permissions)
        principal = Principal(
            client_id=self.client_id,
            company_id=self.company_id,
            account_id=self.account_id,
            permissions=self.permissions,
            limits=self.limits,
            callers=ANYWHERE if is_open else self.callers,
            public_keys=self.public_keys,
        )
        object.__setattr__(self, "principal", principal)

    def state(self, now: datetime) -> State:
        """Return the state at an instant."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "live"

    def care(self, now: datetime) -> Care:
        """Return the most urgent reason for attention; empty without one, or if it has ended."""
        if self.state(now) != "live":
            return ""
        if not self.principal.callers.is_decided:
            return "no_caller_rule"
        if self.expires_at is not None and self.expires_at <= now + EXPIRES_SOON:
            return "expires_soon"
        since = self.last_used_at or self.created_at
        if since <= now - LONG_UNUSED and pays(self.permissions):
            return "pays_unused"
        if pays(self.permissions) and not self.limits.is_complete:
            return "no_limits"
        return "wide_for_ever" if self.expires_at is None and self.account_id is None else ""

    def has_history(self, now: datetime) -> bool:
        """Return whether it may pay out, and is old enough that a daily limit can be proposed."""
        return pays(self.permissions) and self.created_at <= now - LEARNT

    @property
    def secret_made_at(self) -> datetime:
        """When the current secret was made."""
        return self.secrets[0].created_at

    @property
    def key_ids(self) -> frozenset[str]:
        """Ids of the public keys."""
        return frozenset(each.key_id for each in self.public_keys)

    @property
    def last_used_at(self) -> datetime | None:
        """Time of the last use of any of its secrets."""
        used = [each.last_used_at for each in self.secrets if each.last_used_at is not None]
        return max(used, default=None)

    def has_secret_since(self, at: datetime, now: datetime) -> bool:
        """Return whether a secret that was there at an earlier instant is valid still."""
        return any(
            each.created_at <= at and (each.expires_at is None or each.expires_at > now)
            for each in self.secrets
        )

    def live_secrets(self, now: datetime) -> int:
        """Count the valid secrets."""
        live = [1 for each in self.secrets if each.expires_at is None or each.expires_at > now]
        return len(live) if self.state(now) == "live" else 0

    def version(self) -> str:
        """Return the entity tag; the time of last use does not count."""
        return entity_tag(
            *("credential", self.client_id, self.name, repr(self.limits), repr(self.callers)),
            *(str(self.expires_at), str(self.revoked_at)),
            *sorted(map(str, self.permissions)),
            *(each.key_id for each in self.public_keys),
            *(f"{each.digest.hex()} {each.expires_at}" for each in self.secrets),
        )

    def to_document(self, reader: Staff) -> CredentialDocument:
        """Return the document, without digests."""
        now = reader.acting.now()
        shown: CredentialDocument = {
            "client_id": self.client_id,
            "name": self.name,
            "state": self.state(now),
            "company_id": self.company_id,
            "account_id": self.account_id or "",
            "permissions": words(self.permissions),
            "live_secrets": self.live_secrets(now),
            "created_at": instant(self.created_at),
            "expires_at": instant(self.expires_at),
            "revoked_at": instant(self.revoked_at),
            "last_used_at": instant(self.last_used_at),
            "care": self.care(now),
            "callers": self.callers,
            "public_keys": self.public_keys,
        }
        return cast("CredentialDocument", shown | shown_limits(self.limits))


def pays(permissions: frozenset[Permission]) -> bool:
    """Return whether a credential with these permissions can pay out."""
    return any(each.covers(PAYS) for each in permissions)


def words(permissions: frozenset[Permission]) -> list[str]:
    """Write permissions as the contract does, sorted."""
    return sorted(map(str, permissions))


def shown_limits(limits: CredentialLimits) -> dict[str, Money]:
    """Return the limits there are, by their name in documents."""
    given = {f"limit_{name}": each for name, each in asdict(limits).items()}
    return {name: each for name, each in given.items() if each is not None}


class SeenAddress(Struct, frozen=True, kw_only=True):
    """An address that showed the right secret of a credential."""

    address: fields.IpAddress
    first_used_at: Annotated[Moment, meaning("When it was first used from there.")]
    last_used_at: Annotated[Moment, meaning("When it was last used from there.")]
    refused_at: Annotated[
        OptionalMoment, meaning("When the rule last refused a use from there; empty for never.")
    ]


class SecretDocument(TypedDict):
    """A secret; it is shown only this once."""

    client_id: fields.ClientId
    client_secret: Annotated[
        str, meaning("The secret, in this answer alone.", "gws_the-secret-is-shown-this-once")
    ]
    name: CredentialName
    company_id: fields.CompanyId
    account_id: fields.AccountId
    permissions: fields.Permissions
    expires_at: Instant
    old_secret_ends_at: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """
    A new secret; it is shown once and stored nowhere.

    Attributes:
        old_ends: When the secret before it ends, after a rotation.
    """

    credential: Credential
    client_secret: str = field(repr=False)
    old_ends: datetime | None = None

    def to_document(self, _reader: Staff) -> SecretDocument:
        """Return the document with the secret."""
        made = self.credential
        return {
            "client_id": made.client_id,
            "client_secret": self.client_secret,
            "name": made.name,
            "company_id": made.company_id,
            "account_id": made.account_id or "",
            "permissions": words(made.permissions),
            "expires_at": instant(made.expires_at),
            "old_secret_ends_at": instant(self.old_ends),
        }


class CredentialCountsDocument(TypedDict):
    """How many there are of each state; those that ask for a look are live."""

    live: Annotated[int, meaning("Credentials that work.")]
    care: Annotated[
        int,
        meaning("Credentials to look at: about to expire, able to pay but unused, or too wide."),
    ]
    ended: Annotated[int, meaning("Expired and revoked credentials.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialSearch:
    """
    Search parameters of credentials; None matches any.

    Attributes:
        text: In the name, or how the client id begins.
    """

    paging: Paging
    company_id: str | None = None
    state: CredentialState | None = None
    text: str | None = None


_WORDS: Final = "|".join(map(str, EVERY_PERMISSION))
PermissionWord = Annotated[str, Meta(pattern=f"^({_WORDS})$", examples=["balance:read"])]


class LimitsBody(Struct):
    """
    A credential's payout limits, in reais; absent fields do not limit.

    In production one that may pay out wants a limit of a payout and of a day, or ``unlimited``.
    """

    limit_per_payout: Annotated[
        Money | None, meaning("Reais that one payout may have; absent for no limit.")
    ] = None
    limit_per_day: Annotated[
        Money | None, meaning("Reais that may be paid out in a UTC day; absent for no limit.")
    ] = None
    limit_per_payout_at_night: Annotated[
        Money | None,
        meaning("Reais that one payout may have at night; absent for the gateway's default."),
    ] = None
    limit_per_night: Annotated[
        Money | None,
        meaning("Reais that may be paid out in a night; absent for the gateway's default."),
    ] = None
    unlimited: Annotated[
        bool,
        meaning("Whether a payout, or a day, is to have no limit; said where it has none."),
    ] = False

    def limits(self) -> CredentialLimits:
        """Return the limits of payouts as one struct."""
        names = CredentialLimits.__struct_fields__
        return CredentialLimits(**{name: getattr(self, f"limit_{name}") for name in names})


class CredentialBody(LimitsBody, kw_only=True):
    """A new credential, for one account or for every account of a company."""

    name: Annotated[Name, meaning("Name, as people know it.", "Loja online")]
    company_id: Annotated[
        Text, meaning("The company that owns it, a UUID; empty where there is none.", fields.ID)
    ] = ""
    account_id: Annotated[
        Text | None, meaning("The account, a UUID; empty where there is none.", fields.ID)
    ] = None
    permissions: Annotated[
        list[PermissionWord], meaning("What it may do, such as `balance:read`.")
    ] = []
    expires_at: Annotated[datetime | None, meaning("When it expires; left out, never.")] = None
    callers: Annotated[
        CallerRule, meaning("Where it may be used; in production one that pays needs a rule.")
    ] = UNDECIDED


class RotationBody(Struct):
    """How long the old secret stays valid; 0 ends it at once."""

    overlap_s: Annotated[int, meaning("Seconds.", ge=0, le=30 * 86400)] = int(
        DEFAULT_OVERLAP.total_seconds()
    )


class LimitProposal(Struct, frozen=True, kw_only=True):
    """
    A daily limit proposed from a credential's payouts in the 30 UTC days before today.

    Nothing is proposed for a credential that is younger, or paid nothing.
    """

    days: Annotated[int, meaning("Days with payouts that count against a limit.")]
    median_day: Annotated[
        Sum | UnsetType, meaning("Median of these days' sums, in reais; absent for no day.")
    ] = UNSET
    limit_per_day: Annotated[
        Money | UnsetType,
        meaning("Reais proposed as the daily limit: three times the median day."),
    ] = UNSET


def propose(sums: Sequence[int]) -> LimitProposal:
    """Propose a daily limit from the sums of days with payouts, in centavos."""
    if not sums:
        return LimitProposal(days=0)
    ordered, count = sorted(sums), len(sums)
    twice = ordered[(count - 1) // 2] + ordered[count // 2]
    return LimitProposal(
        days=count,
        median_day=Sum(twice // 2),
        limit_per_day=Money(min(twice * TIMES_MEDIAN // 2, MAX_CENTAVOS)),
    )


class CredentialIssue(Struct, frozen=True, kw_only=True, tag="credential_issue"):
    """An order of a credential; permissions as they are written."""

    name: str
    company_id: str
    account_id: str | None = None
    permissions: list[str]
    expires_at: datetime | None = None
    limits: CredentialLimits
    callers: CallerRule = UNDECIDED


class CredentialRotation(Struct, frozen=True, kw_only=True, tag="credential_rotation"):
    """
    An order of a second secret; the previous one works for this many more seconds.

    Attributes:
        secret_made_at: When the secret that it replaces was made.
    """

    client_id: str
    name: str
    overlap_s: int
    secret_made_at: datetime

    def still_fits(self, found: Credential) -> bool:
        """Return whether the current secret is still the secret to replace."""
        return found.secret_made_at == self.secret_made_at


class LimitsChange(Struct, frozen=True, kw_only=True, tag="credential_limits"):
    """
    An order of other limits of a credential.

    Attributes:
        limits_before: Those in force when it is ordered, by night the gateway's own included.
    """

    client_id: str
    name: str
    limits: CredentialLimits
    limits_before: CredentialLimits

    def still_fits(self, found: Credential, night: Night) -> bool:
        """Return whether the limits in force are the former or the ordered ones."""
        return night.limits(found.limits) in (self.limits_before, night.limits(self.limits))


class CallersChange(Struct, frozen=True, kw_only=True, tag="credential_callers"):
    """
    An order of another rule of where a credential may be used.

    Attributes:
        callers_before: The rule when it is ordered.
    """

    client_id: str
    name: str
    callers: CallerRule
    callers_before: CallerRule

    def still_fits(self, found: Credential) -> bool:
        """Return whether the rule is the former or the ordered one."""
        return found.callers in (self.callers_before, self.callers)


class PublicKeyBody(Struct):
    """A public key of a partner."""

    public_key: Annotated[
        str,
        meaning(
            "An Ed25519 public key in PEM, or the one line between the two of PEM.",
            "MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=",
            max_length=1024,
        ),
    ]


class KeyChange(Struct, frozen=True, kw_only=True, tag="credential_key"):
    """
    An order of one more public key of a credential, or of the end of its last one.

    Attributes:
        added: None where the key is removed.
        keys_before: Ids of the keys when it is ordered.
    """

    client_id: str
    name: str
    key_id: str
    added: PublicKey | None = None
    keys_before: frozenset[str]

    @property
    def keys(self) -> frozenset[str]:
        """Ids of the keys that it leaves."""
        key = {self.key_id}
        return self.keys_before - key if self.added is None else self.keys_before | key

    def still_fits(self, found: Credential) -> bool:
        """Return whether the keys are the former or the ordered ones."""
        return found.key_ids in (self.keys_before, self.keys)


CredentialChange = CredentialRotation | LimitsChange | CallersChange
"""
An order about a credential that exists.

It is void once that is no longer what the order was compared with: else an order that waits would
undo what people did against a theft meanwhile.
"""
CredentialOrder = CredentialIssue | CredentialChange
"""An order about a credential, stored as JSON while it waits; it holds no secret."""
