// The list of keys and of what the drawing means.

import { el } from "./dom.js";
import { say } from "./format.js";

const KEYS = [["← → ↑ ↓", "key_move"], ["Enter", "key_select"], ["+ − 0", "key_zoom"], ["Esc", "key_escape"]];
const EDIT_KEYS = [
  ["L", "key_link"], ["E", "key_edge"], ["Delete", "key_delete"], ["M", "key_menu"], ["I", "key_instruction"], ["W", "key_worker"], ["A", "key_add"],
  ["[ ]", "key_order"], ["Ctrl Z", "key_undo"],
];
const REPLAY_KEYS = [["Space", "key_play"], [", .", "key_seek"]];

export function help(panel, payload, anchor) {
  const { labels, mode } = payload;
  const keys = [...KEYS, ...(mode === "edit" ? EDIT_KEYS : []), ...(mode === "replay" ? REPLAY_KEYS : [])];
  const list = el("dl", { class: "keys" }, ...keys.flatMap(([key, text]) => [
    el("dt", {}, el("kbd", { text: key })), el("dd", { text: say(labels, text) }),
  ]));
  const meaning = ["help_edges", "help_hover", "help_slow", ...(mode === "edit" ? ["help_drag"] : [])];
  panel.open(anchor, say(labels, "help"), [
    ...meaning.map((key) => el("p", { text: say(labels, key) })), list,
  ]);
}
