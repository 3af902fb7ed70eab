// Makes calls with our TypeScript client; its pauses take no time.
// Reads the calls as JSON from standard input, and writes their outcomes to standard output.
import { text } from "node:stream/consumers";

const asked = JSON.parse(await text(process.stdin));
const { Client } = await import(asked.module);
const outcomes = new Array(asked.calls.length);
let next = 0;

async function work() {
  while (next < asked.calls.length) {
    const number = next++;
    outcomes[number] = await outcome(asked.calls[number]);
  }
}

async function outcome({ name, given }) {
  try {
    const found = client()[name](...given);
    return { kind: "answer", answer: name === "events" ? await taken(found) : await found };
  } catch (error) {
    const { status, code, reference, retryAfterS } = error;
    return { kind: error.constructor.name, status, code, reference, retryAfterS, said: String(error) };
  }
}

async function taken(feed) {
  const found = [];
  for await (const event of feed) found.push({ ...event, cursor: feed.cursor });
  return found;
}

/** Make a client whose clock goes on by its pauses alone. */
function client() {
  let passed = 0;
  const sleep = async (milliseconds) => {
    passed += milliseconds;
  };
  return new Client({ ...asked.client, clock: { now: () => passed, sleep, random: () => 0.5 } });
}

await Promise.all(Array.from({ length: asked.at_once }, work));
console.log(JSON.stringify(outcomes));
