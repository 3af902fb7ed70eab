/** Amounts: text in reais for the wire, whole centavos as `bigint` for sums. Never a `number`. */

const AMOUNT = /^(-?)(0|[1-9]\d*)(?:\.(\d{1,2}))?$/;

/**
 * Return an amount with exactly two decimals, as it is sent.
 *
 * @throws TypeError It is no text, or none such as `"10.50"`.
 */
export function amountText(amount: string): string {
  return fromCentavos(toCentavos(amount));
}

/**
 * Return the whole centavos of an amount in reais.
 *
 * @throws TypeError It is no text, or none such as `"10.50"`.
 */
export function toCentavos(amount: string): bigint {
  const found = typeof amount === "string" ? AMOUNT.exec(amount) : null;
  if (!found) throw new TypeError('an amount is a text in reais, such as "10.50", never a number');
  const [, sign, reais, decimals = ""] = found;
  return BigInt(`${reais}${decimals.padEnd(2, "0")}`) * (sign ? -1n : 1n);
}

/** Write whole centavos in reais, `1050n` as `"10.50"`. */
export function fromCentavos(centavos: bigint): string {
  const digits = (centavos < 0n ? -centavos : centavos).toString().padStart(3, "0");
  return `${centavos < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
