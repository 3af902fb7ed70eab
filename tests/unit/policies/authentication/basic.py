"""What several tests of basic share."""

from gateway.core.permissions import EVERY_PERMISSION
from gateway.credentials.model import Credential
from gateway.security.secrets import SecretDigest, SecretDigester, new_client_secret
from tests.world.people import ACCOUNT, CLIENT, COMPANY
from tests.world.standing import NOON

RIGHT, WRONG = (new_client_secret(lambda size, one=one: one * size) for one in (b"r", b"w"))


def credential(digester: SecretDigester) -> Credential:
    key_id, digest = digester.digest(RIGHT)
    return Credential(
        client_id=CLIENT,
        company_id=COMPANY,
        account_id=ACCOUNT,
        name="ERP",
        permissions=frozenset(EVERY_PERMISSION[:2]),
        secrets=(SecretDigest(key_id=key_id, digest=digest, created_at=NOON),),
        created_at=NOON,
    )
