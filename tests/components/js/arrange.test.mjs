// The room decides how a workflow is drawn: legible first, whole second, nothing under a card.

import assert from "node:assert/strict";
import { test } from "node:test";

import { arrange } from "../../../components/workflow_graph/assets/arrange.js";
import { inRows } from "../../../components/workflow_graph/assets/rows.js";

const flow = (access) => ({
  prompt: "", steps: access.map((seen, at) => ({ step_id: `s${at + 1}`, worker: "w", instruction: "", access: seen.map((each) => `s${each + 1}`) })),
});
const chain = (n) => flow(Array.from({ length: n }, (_, at) => (at ? [at - 1] : [])));
const all = (n) => flow(Array.from({ length: n }, (_, at) => Array.from({ length: at }, (__, seen) => seen)));
const ROOM = { width: 797, room: 640 };

test("a chain of five beside the inspector lies in rows and is wholly in sight", () => {
  const { layout, view, height } = arrange(chain(5), ROOM);
  assert.equal(layout.direction, "rows");
  assert.ok(new Set(layout.cards.map((each) => each.y)).size === 2);
  assert.ok(view.y + layout.height * view.k <= height && view.x + layout.width * view.k <= ROOM.width);
});

test("words stay 12 px tall whatever is drawn, and the stage leaves room for the page", () => {
  for (const width of [510, 535, 640, 797, 900, 1300]) {
    for (const workflow of [chain(2), chain(3), chain(5), all(5), chain(32), flow([[], [], [0, 1]]), flow([[], [], [], [0, 1, 2], [3]]), flow(Array(32).fill([]))]) {
      const { view, height } = arrange(workflow, { width, room: 640 });
      assert.ok(view.k * 14 >= 12, `${width}: ${view.k}`);
      assert.ok(height <= 640);
    }
  }
});

test("two columns keep their places side by side at every width of a laptop", () => {
  assert.equal(arrange(flow([[], [], [0, 1]]), ROOM).layout.direction, "right");
});

test("an edge of a chain in rows runs under no card and ends at its reader", () => {
  for (const columns of [2, 3, 4]) {
    const layout = inRows(all(9), { columns, card: { width: 240, height: 220 } });
    assert.equal(layout.edges.length, 36);
    const box = new Map(layout.cards.map((each) => [each.step_id, each]));
    for (const { seen, by, points } of layout.edges) {
      const reader = box.get(by), [x, y] = points[points.length - 1];
      assert.ok(x >= reader.x && x <= reader.x + reader.width && y >= reader.y && y <= reader.y + reader.height);
      for (let at = 1; at < points.length; at++) {
        for (const card of layout.cards) assert.ok(!crosses(points[at - 1], points[at], card), `${seen} ${by} under ${card.step_id}`);
      }
    }
  }
});

function crosses([x, y], [endX, endY], card) {
  const [left, right] = [Math.min(x, endX), Math.max(x, endX)], [top, bottom] = [Math.min(y, endY), Math.max(y, endY)];
  return right > card.x && left < card.x + card.width && bottom > card.y && top < card.y + card.height;
}
