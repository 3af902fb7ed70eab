// An identity provider: oidc-provider (npm), with one client, and a new signing key at each start.
// Its argument is a JSON document: port, client, secret, redirect, logout, claims by account.
import { generateKeyPairSync } from "node:crypto";
import { Provider } from "oidc-provider";

const wanted = JSON.parse(process.argv[2]);
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const key = { ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256", kid: `${Date.now()}` };

const provider = new Provider(`http://127.0.0.1:${wanted.port}`, {
  jwks: { keys: [key] },
  clients: [
    {
      client_id: wanted.client,
      client_secret: wanted.secret,
      redirect_uris: [wanted.redirect],
      backchannel_logout_uri: wanted.logout,
      backchannel_logout_session_required: true,
    },
  ],
  cookies: { keys: ["of a test alone"] },
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
  scopes: ["openid", "offline_access", "groups"],
  conformIdTokenClaims: false,
  features: { backchannelLogout: { enabled: true }, devInteractions: { enabled: true } },
  // Its own way refuses this machine's addresses, and the gateway is here.
  fetch: (url, { dispatcher, ...options }) => fetch(url, options),
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({ sub: id, ...wanted.accounts[id] }),
  }),
});
provider.listen(wanted.port, "127.0.0.1", () => console.log("listening"));
