
// Behind the examples of the client's README: what they take for granted, and the end of them.
declare const process: {
  env: Record<string, string | undefined>;
  once(signal: string, then: () => void): void;
};

const secret = { name: "HMAC", hash: "SHA-256" };
const key = await crypto.subtle.importKey("raw", new TextEncoder().encode("secret"), secret, false, ["sign"]);
const body = '{"type":"payout.paid","timestamp":"2026-11-20T13:40:11Z","data":{}}';
const at = String(Math.floor(Date.now() / 1_000));
const mac = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`evt_1.${at}.${body}`));
const signature = `v1,${btoa(String.fromCharCode(...new Uint8Array(mac)))}`;
const headers = { "webhook-id": "evt_1", "webhook-timestamp": at, "webhook-signature": signature };
for (const each of [body, `${body} `]) {
  const answer = await receive(new Request("http://receiver.invalid", { method: "POST", headers, body: each }));
  console.log(answer.status);
}
