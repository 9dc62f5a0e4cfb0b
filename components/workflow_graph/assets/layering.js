// Layered drawing of one connected part. Twin of conductor_client/layering.py, figure for figure (a test
// compares them): read the reasons there. Pure: no DOM.

const CARD_GAP = 28, BEND_GAP = 16, BEND_SIZE = 4, SWEEPS = 8, PASSES = 6;

/** A part from its cards: their layers, whom each sees (numbers of earlier cards), sizes along the layer. */
export function build(depths, access, sizes) {
  const nodes = depths.map((layer, at) => node(layer, sizes[at], true));
  const rows = Array.from({ length: 1 + Math.max(...depths) }, () => []);
  nodes.forEach((each, number) => rows[each.layer].push(number));
  const part = { nodes, rows, bends: new Map() };
  access.forEach((seen, reader) => seen.forEach((source) => join(part, source, reader)));
  return part;
}

export const bendKey = (source, layer) => `${layer} ${source}`;

function node(layer, size, isCard) {
  return { layer, size, isCard, before: [], after: [], along: 0 };
}

function join(part, source, reader) {
  let last = source;
  for (let layer = part.nodes[source].layer + 1; layer < part.nodes[reader].layer; layer++) {
    let bend = part.bends.get(bendKey(source, layer));
    if (bend === undefined) {
      bend = part.nodes.length;
      part.nodes.push(node(layer, BEND_SIZE, false));
      part.rows[layer].push(bend);
      part.bends.set(bendKey(source, layer), bend);
      link(part, last, bend);
    }
    last = bend;
  }
  link(part, last, reader);
}

function link(part, upper, lower) {
  part.nodes[upper].after.push(lower);
  part.nodes[lower].before.push(upper);
}

/** Sorts each row so that few edges cross. */
export function order(part) {
  let best = part.rows.map((row) => [...row]);
  let fewest = crossings(part);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    const forth = sweep % 2 === 0;
    for (const layer of walk(part, forth)) sortRow(part, layer, forth);
    const count = crossings(part);
    if (count < fewest) [fewest, best] = [count, part.rows.map((row) => [...row])];
  }
  part.rows = best;
}

function walk(part, forth) {
  const layers = part.rows.map((_, layer) => layer);
  return forth ? layers.slice(1) : layers.slice(0, -1).reverse();
}

function sortRow(part, layer, forth) {
  const row = part.rows[layer];
  const place = new Map(part.rows[forth ? layer - 1 : layer + 1].map((number, at) => [number, at]));
  const keyed = [];
  row.forEach((number, at) => {
    const near = forth ? part.nodes[number].before : part.nodes[number].after;
    if (near.length) keyed.push([near.reduce((sum, other) => sum + place.get(other), 0) / near.length, at, number]);
  });
  const slots = keyed.map(([, at]) => at);
  keyed.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  slots.forEach((slot, at) => { row[slot] = keyed[at][2]; });
}

function crossings(part) {
  let total = 0;
  for (let layer = 0; layer + 1 < part.rows.length; layer++) {
    const place = new Map(part.rows[layer + 1].map((number, at) => [number, at]));
    const ends = [];
    for (const number of part.rows[layer]) {
      const targets = part.nodes[number].after.map((other) => place.get(other)).sort((one, other) => one - other);
      for (const target of targets) total += ends.length - after(ends, target);
      for (const target of targets) ends.splice(after(ends, target), 0, target);
    }
  }
  return total;
}

function after(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value < sorted[middle]) high = middle; else low = middle + 1;
  }
  return low;
}

/** Gives each node its `along`: cards in line with what they see and who sees them; bends yield. */
export function align(part) {
  for (const row of part.rows) {
    const offsets = offsetsOf(part, row);
    row.forEach((number, at) => { part.nodes[number].along = offsets[at] - offsets[offsets.length - 1] / 2; });
  }
  for (let turn = 0; turn < PASSES; turn++) {
    const forth = turn % 2 === 0;
    for (const layer of walk(part, forth)) alignRow(part, part.rows[layer], forth);
  }
  for (const each of part.nodes) each.along = Math.floor(each.along + 1_000_000.5) - 1_000_000;
}

function offsetsOf(part, row) {
  const offsets = [0];
  for (let at = 1; at < row.length; at++) {
    const left = part.nodes[row[at - 1]], right = part.nodes[row[at]];
    const gap = left.isCard && right.isCard ? CARD_GAP : BEND_GAP;
    offsets.push(offsets[at - 1] + ((left.size + right.size) / 2 + gap));
  }
  return offsets;
}

function alignRow(part, row, forth) {
  const offsets = offsetsOf(part, row);
  const wishes = row.map((number, at) => wish(part, number, forth) - offsets[at]);
  const cards = row.map((_, at) => at).filter((at) => part.nodes[row[at]].isCard);
  const placed = new Map();
  monotone(cards.map((at) => wishes[at])).forEach((value, at) => placed.set(cards[at], value));
  const fences = [-1, ...cards, row.length];
  for (let fence = 0; fence + 1 < fences.length; fence++) {
    const low = placed.get(fences[fence]) ?? -Infinity, high = placed.get(fences[fence + 1]) ?? Infinity;
    const first = fences[fence] + 1;
    monotone(wishes.slice(first, fences[fence + 1])).forEach((value, at) => {
      placed.set(first + at, Math.min(high, Math.max(low, value)));
    });
  }
  row.forEach((number, at) => { part.nodes[number].along = placed.get(at) + offsets[at]; });
}

function wish(part, number, forth) {
  const each = part.nodes[number];
  const near = forth ? each.before : each.after;
  if (!near.length) return each.along;
  const weighed = near.map((other) => [part.nodes[other].along, part.nodes[other].isCard ? 4 : 1]);
  weighed.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const half = weighed.reduce((sum, [, weight]) => sum + weight, 0);
  let reached = 0;
  for (let at = 0; at < weighed.length; at++) {
    reached += 2 * weighed[at][1];
    if (reached === half) return (weighed[at][0] + weighed[at + 1][0]) / 2;
    if (reached > half) return weighed[at][0];
  }
  throw new Error("the last weight reaches half");
}

function monotone(values) {
  const blocks = [];
  for (const value of values) {
    let total = value, count = 1;
    while (blocks.length && blocks[blocks.length - 1][0] / blocks[blocks.length - 1][1] > total / count) {
      const [before, size] = blocks.pop();
      [total, count] = [before + total, size + count];
    }
    blocks.push([total, count]);
  }
  return blocks.flatMap(([total, count]) => Array(count).fill(total / count));
}
