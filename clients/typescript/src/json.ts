/** JSON whose numbers keep every digit, and payout orders as JSON. */

import { amountText } from "./amounts.js";
import type { PayoutRequest } from "./schemas.js";

// A string as it stands, or a number; one with a colon behind it would be a name, which JSON refuses.
const TOKEN =
  /"[^"\\]*(?:\\.[^"\\]*)*"|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)([ \t\r\n]*:)?/g;
const COUNTS = new Set(["page", "limit", "total"]);

/**
 * Read JSON. A number becomes its own text, `1234567.89` is `"1234567.89"`: no binary float rounds it.
 * The counts of a list, `page`, `limit` and `total`, become numbers.
 *
 * @throws SyntaxError The text is no JSON.
 */
export function readJson(text: string): unknown {
  const quoted = text.replace(TOKEN, (token, number?: string, colon?: string) => {
    if (colon !== undefined) throw new SyntaxError("a number is no name");
    return number === undefined ? token : `"${number}"`;
  });
  return JSON.parse(quoted, (name, value: unknown) =>
    typeof value === "string" && COUNTS.has(name) && /^\d+$/.test(value) ? Number(value) : value,
  );
}

/**
 * Write an order. The same order always gives the same text.
 *
 * @throws TypeError The amount is no text, or none in reais with at most two decimals.
 */
export function orderText(order: PayoutRequest): string {
  const { value, ...rest } = order;
  const others = JSON.stringify(rest).slice(1);
  return `{"value":${amountText(value)}${others === "}" ? "" : ","}${others}`;
}
