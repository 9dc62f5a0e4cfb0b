// The drawing as a pure SVG text: no foreignObject, no styles from outside, every character escaped, so that it
// opens anywhere and can become a PNG. Made from the same card texts as the page shows. Pure: no DOM.

import { cardOf, context, laneName } from "./cards.js";
import { arrow } from "./edges.js";
import { say } from "./format.js";
import { PATHS } from "./icons.js";
import { curve } from "./layout.js";

const EDGE = 32;
/** Fonts of the system only: a picture cannot bring a page's own, and would be laid out for letters it lacks. */
export const FONT = "'Segoe UI',Helvetica,Arial,sans-serif";

/** The page's own colours (.streamlit/config.toml); a test holds them to it. */
export const COLOURS = {
  light: {
    page: "#fdfcfa", card: "#ffffff", line: "#e2ded5", text: "#23272f", soft: "#5f5e5a", edge: "#7b7a75", well: "#f6f4ef",
    running: "#315987", succeeded: "#2f6545", failed: "#9c3431", reused: "#614c88", will_run: "#8a5312", cancelled: "#8a5312",
  },
  dark: {
    page: "#14171b", card: "#1c2026", line: "#2e343c", text: "#e4e2dc", soft: "#aeb1b8", edge: "#8d9097", well: "#252a30",
    running: "#a9c6ea", succeeded: "#9ad1ae", failed: "#f0a39d", reused: "#c9b9e6", will_run: "#ecbf84", cancelled: "#ecbf84",
  },
};

/** Escapes a text for XML and drops what XML 1.0 cannot hold. */
export function escape(text) {
  return String(text)
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;").replace(/'/g, "&#39;");
}

/** {text, width, height} of the picture. `measure(text, px, weight)` gives a text's width in px. */
export function picture(store, layout, { theme = "light", measure = roughly } = {}) {
  const colours = COLOURS[theme], shared = context(store);
  const width = layout.width + 2 * EDGE, height = layout.height + 2 * EDGE;
  const steps = new Map(store.drawn.steps.map((step) => [step.step_id, step]));
  const cards = layout.cards.map((box) => card(box, cardOf(steps.get(box.step_id), shared), colours, measure));
  const routes = [...layout.starts, ...layout.edges, ...(layout.end ? [layout.end] : [])];
  const pills = [layout, ...(layout.lanes ?? [])].flatMap((each) => [[each.prompt, "prompt"], [each.answer, "answer"]]).filter(([box]) => box);
  const heads = (layout.lanes ?? []).map((lane, at) => laneHead(lane, laneName(store.drawn.rounds[at], store), width, colours, measure));
  const text = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="${FONT}">`,
    `<title>${escape(store.workflow.prompt.slice(0, 200))}</title>`,
    `<rect width="100%" height="100%" fill="${colours.page}"/><g transform="translate(${EDGE} ${EDGE})">`,
    ...heads,
    ...routes.map((route) => edge(route, layout.direction, colours)),
    ...pills.map(([box, kind]) => pill(box, kind, say(shared.labels, kind), colours, measure)),
    ...cards, "</g></svg>",
  ].join("\n");
  return { text, width, height };
}

function laneHead({ y }, { name, note }, width, colours, measure) {
  const rule = `<path d="M0 ${y + 30}H${width - 2 * EDGE}" stroke="${colours.line}"/>`, left = measure(name, 15, 650) + 12;
  return rule + line(name, 0, y + 20, 15, 650, colours.text) + line(clip(note, width - 2 * EDGE - left, 14, 400, measure), left, y + 20, 14, 400, colours.soft);
}

function edge(route, direction, colours) {
  const isEnd = route.seen === null || route.by === null;
  const stroke = `fill="none" stroke="${colours.edge}" stroke-width="2"`;
  const dashes = isEnd ? ' stroke-dasharray="1 5" stroke-linecap="round"' : "";
  return `<path d="${curve(route, direction)}" ${stroke}${dashes}/><path d="${arrow(route, direction)}" ${stroke} stroke-linejoin="round" stroke-linecap="round"/>`;
}

function pill(box, kind, word, colours, measure) {
  const wide = measure(word, 14, 600) + 22, left = box.x + (box.width - wide) / 2, middle = box.y + box.height / 2;
  return `<rect x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" rx="${box.height / 2}" fill="${colours.card}" stroke="${colours.line}"/>`
    + glyph(kind, left, middle - 8, 16, colours.soft) + line(word, left + 22, middle + 5, 14, 600, colours.text);
}

function card(box, model, colours, measure) {
  const { x, y, width, height } = box, pad = 16, room = width - 2 * pad;
  const colour = colours[model.status] ?? colours.soft;
  const dashed = ["failed", "skipped", "cancelled", "not_run"].includes(model.status) ? ' stroke-dasharray="6 4"' : "";
  const border = model.status === "failed" || model.status === "running" ? colour : colours.line;
  const status = [model.word, model.time].filter(Boolean).join("  ·  "), left = x + pad + 47;
  const parts = [
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="15" fill="${colours.card}" stroke="${border}" stroke-width="1.5"${dashed}/>`,
    `<circle cx="${x + pad + 18}" cy="${y + 33}" r="18" fill="${colour}" fill-opacity="0.14"/>`,
    `<text x="${x + pad + 18}" y="${y + 39}" font-size="17" font-weight="700" fill="${colour}" text-anchor="middle">${model.number}</text>`,
    line(clip(model.worker, room - 47, 17, 650, measure), left, y + 30, 17, 650, colours.text),
    glyph(model.status, left, y + 36, 16, colour),
    line(clip(status, room - 70, 14, 600, measure), left + 21, y + 49, 14, 600, colour),
  ];
  const instruction = wrap(model.instruction, room, 15, 2, measure);
  instruction.forEach((each, at) => parts.push(line(each, x + pad, y + 75 + 20 * at, 15, 400, colours.text)));
  const top = y + 109, bottom = y + height - 38;
  if (bottom - top > 30) parts.push(body(model.body, x + pad, top, room, bottom - top, colours, measure));
  const foot = [model.body.mark, ...model.foot].filter(Boolean).join("  ·  ");
  if (foot) parts.push(line(clip(foot, room, 13, 400, measure), x + pad, y + height - 15, 13, 400, colours.soft));
  if (model.tag) parts.push(line(model.tag, x + width - pad, y - 6, 12, 600, colours.soft, "end"));
  return parts.join("");
}

function body({ note, text, kind }, x, y, width, height, colours, measure) {
  const rows = [];
  const most = Math.floor((height - 14) / 19);
  const isWell = Boolean(text);
  if (note) rows.push(...wrap(note, isWell ? width - 20 : width, 13.5, isWell ? 1 : most, measure).map((each) => [each, kind === "error" || kind === "partial" ? colours.failed : colours.soft]));
  if (text) rows.push(...wrap(text, width - 20, 13.5, most - rows.length, measure).map((each) => [each, colours.text]));
  const well = isWell ? `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="9" fill="${colours.well}"/>` : "";
  return well + rows.map(([each, colour], at) => line(each, x + (isWell ? 10 : 0), y + 19 + 19 * at, 13.5, 400, colour)).join("");
}

const glyph = (name, x, y, size, colour) =>
  `<path transform="translate(${x} ${y}) scale(${size / 20})" d="${PATHS[name]}" fill="none" stroke="${colour}" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"/>`;

const line = (text, x, y, size, weight, colour, anchor = "start") =>
  `<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" fill="${colour}" text-anchor="${anchor}">${escape(text)}</text>`;

/** At most `most` lines of a text; the last one ends in "…" when more follows. */
export function wrap(text, width, size, most, measure = roughly) {
  const rows = [];
  let row = "";
  const words = text.replace(/\s+/g, " ").trim().split(" ").flatMap((word) => pieces(word, width, size, measure));
  for (const word of words) {
    const longer = row ? `${row} ${word}` : word;
    if (row && measure(longer, size, 400) > width) {
      rows.push(row);
      row = word;
      if (rows.length === most) break;
    } else row = longer;
  }
  if (rows.length < most && row) rows.push(row);
  else if (rows.length) rows[most - 1] = clip(`${rows[most - 1]} ${row}`, width, size, 400, measure);
  return rows.slice(0, Math.max(0, most));
}

/** A word longer than a line, in pieces that fit. */
function pieces(word, width, size, measure) {
  if (measure(word, size, 400) <= width) return [word];
  const letters = Array.from(word), each = Math.max(1, Math.floor((letters.length * width) / measure(word, size, 400)));
  return Array.from({ length: Math.ceil(letters.length / each) }, (_, at) => letters.slice(at * each, (at + 1) * each).join(""));
}

function clip(text, width, size, weight, measure) {
  if (measure(text, size, weight) <= width) return text;
  const letters = Array.from(text);
  while (letters.length && measure(`${letters.join("")}…`, size, weight) > width) letters.pop();
  return `${letters.join("").trimEnd()}…`;
}

/** A text's width where nothing can measure it; also the least that is reckoned with, for wider fonts elsewhere. */
export function roughly(text, size) {
  return Array.from(text).reduce((sum, letter) => sum + (letter.codePointAt(0) > 0x2e80 ? 1 : 0.53), 0) * size;
}
