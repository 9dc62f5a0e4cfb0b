// Icons as stroked paths in a 20 × 20 box: one shape per status, so that colour is never needed to tell them apart.

import { svg } from "./dom.js";

export const PATHS = {
  waiting: "M10 3.2a6.8 6.8 0 1 0 .01 0ZM10 6.4V10l2.5 1.6",
  queued: "M6.4 3.6h7.2M6.4 16.4h7.2M7.2 3.6c0 4 5.6 4.4 5.6 6.4s-5.6 2.4-5.6 6.4M12.8 3.6c0 4-5.6 4.4-5.6 6.4s5.6 2.4 5.6 6.4",
  retrying: "M4 10a6 6 0 1 0 2-4.5L4 7.4M4 3.8v3.6h3.6",
  running: "M10 3.2a6.8 6.8 0 1 0 .01 0ZM10 7.4a2.6 2.6 0 1 0 .01 0Z",
  succeeded: "M4.4 10.6l3.8 3.8L15.8 6",
  failed: "M5.4 5.4l9.2 9.2M14.6 5.4l-9.2 9.2",
  skipped: "M4.4 5.2l6 4.8-6 4.8ZM14.6 5v10",
  reused: "M15.8 8.2A6.2 6.2 0 0 0 5 6.2L3.6 7.8M3.6 4v3.8h3.8M4.2 11.8A6.2 6.2 0 0 0 15 13.8l1.4-1.6M16.4 16v-3.8h-3.8",
  cancelled: "M10 3.2a6.8 6.8 0 1 0 .01 0ZM7.8 7.8h4.4v4.4H7.8Z",
  will_run: "M6.4 4.4v11.2L15.4 10Z",
  draft: "M10 3.2a6.8 6.8 0 1 0 .01 0Z",
  not_run: "M10 3.2a6.8 6.8 0 1 0 .01 0ZM6.8 10h6.4",
  planning: "M10 3l1.7 5.3L17 10l-5.3 1.7L10 17l-1.7-5.3L3 10l5.3-1.7Z",
  prompt: "M4 4.6h12v8.6H9.4L6 16v-2.8H4ZM7 7.6h6M7 10.2h4",
  answer: "M5.4 17V3.6M5.4 4.4h9.2l-2 3.2 2 3.2H5.4",
  tool: "M12.6 3.6a4 4 0 0 0-3.9 5.2L3.6 13.9l2.5 2.5 5.1-5.1a4 4 0 0 0 5-5.2l-2.5 2.5-2.3-.6-.6-2.3 2.5-2.2a4 4 0 0 0-.7.1Z",
  hidden: "M3 10s2.6-4.6 7-4.6S17 10 17 10s-2.6 4.6-7 4.6S3 10 3 10ZM4 16.4 16 3.6",
  link: "M8 12l4-4M9 6.4l1.6-1.6a3.3 3.3 0 0 1 4.6 4.6L13.6 11M11 13.6l-1.6 1.6a3.3 3.3 0 0 1-4.6-4.6L6.4 9",
  more: "M4.6 10h.02M10 10h.02M15.4 10h.02",
  plus: "M10 4.4v11.2M4.4 10h11.2",
  minus: "M4.4 10h11.2",
  fit: "M3.6 7.4V3.6h3.8M12.6 3.6h3.8v3.8M16.4 12.6v3.8h-3.8M7.4 16.4H3.6v-3.8",
  undo: "M7.4 4.6 3.6 8.4l3.8 3.8M4 8.4h7.4a4.4 4.4 0 0 1 0 8.8H8.6",
  save: "M10 3.4v9M6.2 8.8 10 12.6l3.8-3.8M3.8 16.4h12.4",
  help: "M7.2 7.4a2.8 2.8 0 1 1 4 2.6c-.9.4-1.2 1-1.2 2M10 15.2h.02",
  play: "M6.4 4.4v11.2L15.4 10Z",
  pause: "M6.8 4.6v10.8M13.2 4.6v10.8",
  restart: "M4 10a6 6 0 1 0 2-4.5L4 7.4M4 3.8v3.6h3.6",
  up: "M10 15.6V4.4M5.4 9 10 4.4 14.6 9",
  down: "M10 4.4v11.2M5.4 11l4.6 4.6 4.6-4.6",
  pen: "M4 16l.8-3.4 8.4-8.4 2.6 2.6-8.4 8.4Z",
  bin: "M4.4 5.8h11.2M8 5.6V3.8h4v1.8M5.6 5.8l.7 10.4h7.4l.7-10.4",
  swap: "M4 7.2h11.4M12.6 4.4l2.8 2.8-2.8 2.8M16 12.8H4.6M7.4 10l-2.8 2.8 2.8 2.8",
  eye: "M3 10s2.6-4.6 7-4.6S17 10 17 10s-2.6 4.6-7 4.6S3 10 3 10ZM10 8a2 2 0 1 0 .01 0Z",
  check: "M4.4 10.6l3.8 3.8L15.8 6",
};

/** An icon of that name, `size` px wide; it means nothing to a screen reader, the words beside it do. */
export function icon(name, size = 16) {
  return svg("svg", { viewBox: "0 0 20 20", width: size, height: size, class: "icon", "aria-hidden": "true" },
    svg("path", { d: PATHS[name] }));
}

/** Changes an icon in place. */
export function setIcon(node, name) {
  const path = node.firstChild;
  if (path.getAttribute("d") !== PATHS[name]) path.setAttribute("d", PATHS[name]);
}
