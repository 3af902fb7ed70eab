"""Single sign-on over a real store, and a provider on a real socket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from multidict import CIMultiDict

from gateway.app.build_identity import build_sign_on
from gateway.core.access import Staff
from gateway.core.approvals import Approval
from gateway.core.audit_context import AuditContext
from gateway.core.headers import Headers
from gateway.core.sessions import IssuerSession
from gateway.core.user import User
from gateway.identity.panel_sessions import IssuerProof
from gateway.identity.sessions import SignedIn
from gateway.identity.sign_in import SecondFactorRequired
from gateway.single_sign_on.model import IdentityProvider
from gateway.single_sign_on.service import IdentityProviders
from gateway.single_sign_on.sign_in import Departure, ProviderAnswer, SingleSignOn
from tests.world.identity import HOME, IdentityWorld
from tests.world.issuer import Issuer, wanted_of
from tests.world.stores import samples

COMPANY = samples.company().id


@dataclass(slots=True, kw_only=True)
class SignOnWorld:
    """
    A company with a provider.

    Attributes:
        told: The cookie of each departure, by its state.
    """

    identity: IdentityWorld
    issuer: Issuer
    sign_on: SingleSignOn
    providers: IdentityProviders
    cookies: dict[str, str] = field(default_factory=dict)

    @property
    def staff(self) -> Staff:
        return Staff(AuditContext("cli:maria", self.identity.clock.now))

    async def set(self, **changed: object) -> IdentityProvider:
        made = await self.providers.set(self.staff, COMPANY, wanted_of(self.issuer, **changed))
        assert not isinstance(made, Approval)
        return made

    async def leave(
        self, hint: str = "loja", *, again: bool = False
    ) -> tuple[Departure, dict[str, str]]:
        """Go to the provider and sign in there; return what comes back."""
        departure = await self.sign_on.begin(hint, "/panel/payouts", again=again)
        return departure, self.issuer.answer(departure.url)

    async def prove(
        self, back: Mapping[str, str], cookie: str, company_id: str = COMPANY
    ) -> IssuerProof:
        answer = ProviderAnswer(
            company_id=company_id,
            code=back.get("code", ""),
            state=back.get("state", ""),
            issuer=back.get("iss", ""),
            error=back.get("error", ""),
        )
        proof, _ = await self.sign_on.finish(answer, headers_of(cookie))
        return proof

    async def proof(self, *, again: bool = False) -> IssuerProof:
        departure, back = await self.leave(again=again)
        return await self.prove(back, departure.cookie)

    async def sign_in(self, *, again: bool = False) -> SignedIn | SecondFactorRequired:
        return await self.enter(await self.proof(again=again))

    async def enter(self, proof: IssuerProof) -> SignedIn | SecondFactorRequired:
        return await self.identity.services.sign_in.by_issuer(
            proof.user,
            proof.by,
            HOME,
            is_factor_proven=proof.is_factor_proven,
            signed_in_at=proof.signed_in_at,
        )

    async def found(self, user: User) -> User:
        found = await self.identity.context.stores.users.find(user.id)
        assert found is not None
        return found


def headers_of(cookie: str) -> Headers:
    """Return the headers of a browser with a cookie, as ``Set-Cookie`` gave it."""
    return CIMultiDict({"Cookie": cookie.partition(";")[0]})


def by(sid: str = "sid-1") -> IssuerSession:
    return IssuerSession(COMPANY, sid)


def world_of(identity: IdentityWorld, issuer: Issuer) -> SignOnWorld:
    sign_on = build_sign_on(identity.kernel, identity.services)
    providers = IdentityProviders(
        database=identity.store.database,
        records=sign_on.records,
        context=identity.context,
        allow_local=True,
    )
    return SignOnWorld(identity=identity, issuer=issuer, sign_on=sign_on, providers=providers)
