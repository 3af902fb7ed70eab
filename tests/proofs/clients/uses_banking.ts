// Compiled, never run: the types of the generated client must let a right call through, and no other.
import type { components, operations } from "./banking";

type Schemas = components["schemas"];

export const order: Schemas["PayoutRequest"] = {
  method: "pix",
  reference: "order-1042",
  value: 10.5,
  date: "2026-11-20",
  description: "",
  destination: {
    tax_number: "529.982.247-25",
    key_type: "email",
    key: "maria@example.com",
    name: "",
  },
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
