/** Times of the interface. All are UTC. */

// RFC 3339, and the form of a charge's `created_at` and `expires_at`.
const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?Z)?$/;

/**
 * Return a time of an answer as a `Date`; `undefined` for the empty text of a time that is not yet.
 *
 * @throws TypeError It is no time of the interface.
 */
export function toDate(time: string): Date | undefined {
  if (time === "") return undefined;
  const found = TIME.exec(time);
  if (!found) throw new TypeError("no time of the interface");
  const [, day, minute, rest = ":00Z"] = found;
  return new Date(`${day}T${minute}${rest}`);
}

/** Return the day in UTC, as a payout is dated: from 21:00 on it is the next one in São Paulo. */
export function utcDay(at: Date = new Date()): string {
  return at.toISOString().slice(0, 10);
}
