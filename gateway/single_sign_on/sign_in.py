"""
Signing in at the identity provider of one's company (OpenID Connect, code flow with PKCE).

The provider says who somebody is, and the mapping what they may do: it is applied at each sign-in.
A user is known by issuer and subject. An address finds an existing user at the first sign-in alone:
of the same company, who may do no more than the mapping gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from gateway.core import errors, strict
from gateway.core.audit import AuditEvent
from gateway.core.errors import ServiceError
from gateway.core.headers import Headers
from gateway.core.rights import Role
from gateway.core.sessions import IssuerSession
from gateway.core.storage import AlreadyExists
from gateway.core.user import User
from gateway.core.user_access import FRESH
from gateway.core.user_errors import NOT_POSSIBLE, SIGN_IN_REFUSED
from gateway.identity.context import IdentityContext
from gateway.identity.mail import Mailer
from gateway.identity.model import Challenge
from gateway.identity.panel_sessions import IssuerProof
from gateway.identity.user_notices import UserNotices
from gateway.single_sign_on.attempts import Attempt, Attempts, end_of
from gateway.single_sign_on.claims import Claims, is_factor_proven, roles_given, text_of
from gateway.single_sign_on.issuers import CodeRefused, Discovery, Issuers, IssuerUnreachable
from gateway.single_sign_on.model import IdentityProvider
from gateway.single_sign_on.signed_tokens import (
    Expected,
    Key,
    TokenRefused,
    key_id_of,
    read_id_token,
    read_logout_token,
    signed_in_at,
)
from gateway.single_sign_on.store import IdentityProviderRecords
from gateway.telemetry.ports import Event, SignOnOutcome

HOME: Final = "/panel"
MOST_NEW: Final = 200
"""
Users whom a provider makes in a day: the first day of a large company.

Security and admins get a mail of each; one that is broken or hostile would fill store and mailbox.
"""
_DAY: Final = timedelta(days=1)
_SCOPES: Final = ("openid", "email", "profile")
_LONGEST: Final = 4_096
"""Characters of what an answer brings."""
_LONGEST_NAME: Final = 200
_ANEW: Final = {"prompt": "login", "max_age": "0"}
"""Sign the person in, whatever session the browser has there, and say when that was."""
_ISSUER: Final = "issuer"
_LOGOUT: Final = "logout"


@dataclass(frozen=True, slots=True)
class Departure:
    """The way to a provider: its address, and the header that gives the attempt's cookie."""

    url: str
    cookie: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAnswer:
    """
    What a browser brings back from a provider.

    Attributes:
        issuer: The ``iss`` of the answer (RFC 9207); empty for none.
        error: A word of the provider's; empty for none.
    """

    company_id: str
    code: str
    state: str
    issuer: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleSignOn:
    """
    Sends browsers to the providers of companies, and takes what they bring back.

    Attributes:
        most_new: Users whom a provider may make in a day.
    """

    records: IdentityProviderRecords
    issuers: Issuers
    attempts: Attempts
    context: IdentityContext
    most_new: int = MOST_NEW

    async def begin(self, hint: str, back: str, *, again: bool = False) -> Departure:
        """
        Begin a sign-in.

        Args:
            hint: The company's short name, or an address of whose domain it is. Whether there is
                such a person is not looked at.
            back: The page of ours that was wanted.
            again: The provider is to sign the person in anew, not by a session that it has.

        Raises:
            ServiceError: NOT_POSSIBLE for no such company; AUTH_UNAVAILABLE while its provider
                does not answer.
        """
        wanted = _hint(hint)
        domain = _domain(wanted)
        provider = await self.records.named(wanted, domain) if wanted else None
        if provider is None:
            raise ServiceError(NOT_POSSIBLE, "sign_on_unknown", field="company")
        found = await self._discovery(provider)
        attempt = self.attempts.begin(provider.company_id, back, HOME, again=again)
        asks = {
            "response_type": "code",
            "client_id": provider.client_id,
            "redirect_uri": self.callback(provider.company_id),
            "scope": " ".join(dict.fromkeys((*_SCOPES, *provider.scopes))),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
            **(_ANEW if again else {}),
        }
        if "@" in wanted:
            asks["login_hint"] = wanted
        mark = "&" if "?" in found.authorization else "?"
        url = f"{found.authorization}{mark}{urlencode(asks)}"
        return Departure(url, self.attempts.given(attempt))

    async def finish(self, answer: ProviderAnswer, headers: Headers) -> tuple[IssuerProof, str]:
        """
        Take what a browser brings back; each answer is taken once.

        Returns:
            What the provider has proven, and the page of ours that was wanted.

        Raises:
            ServiceError: SIGN_IN_REFUSED for an answer that is not in order, or a person to whom
                the mapping gives nothing; AUTH_UNAVAILABLE while the provider does not answer.
        """
        try:
            proof, back = await self._finish(answer, headers)
        except ServiceError as problem:
            if problem.error is SIGN_IN_REFUSED:
                self._count(SignOnOutcome.REFUSED)
                self.context.events.on_security_event("authn_sign_on_refused", "")
            raise
        self._count(SignOnOutcome.PROVEN)
        return proof, back

    async def end(self, company_id: str, token: str) -> None:
        """
        End the sessions that a logout token names (OpenID Connect Back-Channel Logout).

        A token is taken once, which is noted last: a provider repeats one whose call was cut off.
        One of sessions that are over already is no fault.

        Raises:
            ServiceError: NOT_POSSIBLE for a token that is not in order; AUTH_UNAVAILABLE while the
                provider's keys cannot be read.
        """
        provider = await self.records.find(company_id)
        if provider is None:
            raise ServiceError(NOT_POSSIBLE, "logout_token")
        try:
            read = read_logout_token(
                token,
                await self._keys(provider, token),
                Expected(provider.issuer, provider.client_id),
                self.context.now(),
            )
        except TokenRefused as problem:
            self._count(SignOnOutcome.REFUSED)
            raise ServiceError(NOT_POSSIBLE, "logout_token") from problem
        digest = self._digest(_LOGOUT, company_id, read.token_id)
        if await self.context.stores.challenges.find(digest) is not None:
            self._count(SignOnOutcome.REFUSED)
            raise ServiceError(NOT_POSSIBLE, "logout_token")
        named = await self.records.user_of(provider.issuer, read.subject) if read.subject else None
        if read.sid:
            # one that waits for its code has no session yet
            await self.records.void_challenges_of(company_id, read.sid, self.context.now())
            found = await self.records.sessions_of(company_id, read.sid)
            ended = [(one, user) for one, user in found if not read.subject or user == named]
        else:
            ended = [("", named)] if named else []
        for session_id, user_id in ended:
            await self._end(user_id, session_id)
        if ended:
            await self._note_used(digest, ended[0][1], read.ends_at)
        self._count(SignOnOutcome.ENDED)

    def callback(self, company_id: str) -> str:
        """Return where a provider sends browsers back to: one address for each company."""
        return f"{self.context.settings.origin}{HOME}/login/company/{company_id}/callback"

    def logout_address(self, company_id: str) -> str:
        """Return where a provider sends its logout tokens."""
        return f"{self.context.settings.origin}/single-sign-on/{company_id}/logout"

    async def _finish(self, answer: ProviderAnswer, headers: Headers) -> tuple[IssuerProof, str]:
        attempt = self.attempts.read(headers)
        if attempt is None or not attempt.is_answered_by(answer.company_id, answer.state):
            raise _refused()
        provider = await self.records.find(attempt.company_id)
        if provider is None:
            raise _refused()
        found = await self._discovery(provider)
        if answer.issuer != provider.issuer and (answer.issuer or found.names_itself):
            raise _refused()
        if answer.error or not 0 < len(answer.code) <= _LONGEST:
            raise _refused()
        claims = await self._claims(provider, attempt, answer.code)
        # its answer may have taken seconds: a provider that was changed or removed names nobody
        if await self.records.find(attempt.company_id) != provider:
            raise _refused()
        now = self.context.now()
        signed_in = signed_in_at(claims, now)
        if attempt.again and (signed_in is None or now - signed_in > FRESH):
            raise ServiceError(SIGN_IN_REFUSED, "sign_on_not_again")
        roles = roles_given(provider, claims)
        if not roles:
            raise ServiceError(SIGN_IN_REFUSED, "sign_on_no_role")
        user = await self._user(provider, claims, roles)
        await self._use_up(attempt, user)
        by = IssuerSession(provider.company_id, text_of(claims, "sid"))
        proof = IssuerProof(
            user=user,
            by=by,
            is_factor_proven=is_factor_proven(provider, claims),
            signed_in_at=signed_in,
        )
        return proof, attempt.back

    async def _claims(self, provider: IdentityProvider, attempt: Attempt, code: str) -> Claims:
        """Exchange a code, and return the claims of the ID token."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.callback(provider.company_id),
            "code_verifier": attempt.verifier,
        }
        secret = await self.records.secret(provider.company_id)
        client = (provider.client_id, secret)
        try:
            token = await self.issuers.exchange(provider.issuer, client, form)
            return read_id_token(
                token,
                await self._keys(provider, token),
                Expected(provider.issuer, provider.client_id),
                attempt.nonce,
                self.context.now(),
            )
        except IssuerUnreachable as problem:
            raise self._unreachable() from problem
        except (CodeRefused, TokenRefused) as problem:
            raise _refused() from problem

    async def _keys(self, provider: IdentityProvider, token: str) -> Sequence[Key]:
        try:
            return await self.issuers.keys(provider.issuer, key_id_of(token))
        except IssuerUnreachable as problem:
            raise self._unreachable() from problem

    async def _discovery(self, provider: IdentityProvider) -> Discovery:
        try:
            return await self.issuers.discovery(provider.issuer)
        except IssuerUnreachable as problem:
            raise self._unreachable() from problem

    async def _user(
        self, provider: IdentityProvider, claims: Claims, roles: frozenset[Role]
    ) -> User:
        """Return the user of the claims, with the roles of the mapping and no other."""
        subject = text_of(claims, "sub")
        user_id = await self.records.user_of(provider.issuer, subject)
        found = await self.context.stores.users.find(user_id) if user_id else None
        if found is None:
            email = _address(provider, claims)
            found = await self.context.stores.users.find_by_email(email)
            if found is None:
                return await self._new(provider, claims, email, roles)
            is_another = found.issuer == provider.issuer
            if claims.get("email_verified") is not True or is_another or not found.roles <= roles:
                raise _taken()
        if found.companies != {provider.company_id} or found.id in provider.break_glass:
            raise _taken()
        # the company may have given a domain up since
        if _domain(found.email) not in provider.domains:
            raise ServiceError(SIGN_IN_REFUSED, "sign_on_no_email")
        if not found.active:
            raise _refused()
        return await self._given(provider, found, subject, roles)

    async def _new(
        self, provider: IdentityProvider, claims: Claims, email: str, roles: frozenset[Role]
    ) -> User:
        """Create the user of a first sign-in; those who come at once may be a few too many."""
        now = self.context.now()
        if await self.records.new_since(provider, now - _DAY) >= self.most_new:
            raise ServiceError(SIGN_IN_REFUSED, "sign_on_too_many")
        user = User(
            id=self.context.new_id(),
            email=email,
            name=_name(claims) or email,
            roles=roles,
            companies=frozenset([provider.company_id]),
            issuer=provider.issuer,
            subject=text_of(claims, "sub"),
            created_at=now,
            updated_at=now,
        )
        event = self._event("user.created", user, provider, email=email)
        try:
            await self.context.stores.users.add(user, event)
        except AlreadyExists as problem:
            raise _taken() from problem
        notices = UserNotices(Mailer(self.context))
        await notices.tell_of_new(user, provider.label)
        return user

    async def _given(
        self, provider: IdentityProvider, found: User, subject: str, roles: frozenset[Role]
    ) -> User:
        """Give a user the roles of the mapping in place of their own, and note who they are."""
        same = (found.issuer, found.subject, found.roles) == (provider.issuer, subject, roles)
        if same:
            return found

        def update(user: User) -> User:
            if user.companies != found.companies or not user.active:
                raise _refused()
            return replace(user, issuer=provider.issuer, subject=subject, roles=roles)

        def event_of(user: User) -> AuditEvent:
            return self._event("user.roles_changed", user, provider)

        changed = await self.context.change_user(found.id, update, event_of)
        if changed is None:
            raise _refused()
        await self._end(changed.id, "")
        if not changed.roles <= found.roles:
            await UserNotices(Mailer(self.context)).tell_of_more(changed, provider.label)
        return changed

    async def _use_up(self, attempt: Attempt, user: User) -> None:
        """Use a state up, in all processes: the second answer to it is refused."""
        digest = self._digest("state", attempt.state)
        if not await self._note_used(digest, user.id, end_of(attempt, self.context.now())):
            raise _refused()

    async def _note_used(self, digest: bytes, user_id: str, ends_at: datetime) -> bool:
        """Note that something is used up, until its end; False when it was before."""
        now = self.context.now()
        used = Challenge(
            digest=digest, user_id=user_id, created_at=now, ends_at=ends_at, tries=1, used_at=now
        )
        return await self.context.stores.challenges.add_used(used)

    async def _end(self, user_id: str, session_id: str) -> None:
        now, sessions = self.context.now(), self.context.stores.sessions
        subject = f"user:{user_id}"
        if session_id:
            event = self.context.audit_event(
                "system", "session.ended", subject, session=session_id, why=_ISSUER
            )
            await sessions.end(session_id, now, _ISSUER, event)
        else:
            event = self.context.audit_event("system", "sessions.ended", subject, why=_ISSUER)
            await sessions.end_all(user_id, now, _ISSUER, "", event)
        await self.records.void_challenges(user_id, now)

    def _digest(self, *words: str) -> bytes:
        return self.context.crypto.opaque.digest("\n".join(words))

    def _event(self, word: str, user: User, provider: IdentityProvider, **more: str) -> AuditEvent:
        details = {"roles": " ".join(sorted(user.roles)), "issuer": provider.issuer, **more}
        return self.context.audit_event("system", word, f"user:{user.id}", **details)

    def _unreachable(self) -> ServiceError:
        self._count(SignOnOutcome.UNREACHABLE)
        return ServiceError(errors.AUTH_UNAVAILABLE, "issuer_unreachable", {"Retry-After": "10"})

    def _count(self, outcome: SignOnOutcome) -> None:
        self.context.events.on_outcome(Event.SINGLE_SIGN_ON, outcome)


def _address(provider: IdentityProvider, claims: Claims) -> str:
    """Return a person's address, in the company's domains and not called unverified."""
    try:
        email = strict.email(text_of(claims, "email"))
    except ValueError as problem:
        raise ServiceError(SIGN_IN_REFUSED, "sign_on_no_email") from problem
    is_ours = _domain(email) in provider.domains
    if not is_ours or claims.get("email_verified") is False:
        raise ServiceError(SIGN_IN_REFUSED, "sign_on_no_email")
    return email


def _domain(email: str) -> str:
    return email.rpartition("@")[2]


def _hint(typed: str) -> str:
    """Return what somebody typed to find their company; empty for what the store cannot hold."""
    try:
        return strict.plain_text(typed.strip().lower())
    except ValueError:
        return ""


def _name(claims: Claims) -> str:
    try:
        return strict.name(text_of(claims, "name").strip(), _LONGEST_NAME)
    except ValueError:
        return ""


def _refused() -> ServiceError:
    return ServiceError(SIGN_IN_REFUSED, "sign_on_refused")


def _taken() -> ServiceError:
    return ServiceError(SIGN_IN_REFUSED, "sign_on_taken")
