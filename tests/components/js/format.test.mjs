import assert from "node:assert/strict";
import { test } from "node:test";
import { between, dollars, duration, say, sayCount, thousands, ticking, total } from "../../../components/workflow_graph/assets/format.js";
import { addCosts, plain } from "../../../components/workflow_graph/assets/totals.js";
import { brightness } from "../../../components/workflow_graph/assets/style.js";

test("labels take their values, a missing one shows its key", () => {
  const labels = { hello: "Step {n}: {n} of {all}", "token.one": "{n} token", "token.other": "{n} tokens" };
  assert.equal(say(labels, "hello", { n: 2, all: 5 }), "Step 2: 2 of 5");
  assert.equal(say(labels, "nothing"), "nothing");
  assert.equal(say({ odd: "{constructor} {n}" }, "odd", { n: "{n}" }), "{constructor} {n}");
  assert.equal(sayCount(labels, "token", 1), "1 token");
  assert.equal(sayCount(labels, "token", 12345), "12,345 tokens");
});

test("durations read well at every length", () => {
  const said = [0, 0.041, 0.44, 9.94, 12.4, 65, 125, 3599, 7320].map(duration);
  assert.deepEqual(said, ["0 ms", "41 ms", "440 ms", "9.9 s", "12.4 s", "65.0 s", "2 min 05 s", "59 min 59 s", "2 h 02 min"]);
  assert.deepEqual([0.44, 65].map(ticking), ["0.4 s", "65.0 s"]);
  assert.equal(duration(null), null);
});

test("the time between two moments keeps its microseconds", () => {
  assert.equal(between("2026-01-01T00:00:00.100900Z", "2026-01-01T00:00:00.142300Z").toFixed(6), "0.041400");
  assert.equal(between("2026-01-01T00:00:00Z", "2026-01-01T00:00:02.5Z"), 2.5);
  assert.equal(between(null, "2026-01-01T00:00:02.5Z"), null);
});

test("money: zero is $0, unknown is unknown, small sums keep their digits", () => {
  assert.deepEqual(["0", "0E-7", "0.00001", "0.0042", "0.25", "12.5", "1234.5"].map(dollars),
    ["$0", "$0", "$0.000010", "$0.0042", "$0.250", "$12.50", "$1,234.50"]);
  assert.equal(dollars(null), null);
});

test("costs add without rounding", () => {
  assert.deepEqual(addCosts(["0.1", "0.2", "1E-7"]), { usd: "0.3000001", complete: true });
  assert.deepEqual(addCosts(["0.10", null]), { usd: "0.1", complete: false });
  assert.deepEqual([plain("1E-7"), plain("0.50"), plain("0E-7"), plain("12")], ["0.0000001", "0.5", "0", "12"]);
});

test("tokens are unknown as soon as one side is", () => {
  assert.equal(total({ in: 3, out: 4 }), 7);
  assert.equal(total({ in: 3, out: null }), null);
  assert.equal(total(null), null);
  assert.equal(thousands(1234567), "1,234,567");
});

test("light and dark are told apart in every form a theme writes colours in", () => {
  assert.ok(brightness("#fdfcfa") > 0.9 && brightness("#fff") === 1);
  assert.ok(brightness("rgb(20, 23, 27)") < 0.2 && brightness("#14171b") < 0.2);
  assert.equal(brightness("color(display-p3 1 1 1)"), null);
});
