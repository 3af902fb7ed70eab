// Compiled, never run: the types of the generated client must let a right call through, and no other.
import type { components, operations } from "./banking";

type Schemas = components["schemas"];

// The partner guide's own orders, written there by the test.
export const orders: Schemas["PayoutRequest"][] = GUIDE_ORDERS;

export const leastOrder: Schemas["PayoutRequest"] = {
  method: "bank_account",
  reference: "order-1042",
  value: 10.5,
  date: "2026-11-20",
  destination: { tax_number: "52998224725", bank_number: "341", branch: "1", account: "2-3" },
};

// @ts-expect-error: an amount is a number of reais, never minor units
export const centavos: Schemas["PayoutRequest"]["value"] = { centavos: 1050 };

// @ts-expect-error: there are two methods
export const method: Schemas["PayoutRequest"]["method"] = "qrcode";

export function told(payout: Schemas["Payout"]): string {
  return payout.method === "pix" ? payout.destination.key : payout.destination.account;
}

export type Cancelled = operations["banking_payout_cancel"]["responses"][501];

export function code(answer: Cancelled): string {
  return answer.content["application/json"].code;
}
