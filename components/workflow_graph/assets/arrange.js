// Chooses direction, card size, scale and stage height for the room there is. Pure: no DOM.

import { placeDrawn as place, workflowsOf } from "./lanes.js";
import { CARD, LAYER_GAP, PILL, END_GAP } from "./layout.js";
import { COLUMN_GAP, inRows, isChain } from "./rows.js";
import { depths } from "./topology.js";

const EDGE = 20; // px kept free around the drawing
const ICON = { width: 34, height: 34 }; // a pill without its word, where the word costs legibility
const NARROW = 500; // px; below, one column
const LEGIBLE = 0.86; // the scale at which the smallest words on a card are 12 px tall
const TOP_ROOM = 14, PLAYER_ROOM = 84; // px that presenting keeps above the drawing, and below it for the player
const MANY = 14; // steps from which on cards leave their text away

/** {layout, view: {x, y, k}, height, isFixed, isCompact} for a stage `width` px wide and about `room` px high. */
export function arrange(workflow, { width, room, direction = "auto", isPresent = false, isTouched = false }) {
  const isCompact = workflow.steps.length > MANY;
  const height = isCompact ? 140 : CARD.height;
  if (direction === "stack" || (direction === "auto" && width <= NARROW)) return column(workflow, width, height, isCompact);
  const right = (pill, least) => place(workflow, { direction: "right", pill, card: { width: columnWidth(workflow, width, pill, least), height } });
  const down = () => place(workflow, { direction: "down", card: { width: downWidth(workflow, width), height } });
  const drawings = {
    right: () => [right(PILL, 240)],
    down: () => [down()],
    auto: () => [right(PILL, 240), ...(isChain(workflow) ? rowsOf(workflow, width, height, isPresent) : [down()])],
  }[direction]();
  if (isPresent) return whole(drawings, width, room, isCompact);
  if (direction === "auto") drawings.splice(1, 0, right(ICON, 208));
  const scale = (layout) => (width - 2 * EDGE) / layout.width;
  const best = drawings.find((each) => scale(each) >= LEGIBLE) ?? drawings.reduce((one, each) => (scale(each) > 1.1 * scale(one) ? each : one));
  return framed(best, { width, room: isTouched ? Infinity : room, isCompact });
}

/** Card width with which the columns of a drawing to the right fill the room. */
function columnWidth(workflow, width, pill, least) {
  const layers = 1 + Math.max(...depths(workflow).values());
  const free = (width - 2 * EDGE - 2 * pill.width - END_GAP - layers * LAYER_GAP) / layers;
  return 4 * Math.floor(Math.min(316, Math.max(least, free)) / 4);
}

/** A chain in rows: as many cards in each as stay legible, rows of about the same length. */
function rowsOf(workflow, width, height, isPresent) {
  const inner = width - 2 * EDGE, n = workflow.steps.length;
  const most = Math.max(2, Math.min(n, Math.floor((inner / LEGIBLE + COLUMN_GAP) / (240 + COLUMN_GAP))));
  const rows = isPresent ? [1, 2, 3].filter((each) => each < n) : [Math.ceil(n / most)];
  return rows.map((count) => {
    const columns = Math.ceil(n / count), free = (inner + COLUMN_GAP) / columns - COLUMN_GAP;
    return inRows(workflow, { columns, card: { width: 4 * Math.floor(Math.min(316, Math.max(240, free)) / 4), height } });
  });
}

/** For presenting: whichever drawing can be shown larger, whole, above the player. */
function whole(layouts, width, room, isCompact) {
  const free = room - TOP_ROOM - PLAYER_ROOM;
  const fit = (layout) => Math.min(2, (width - 2 * EDGE) / layout.width, free / layout.height);
  const layout = layouts.reduce((best, each) => (fit(each) > fit(best) ? each : best));
  const k = fit(layout);
  const view = { x: (width - layout.width * k) / 2, y: TOP_ROOM + Math.max(0, (free - layout.height * k) / 2), k };
  return { layout, view, height: room, isFixed: false, isCompact };
}

/** Card width with which the fullest row of a downward drawing fills the room. */
function downWidth(workflow, width) {
  const most = Math.max(...workflowsOf(workflow).map(fullestRow));
  return 4 * Math.floor(Math.min(340, Math.max(240, (width - 2 * EDGE - 64) / most - 28)) / 4);
}

function fullestRow(workflow) {
  const rows = new Map();
  for (const depth of depths(workflow).values()) rows.set(depth, (rows.get(depth) ?? 0) + 1);
  return Math.max(...rows.values());
}

/** No smaller than it can be read, no taller than the room: the rest is reached by rolling or dragging. */
function framed(layout, { width, room, isCompact }) {
  const wide = (width - 2 * EDGE) / layout.width, tall = (room - 2 * EDGE) / layout.height;
  const k = Math.max(LEGIBLE, Math.min(1, wide, Math.max(tall, LEGIBLE)));
  const height = Math.min(room, Math.max(300, Math.ceil(layout.height * k) + 2 * EDGE));
  const x = Math.max(EDGE, (width - layout.width * k) / 2), y = Math.max(EDGE, (height - layout.height * k) / 2);
  return { layout, view: { x, y, k }, height, isFixed: false, isCompact };
}

function column(workflow, width, height, isCompact) {
  const edge = 4;
  const gutter = place(workflow, { direction: "stack", card: { width: 0, height } }).width;
  const card = { width: Math.min(440, Math.max(200, width - 2 * edge - gutter)), height };
  const layout = place(workflow, { direction: "stack", card });
  const k = Math.min(1, (width - 2 * edge) / layout.width);
  const view = { x: Math.max(edge, (width - layout.width * k) / 2), y: 12, k };
  return { layout, view, height: Math.ceil(layout.height * k) + 24, isFixed: true, isCompact };
}
