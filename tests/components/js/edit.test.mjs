import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "../../../components/workflow_graph/assets/keyboard.js";
import { place } from "../../../components/workflow_graph/assets/layout.js";
import { arrange } from "../../../components/workflow_graph/assets/arrange.js";
import { canMove, criticalPath, refusal, unused } from "../../../components/workflow_graph/assets/topology.js";

const flow = (...access) => ({
  prompt: "?", steps: access.map((seen, at) => ({ step_id: `s${at + 1}`, position: at, instruction: "i", worker: "w", access: seen.map((n) => `s${n}`) })),
});
const diamond = flow([], [1], [1], [2, 3]);

test("a step may see earlier steps only, and each once", () => {
  assert.equal(refusal(diamond, "s1", "s4"), null);
  assert.equal(refusal(diamond, "s2", "s2").key, "refused_self");
  assert.deepEqual(refusal(diamond, "s4", "s2"), { key: "refused_earlier", values: { seen: 4, by: 2 } });
  assert.equal(refusal(diamond, "s2", "s4").key, "refused_already");
});

test("a step moves only past steps it has nothing to do with", () => {
  assert.equal(canMove(diamond, "s3", 1), true);
  assert.equal(canMove(diamond, "s3", 0), false);
  assert.equal(canMove(diamond, "s2", 2), true);
  assert.equal(canMove(diamond, "s2", 3), false);
  assert.equal(canMove(diamond, "s4", 4), false);
});

test("what the answer does not rest on, and the longest chain", () => {
  assert.deepEqual([...unused(flow([], [], [1]))], ["s2"]);
  const path = criticalPath(diamond, new Map([["s1", 1], ["s2", 2], ["s3", 5], ["s4", 1]]));
  assert.deepEqual(path, { path: ["s1", "s3", "s4"], seconds: 7 });
});

test("arrow keys reach every card from every card", () => {
  for (const direction of ["right", "down", "stack"]) {
    for (const workflow of [diamond, flow([], [1], [2], [3], [4]), flow([], [], [], [], [1, 2, 3, 4]), flow([], [], [1], [], [3])]) {
      const boxes = new Map(place(workflow, { direction }).cards.map((box) => [box.step_id, box]));
      for (const start of boxes.keys()) {
        const seen = new Set([start]), waiting = [start];
        while (waiting.length) {
          const id = waiting.pop();
          for (const way of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
            const next = nearest(boxes, id, way);
            if (next && !seen.has(next)) { seen.add(next); waiting.push(next); }
          }
        }
        assert.equal(seen.size, boxes.size, `${direction} from ${start}`);
      }
    }
  }
});

test("one column on narrow pages, exactly as wide as they are; columns of layers on wide ones", () => {
  const narrow = arrange(diamond, { width: 374, room: 600 });
  assert.equal(narrow.layout.direction, "stack");
  assert.ok(narrow.isFixed && narrow.layout.width * narrow.view.k <= 374 && narrow.view.k === 1);
  const wide = arrange(diamond, { width: 1280, room: 640 });
  assert.equal(wide.layout.direction, "right");
  assert.ok(wide.layout.width * wide.view.k <= 1280 && wide.view.k > 0.8);
  assert.equal(arrange(flow([], [1], [2], [3], [4], [5], [6], [7], [8]), { width: 1280, room: 640 }).layout.direction, "rows");
  assert.equal(arrange(diamond, { width: 1280, room: 640, direction: "down" }).layout.direction, "down");
});

test("presenting shows the whole drawing, in the direction that makes it larger", () => {
  for (const workflow of [diamond, flow([], [1], [2], [3], [4], [5], [6], [7], [8]), flow([], [], [], [], [], [], [1, 2, 3, 4, 5, 6])]) {
    const { layout, view, height } = arrange(workflow, { width: 1920, room: 1080, isPresent: true });
    assert.equal(height, 1080);
    assert.ok(view.x >= 0 && view.x + layout.width * view.k <= 1920 && view.y >= 14 && view.y + layout.height * view.k <= 1000);
  }
});

test("a drawing with many steps keeps its cards small enough to survey", () => {
  const many = flow(...Array.from({ length: 60 }, (_, at) => (at % 6 ? [at - (at % 6) + 1] : [])));
  const { isCompact, layout } = arrange(many, { width: 1280, room: 640 });
  assert.equal(isCompact, true);
  assert.ok(layout.cards.every((card) => card.height < 150));
});
