// A long chain, laid like text: in rows from left to right. One layer holds one step, so columns would make it
// wider than any page, and one column taller. Edges go through the gaps, never under a card. Pure: no DOM.

import { PILL } from "./layout.js";
import { depths } from "./topology.js";

export const COLUMN_GAP = 52, ROW_GAP = 64;
const PILL_GAP = 30, LANE = 9, FIRST_LANE = 16, PORT = 18;

/** Whether each step waits for the one before it. */
export const isChain = (workflow) => {
  const depth = depths(workflow);
  return workflow.steps.length > 1 && workflow.steps.every((step, at) => depth.get(step.step_id) === at);
};

/** A chain in rows of `columns` cards. The same shape as `place` gives, direction "rows". */
export function inRows(workflow, { columns, card, pill = PILL }) {
  const { steps } = workflow;
  const top = pill.height + PILL_GAP, pitch = [card.width + COLUMN_GAP, card.height + ROW_GAP];
  const spot = new Map(steps.map((step, at) => [step.step_id, { at, column: at % columns, row: Math.floor(at / columns) }]));
  const cards = steps.map((step) => {
    const { column, row } = spot.get(step.step_id);
    return { step_id: step.step_id, x: column * pitch[0], y: top + row * pitch[1], ...card };
  });
  const box = new Map(cards.map((each) => [each.step_id, each]));
  const edges = steps.flatMap((step) => step.access.map((seen) => (
    { seen, by: step.step_id, points: route(spot, box, seen, step, card) })));
  const last = cards[cards.length - 1], rows = Math.ceil(steps.length / columns);
  const bottom = top + rows * pitch[1] - ROW_GAP, middle = (each) => each.x + each.width / 2;
  const first = cards[0];
  return {
    direction: "rows", width: Math.min(columns, steps.length) * pitch[0] - COLUMN_GAP, height: bottom + PILL_GAP + pill.height, cards, edges,
    prompt: { step_id: null, x: middle(first) - pill.width / 2, y: 0, ...pill },
    answer: { step_id: null, x: middle(last) - pill.width / 2, y: bottom + PILL_GAP, ...pill },
    starts: [{ seen: null, by: first.step_id, points: [[middle(first), pill.height], [middle(first), top]] }],
    end: { seen: last.step_id, by: null, points: [[middle(last), last.y + card.height], [middle(last), bottom + PILL_GAP]] },
  };
}

/** To the neighbour straight; else down out of the seen card, along the gap under it and into the reader's top. */
function route(spot, box, seen, step, card) {
  const from = spot.get(seen), to = spot.get(step.step_id), source = box.get(seen), target = box.get(step.step_id);
  const height = card.height, middle = source.y + height / 2;
  if (from.row === to.row && from.column + 1 === to.column) return [[source.x + card.width, middle], [target.x, middle]];
  const lane = FIRST_LANE + LANE * (from.column % 5), under = source.y + height + lane;
  const out = source.x + card.width / 2, enters = target.x + card.width / 2 + Math.min(PORT, (card.width - 48) / step.access.length) * entry(step, seen);
  const below = enters - card.width / 4; // beside the line to the answer, which leaves at the middle
  if (from.row === to.row) return [[out, source.y + height], [out, under], [below, under], [below, target.y + height]];
  if (from.row + 1 === to.row) return [[out, source.y + height], [out, under], [enters, under], [enters, target.y]];
  const beside = target.x - 12 - LANE * (from.at % 4), over = target.y - ROW_GAP + lane;
  return [[out, source.y + height], [out, under], [beside, under], [beside, over], [enters, over], [enters, target.y]];
}

/** Which of a reader's places an edge takes: -1, 0, 1, … around the middle. */
const entry = ({ access }, seen) => access.indexOf(seen) - (access.length - 1) / 2;
