import assert from "node:assert/strict";
import { test } from "node:test";
import { Growing, KEPT, count, cut, head, tail } from "../../../components/workflow_graph/assets/text.js";

const ODD = "a😀é漢\u{1F469}\u200D\u{1F52C}𝒳z";

test("counts, heads and tails are in code points and never split a pair", () => {
  assert.equal(count(ODD), Array.from(ODD).length);
  for (let n = 1; n <= Array.from(ODD).length; n++) {
    assert.equal(head(ODD.repeat(60), n), Array.from(ODD).slice(0, n).join(""));
    assert.equal(tail(ODD.repeat(60), n), Array.from(ODD).slice(-n).join(""));
  }
  assert.equal(count("\ud800x\udc00"), 3);
});

test("a text of 20 million characters is kept by its ends, quickly", () => {
  const text = "x".repeat(20_000_000) + "😀";
  const start = performance.now();
  assert.deepEqual(cut(text), { head: "x".repeat(KEPT), tail: "x".repeat(KEPT - 1) + "😀", chars: 20_000_001 });
  assert.ok(performance.now() - start < 1500);
});

/** Cuts a text into frames of random sizes; offsets count code points. */
function frames(text, seed) {
  const units = Array.from(text), made = [];
  for (let at = 0; at < units.length;) {
    const size = 1 + ((seed = (seed * 48271) % 2147483647) % 9);
    made.push([at, units.slice(at, at + size).join("")]);
    at += size;
  }
  return made;
}

const shown = ({ head, tail, chars }) => ({ head, tail, chars });

test("frames in order give the text, whatever it is made of", () => {
  for (const text of [ODD, ODD.repeat(200), "plain ".repeat(300)]) {
    const grown = new Growing();
    for (const [offset, piece] of frames(text, 7)) assert.equal(grown.add(offset, piece), true);
    assert.deepEqual(shown(grown), cut(text));
  }
});

test("repeated and overlapping frames change nothing, a gap is told, a whole text mends it", () => {
  const text = ODD.repeat(120), units = Array.from(text), part = (from, to) => units.slice(from, to).join("");
  const grown = new Growing();
  assert.equal(grown.add(0, part(0, 300)), true);
  assert.equal(grown.add(0, part(0, 200)), true, "an older copy");
  assert.equal(grown.add(100, part(100, 300)), true, "all of it known");
  assert.equal(grown.add(290, part(290, 500)), true, "overlap");
  assert.deepEqual(shown(grown), cut(part(0, 500)));
  assert.equal(grown.add(600, part(600, 700)), false, "a gap");
  assert.deepEqual(shown(grown), cut(part(0, 500)));
  assert.equal(grown.add(0, part(0, 800)), true, "the whole text so far");
  assert.deepEqual(shown(grown), cut(part(0, 800)));
});
