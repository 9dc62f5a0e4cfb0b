// Where each card and edge goes. Twin of conductor_client/layout.py, figure for figure (a test compares
// them): read the reasons there. Pure: no DOM.

import { bent } from "./bends.js";
import { align, bendKey, build, order } from "./layering.js";
import { depths } from "./topology.js";

export const LAYER_GAP = 52, END_GAP = 34, STACK_GAP = 36;
const PART_GAP = 44, LANE = 14, LEAST_LANE = 5, MOST_GUTTER = 112, GUTTER = 18, PORT_STEP = 16, PORT_MARGIN = 48;
export const CARD = { width: 264, height: 220 };
export const PILL = { width: 90, height: 34 };

/** Lays a workflow out: {direction, width, height, cards, edges, prompt, answer, starts, end}. */
export function place(workflow, { direction = "right", card = CARD, pill = PILL, ends = true } = {}) {
  if (direction === "stack") return stack(workflow, card, pill, ends);
  const turned = direction === "down";
  const along = turned ? [card.width, pill.width] : [card.height, pill.height];
  const across = turned ? [card.height, pill.height] : [card.width, pill.width];
  return drawn(workflow, pack(workflow, along, across, ends), along, across, ends, turned);
}

/** The route as an SVG path. Smooth between layers, straight beside cards. */
export function curve(route, direction) {
  if (direction === "rows") return bent(route.points, figure);
  let [x, y] = route.points[0];
  const rest = route.points.slice(1);
  let path = `M${figure(x)} ${figure(y)}`;
  if (direction === "stack" && rest.length === 3) return path + bracket(y, rest[0][0], rest[2][0], rest[2][1]);
  for (const [nextX, nextY] of rest) {
    if (x === nextX || y === nextY) path += `L${figure(nextX)} ${figure(nextY)}`;
    else if (direction === "right") {
      const middle = figure((x + nextX) / 2);
      path += `C${middle} ${figure(y)} ${middle} ${figure(nextY)} ${figure(nextX)} ${figure(nextY)}`;
    } else {
      const middle = figure((y + nextY) / 2);
      path += `C${figure(x)} ${middle} ${figure(nextX)} ${middle} ${figure(nextX)} ${figure(nextY)}`;
    }
    [x, y] = [nextX, nextY];
  }
  return path;
}

function bracket(y, lane, endX, endY) {
  const corner = 8;
  return `H${figure(lane + corner)}Q${figure(lane)} ${figure(y)} ${figure(lane)} ${figure(y + corner)}`
    + `V${figure(endY - corner)}Q${figure(lane)} ${figure(endY)} ${figure(lane + corner)} ${figure(endY)}H${figure(endX)}`;
}

const figure = (value) => (Number.isInteger(value) ? String(value) : value.toFixed(2));

function pack(workflow, along, across, ends) {
  const packed = { depth: depths(workflow), at: new Map(), bends: new Map(), first: new Set() };
  shelve(packed, parts(workflow).map((steps) => drawPart(workflow, packed, steps, along, across, ends)));
  return packed;
}

function drawPart(workflow, packed, steps, along, across, ends) {
  const ids = steps.map((step) => step.step_id);
  const number = new Map(ids.map((id, at) => [id, at]));
  const depth = ids.map((id) => packed.depth.get(id));
  const access = steps.map((step) => step.access.map((seen) => number.get(seen)));
  const sizes = ids.map(() => along[0]);
  const final = number.get(workflow.steps[workflow.steps.length - 1].step_id);
  if (ends && final !== undefined) {
    depth.push(depth[final] + 1);
    access.push([final]);
    sizes.push(along[1]);
  }
  const part = build(depth, access, sizes);
  order(part);
  align(part);
  const starts = [];
  let start = 0;
  for (const row of part.rows) {
    starts.push(start);
    start += (row.some((each) => part.nodes[each].isCard && each < ids.length) ? across[0] : across[1]) + LAYER_GAP;
  }
  const low = Math.min(...part.nodes.map((each) => each.along - each.size / 2));
  const high = Math.max(...part.nodes.map((each) => each.along + each.size / 2));
  return { ids, part, starts: [...starts, start], low, across: start - LAYER_GAP, along: high - low };
}

function shelve(packed, all) {
  const area = all.reduce((sum, each) => sum + (each.across + PART_GAP) * (each.along + PART_GAP), 0);
  const room = Math.max(...all.map((each) => each.across), Math.sqrt(area * 1.6));
  [packed.across, packed.along] = [0, 0];
  let x = 0, y = 0, shelf = 0;
  for (const each of all) {
    if (x > 0 && x + each.across > room) [x, y, shelf] = [0, y + shelf + PART_GAP, 0];
    put(packed, each, x, y);
    packed.across = Math.max(packed.across, x + each.across);
    packed.along = Math.max(packed.along, y + each.along);
    [x, shelf] = [x + each.across + LAYER_GAP, Math.max(shelf, each.along)];
  }
}

function put(packed, { ids, part, starts, low }, x, y) {
  part.nodes.forEach((each, number) => {
    if (!each.isCard) return;
    const id = number < ids.length ? ids[number] : null;
    packed.at.set(id, [x + starts[each.layer], y + each.along - low]);
    if (x === 0 && each.layer === 0 && id !== null) packed.first.add(id);
  });
  ids.forEach((id, source) => {
    for (let layer = part.nodes[source].layer + 1; part.bends.has(bendKey(source, layer)); layer++) {
      const along = y + part.nodes[part.bends.get(bendKey(source, layer))].along - low;
      packed.bends.set(bendKey(id, layer), [x + starts[layer], x + starts[layer + 1] - LAYER_GAP, along]);
    }
  });
}

function parts(workflow) {
  const label = new Map(workflow.steps.map((step, at) => [step.step_id, at]));
  for (const step of workflow.steps) {
    for (const seen of step.access) {
      const one = label.get(seen), other = label.get(step.step_id);
      const old = Math.max(one, other), fresh = Math.min(one, other);
      if (old !== fresh) for (const [id, mark] of label) if (mark === old) label.set(id, fresh);
    }
  }
  const groups = new Map();
  for (const step of workflow.steps) {
    const mark = label.get(step.step_id);
    groups.set(mark, [...(groups.get(mark) ?? []), step]);
  }
  return [...groups.keys()].sort((one, other) => one - other).map((mark) => groups.get(mark));
}

function drawn(workflow, packed, along, across, ends, turned) {
  const shift = ends ? across[1] + END_GAP : 0;
  const box = (id, start, centre, which) => {
    const x = start, y = centre - along[which] / 2, width = across[which], height = along[which];
    return turned ? { step_id: id, x: y, y: x, width: height, height: width } : { step_id: id, x, y, width, height };
  };
  const route = (seen, by, points) => ({ seen, by, points: turned ? points.map(([x, y]) => [y, x]) : points });
  const spot = new Map([...packed.at].map(([id, [start, centre]]) => [id, [start + shift, centre]]));
  const cards = workflow.steps.map((step) => box(step.step_id, ...spot.get(step.step_id), 0));
  const edges = workflow.steps.flatMap((step) => {
    const [start, centre] = spot.get(step.step_id);
    const lines = step.access.map((seen) => line(packed, spot, seen, step.step_id, shift, across[0]));
    const at = ports(lines.map((points) => points[points.length - 1][1]), centre, along[0]);
    return step.access.map((seen, rank) => route(seen, step.step_id, [...lines[rank], [start, at[rank]]]));
  });
  const reach = Math.trunc(packed.across + shift), breadth = Math.trunc(packed.along);
  const result = {
    direction: turned ? "down" : "right", width: turned ? breadth : reach, height: turned ? reach : breadth,
    cards, edges, prompt: null, answer: null, starts: [], end: null,
  };
  if (!ends) return result;
  const roots = workflow.steps.filter((step) => packed.first.has(step.step_id) && !step.access.length);
  const centres = roots.map((step) => spot.get(step.step_id)[1]);
  const middle = Math.floor((Math.min(...centres) + Math.max(...centres)) / 2);
  const final = workflow.steps[workflow.steps.length - 1].step_id, last = spot.get(final);
  return {
    ...result,
    prompt: box(null, 0, middle, 1),
    answer: box(null, ...spot.get(null), 1),
    starts: roots.map((step) => route(null, step.step_id, [[across[1], middle], spot.get(step.step_id)])),
    end: route(final, null, [[last[0] + across[0], last[1]], spot.get(null)]),
  };
}

function line(packed, spot, seen, by, shift, size) {
  const [start, centre] = spot.get(seen);
  const points = [[start + size, centre]];
  for (let layer = packed.depth.get(seen) + 1; layer < packed.depth.get(by); layer++) {
    const [bendStart, bendEnd, along] = packed.bends.get(bendKey(seen, layer));
    points.push([bendStart + shift, along], [bendEnd + shift, along]);
  }
  return points;
}

function ports(arrivals, centre, size) {
  const count = arrivals.length;
  if (count < 2) return arrivals.map(() => centre);
  const step = Math.min(PORT_STEP, 2 * Math.floor((size - PORT_MARGIN) / (2 * (count - 1))));
  const ranked = arrivals.map((_, at) => at).sort((one, other) => arrivals[one] - arrivals[other] || one - other);
  const straight = ranked.findIndex((at) => arrivals[at] === centre);
  const fits = straight >= 0 && 2 * Math.max(straight, count - 1 - straight) * step <= size - PORT_MARGIN;
  const middle = fits ? straight : (count - 1) / 2;
  const result = [];
  ranked.forEach((at, rank) => { result[at] = centre + (rank - middle) * step; });
  return result;
}

function stack(workflow, card, pill, ends) {
  const lane = lanes(workflow);
  const count = lane.size ? Math.max(...lane.values()) + 1 : 0;
  const laneStep = Math.max(LEAST_LANE, Math.min(LANE, Math.floor(MOST_GUTTER / Math.max(1, count))));
  const left = lane.size ? GUTTER + laneStep * count : 0;
  const top = ends ? pill.height + STACK_GAP : 0;
  const tops = new Map(workflow.steps.map((step, at) => [step.step_id, top + at * (card.height + STACK_GAP)]));
  const cards = workflow.steps.map((step) => ({ step_id: step.step_id, x: left, y: tops.get(step.step_id), ...card }));
  const middle = left + card.width / 2;
  const edges = workflow.steps.flatMap((step, at) => {
    const y = tops.get(step.step_id), before = at ? workflow.steps[at - 1].step_id : undefined;
    const around = step.access.filter((seen) => seen !== before).sort((one, other) => lane.get(one) - lane.get(other));
    return step.access.map((seen) => {
      const leaves = tops.get(seen) + card.height, rank = around.indexOf(seen);
      if (rank < 0) return { seen, by: step.step_id, points: [[middle, leaves], [middle, y]] };
      const x = left - GUTTER - laneStep * lane.get(seen), enters = y + 26 + LANE * rank;
      return { seen, by: step.step_id, points: [[left, leaves - 26], [x, leaves - 26], [x, enters], [left, enters]] };
    });
  });
  const bottom = top + cards.length * (card.height + STACK_GAP), width = left + card.width;
  const result = {
    direction: "stack", width, height: bottom - STACK_GAP, cards, edges, prompt: null, answer: null, starts: [], end: null,
  };
  if (!ends) return result;
  const first = workflow.steps[0].step_id, final = workflow.steps[workflow.steps.length - 1].step_id;
  return {
    ...result,
    height: bottom + pill.height,
    prompt: { step_id: null, x: middle - pill.width / 2, y: 0, ...pill },
    answer: { step_id: null, x: middle - pill.width / 2, y: bottom, ...pill },
    starts: [{ seen: null, by: first, points: [[middle, pill.height], [middle, top]] }],
    end: { seen: final, by: null, points: [[middle, bottom - STACK_GAP], [middle, bottom]] },
  };
}

function lanes(workflow) {
  const position = new Map(workflow.steps.map((step, at) => [step.step_id, at]));
  const reach = new Map();
  workflow.steps.forEach((step, at) => step.access.forEach((seen) => {
    if (position.get(seen) + 1 < at) reach.set(seen, at);
  }));
  const spans = [...reach].map(([seen, last]) => [last - position.get(seen), position.get(seen), seen]);
  spans.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const taken = [], result = new Map();
  for (const [length, start, seen] of spans) {
    let lane = 0;
    while (taken[lane]?.some(([low, high]) => start < high && low < start + length)) lane++;
    (taken[lane] ??= []).push([start, start + length]);
    result.set(seen, lane);
  }
  return result;
}
