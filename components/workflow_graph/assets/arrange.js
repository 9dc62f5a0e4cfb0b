// Chooses direction, card size, scale and stage height for the room there is. Pure: no DOM.

import { CARD, LAYER_GAP, PILL, END_GAP, place } from "./layout.js";
import { depths } from "./topology.js";

const EDGE = 20; // px kept free around the drawing
const NARROW = 600; // px; below, one column
const SMALLEST = 0.62; // a scale under which words on a card are too small to read
const TOP_ROOM = 14, PLAYER_ROOM = 84; // px that presenting keeps above the drawing, and below it for the player
const LEAST_TALL = 0.84; // a tall drawing is not made smaller than this: a page scrolls down easily
const MANY = 14; // steps from which on cards leave their text away

/** {layout, view: {x, y, k}, height, isFixed, isCompact} for a stage `width` px wide and about `room` px high. */
export function arrange(workflow, { width, room, direction = "auto", isPresent = false }) {
  const isCompact = workflow.steps.length > MANY;
  const height = isCompact ? 140 : CARD.height;
  if (direction === "stack" || (direction === "auto" && width <= NARROW)) return column(workflow, width, height, isCompact);
  const layers = 1 + Math.max(...depths(workflow).values());
  const free = (width - 2 * EDGE - 2 * (PILL.width + END_GAP) - (layers - 1) * LAYER_GAP) / layers;
  const card = { width: 4 * Math.floor(Math.min(316, Math.max(240, free)) / 4), height };
  const right = place(workflow, { direction: "right", card });
  const scale = (layout) => Math.min(1, (width - 2 * EDGE) / layout.width);
  const downward = () => place(workflow, { direction: "down", card: { width: downWidth(workflow, width), height } });
  if (isPresent) return whole(direction === "down" ? [downward()] : direction === "right" ? [right] : [right, downward()], width, room, isCompact);
  let layout = right;
  if (direction !== "right" && (direction === "down" || scale(right) < SMALLEST)) {
    const down = downward();
    if (direction === "down" || scale(down) > 1.25 * scale(right)) layout = down;
  }
  return framed(layout, { width, room, isCompact });
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
  const rows = new Map();
  for (const depth of depths(workflow).values()) rows.set(depth, (rows.get(depth) ?? 0) + 1);
  const most = Math.max(...rows.values());
  return 4 * Math.floor(Math.min(340, Math.max(240, (width - 2 * EDGE - 64) / most - 28)) / 4);
}

function framed(layout, { width, room, isCompact }) {
  const along = (room - 2 * EDGE) / layout.height;
  let k = Math.min(1, (width - 2 * EDGE) / layout.width);
  if (layout.direction === "down") k = Math.max(k, SMALLEST);
  else k = Math.max(along < k ? Math.max(along, Math.min(k, LEAST_TALL)) : k, 0.56);
  const height = Math.max(300, Math.ceil(layout.height * k) + 2 * EDGE);
  const shown = layout.direction === "down" ? height : Math.min(height, Math.max(room, 1100));
  const x = Math.max(EDGE, (width - layout.width * k) / 2), y = Math.max(EDGE, (shown - layout.height * k) / 2);
  return { layout, view: { x, y, k }, height: shown, isFixed: false, isCompact };
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
