import assert from "node:assert/strict";
import { test } from "node:test";

import { fromCentavos, toCentavos } from "../dist/amounts.js";
import { orderText, readJson } from "../dist/json.js";
import { toDate, utcDay } from "../dist/times.js";
import { draws } from "./draws.mjs";

const COUNTS = ["page", "limit", "total"];

/** Return a random document twice: as JSON, and as it should be read. */
function made(draw, depth = 0) {
  const blank = () => draw.of(["", "", " ", "\n\t"]);
  switch (draw.below(depth > 3 ? 4 : 6)) {
    case 0: {
      const text = draw.of(["0", "-0", "7", "1234567.89", "-12.50", "5656565656565656", "1e5", "-2.5E-7",
        String(draw.below(1e9)), `${draw.below(1e9)}${draw.below(1e9)}.${draw.below(100)}`]);
      return [text, text];
    }
    case 1: {
      const value = Array.from({ length: draw.below(9) }, () =>
        draw.of(['"', "\\", "1", "2.5", ":", ",", "{", "]", "\n", "é", "\u2028", "💸", "\ud800", "e"]));
      const text = JSON.stringify(value.join(""));
      return [text, JSON.parse(text)];
    }
    case 2: return ["true", true];
    case 3: return ["null", null];
    case 4: {
      const parts = Array.from({ length: draw.below(4) }, () => made(draw, depth + 1));
      return [`[${blank()}${parts.map(([text]) => text + blank()).join(",")}]`, parts.map(([, value]) => value)];
    }
    default: {
      const value = {};
      const texts = [];
      for (const name of new Set(Array.from({ length: draw.below(4) }, () => draw.of(["a", "1", '"', "total", "page"])))) {
        const [text, read] = made(draw, depth + 1);
        texts.push(`${blank()}${JSON.stringify(name)}${blank()}:${blank()}${text}`);
        value[name] = COUNTS.includes(name) && typeof read === "string" && /^\d+$/.test(read) ? Number(read) : read;
      }
      return [`{${texts.join(",")}}`, value];
    }
  }
}

test("numbers are read as their text, everything else as JSON.parse reads it", () => {
  const draw = draws(47);
  for (let each = 0; each < 5_000; each += 1) {
    const [text, value] = made(draw);
    assert.deepEqual(readJson(text), value, text);
  }
});

test("what JSON.parse refuses is refused", () => {
  const draw = draws(48);
  let refused = 0;
  for (let each = 0; each < 20_000; each += 1) {
    const [text] = made(draw);
    const at = draw.below(text.length + 1);
    const spoilt = text.slice(0, at) + draw.of(["", "0", "1", "-", ".", "e", '"', "\\", ":", ",", "{", "]", " ", "\n"]) +
      text.slice(at + draw.below(2));
    let isJson = true;
    try {
      JSON.parse(spoilt);
    } catch {
      isJson = false;
      refused += 1;
    }
    if (isJson) readJson(spoilt);
    else assert.throws(() => readJson(spoilt), SyntaxError, spoilt);
  }
  assert.ok(refused > 5_000);
  for (const text of ["{1:2}", "{1 : 2}", "01", "1.", ".5", "+1", "-", "1e", '"1', "NaN", "[1 2]", "1:", ""]) {
    assert.throws(() => readJson(text), SyntaxError, text);
  }
});

test("amounts and ids of 16 digits keep every digit", () => {
  const text = '{"value":131072.01,"sum":99999999999999999.99,"document_number":9007199254740993,"total":26}';
  const value = { value: "131072.01", sum: "99999999999999999.99", document_number: "9007199254740993", total: 26 };
  assert.deepEqual(readJson(text), value);
});

test("an order is written with exactly two decimals, and in the same bytes each time", () => {
  const order = { method: "pix", reference: 'r"1', value: "1234567.8", description: undefined };
  const text = orderText(order);
  assert.equal(text, '{"value":1234567.80,"method":"pix","reference":"r\\"1"}');
  assert.equal(orderText({ ...order }), text);
  assert.equal(orderText({ value: "10" }), '{"value":10.00}');
});

test("an amount that is no text in reais is refused", () => {
  for (const value of [10.5, 1050n, null, undefined, "", "10,50", "1.005", "1e3", "010", ".5", "5.", " 1", "NaN", "R$ 1"]) {
    assert.throws(() => orderText({ value }), TypeError, String(value));
  }
});

test("centavos and text are each other's inverse", () => {
  const draw = draws(49);
  for (let each = 0; each < 5_000; each += 1) {
    const centavos = BigInt(draw.below(2 ** 31)) * BigInt(draw.below(2 ** 22)) * (draw.below(2) ? 1n : -1n);
    assert.equal(toCentavos(fromCentavos(centavos)), centavos);
  }
  assert.deepEqual([0n, -5n, 1050n].map(fromCentavos), ["0.00", "-0.05", "10.50"]);
});

test("both forms of times are UTC", () => {
  process.env.TZ = "America/Sao_Paulo";
  assert.equal(toDate("2026-11-20T13:40:11Z").toISOString(), "2026-11-20T13:40:11.000Z");
  assert.equal(toDate("2026-11-20 13:40").toISOString(), "2026-11-20T13:40:00.000Z");
  assert.equal(toDate(""), undefined);
  assert.throws(() => toDate("2026-11-20T13:40:11-03:00"), TypeError);
  assert.equal(utcDay(new Date("2026-11-20T23:30:00-03:00")), "2026-11-21");
});
