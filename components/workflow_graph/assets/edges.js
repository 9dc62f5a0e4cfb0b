// The SVG layer under the cards: access edges, the thin lines from the prompt and to the answer, arrowheads.

import { setAttribute, setChildren, svg } from "./dom.js";
import { curve } from "./layout.js";

export class Edges {
  constructor() {
    this.lines = new Map(); // "seen by" → its elements
    this.root = svg("svg", { class: "edges", "aria-hidden": "true" });
  }

  /** Draws a layout. Elements of edges that stay are kept. */
  draw(layout) {
    setAttribute(this.root, "width", layout.width);
    setAttribute(this.root, "height", layout.height);
    const wanted = new Map();
    const routes = [...layout.starts, ...layout.edges, ...(layout.end ? [layout.end] : [])];
    for (const route of routes) wanted.set(edgeKey(route.seen, route.by), route);
    for (const key of this.lines.keys()) if (!wanted.has(key)) this.lines.delete(key);
    for (const [key, route] of wanted) {
      const line = this.lines.get(key) ?? make(route);
      const path = curve(route, layout.direction);
      for (const part of [line.path, line.hit]) setAttribute(part, "d", path);
      setAttribute(line.head, "d", arrow(route, layout.direction));
      this.lines.set(key, line);
    }
    setChildren(this.root, [...this.lines.values()].map((line) => line.group));
  }

  /** Marks every edge with what `say(seen, by)` returns: a list of class names. */
  mark(say) {
    for (const line of this.lines.values()) setAttribute(line.group, "class", ["edge", ...say(line.seen, line.by)].join(" "));
  }

  /** The middle of an edge, in the drawing's px. */
  middle(seen, by) {
    const { path } = this.lines.get(edgeKey(seen, by));
    return path.getPointAtLength(path.getTotalLength() / 2);
  }
}

export const edgeKey = (seen, by) => `${seen ?? "\u0000prompt"}\u0001${by ?? "\u0000answer"}`;

function make({ seen, by }) {
  const path = svg("path", { class: "line" }), hit = svg("path", { class: "hit" }), head = svg("path", { class: "head" });
  const group = svg("g", { class: "edge", "data-seen": seen, "data-by": by }, path, head, hit);
  return { seen, by, path, hit, head, group };
}

/** An arrowhead whose tip touches the reader. */
export function arrow({ points }, direction) {
  const [x, y] = points[points.length - 1];
  const isUp = direction === "rows" && points[points.length - 2][1] > y;
  if (isUp) return `M${x - 5} ${y + 9}L${x} ${y + 1}L${x + 5} ${y + 9}`;
  const isStraight = direction === "rows" && points[points.length - 2][1] === y;
  const isDown = direction === "down" || (direction === "rows" && !isStraight) || (direction === "stack" && points.length === 2);
  return isDown ? `M${x - 5} ${y - 9}L${x} ${y - 1}L${x + 5} ${y - 9}` : `M${x - 9} ${y - 5}L${x - 1} ${y}L${x - 9} ${y + 5}`;
}
