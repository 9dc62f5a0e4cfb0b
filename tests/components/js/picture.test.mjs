import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyView } from "../../../components/workflow_graph/assets/fold.js";
import { placeDrawn as place } from "../../../components/workflow_graph/assets/lanes.js";
import { escape, picture, wrap } from "../../../components/workflow_graph/assets/picture.js";
import { Store } from "../../../components/workflow_graph/assets/store.js";

const LABELS = ["solve[1]", "a]b", "end", "graph", "default", "B，test", 'x"y', "<img src=x onerror=alert(1)>", "😀".repeat(400), "\u0000\ud800]]>", "'&amp;"];

function drawn(theme) {
  const steps = LABELS.map((label, at) => ({ step_id: `s${at}`, position: at, instruction: label, worker: label, access: at ? [`s${at - 1}`] : [] }));
  const store = new Store(() => 0);
  store.view = emptyView("run");
  store.payload = { labels: { "status.draft": "<b>Planned</b>" }, workflow: { workflow_id: "wf", prompt: "<script>", steps }, draft: true, marks: {}, workers: [] };
  return picture(store, place(store.workflow), { theme });
}

test("no label becomes markup, and nothing that XML cannot hold is left", () => {
  const { text } = drawn("light");
  const tags = new Set([...text.matchAll(/<\/?([a-zA-Z]+)/g)].map((match) => match[1]));
  assert.deepEqual([...tags].sort(), ["circle", "g", "path", "rect", "svg", "text", "title"]);
  assert.ok(!/[\u0000-\u0008\u000b\u000c\u000e-\u001f]|[\ud800-\udbff](?![\udc00-\udfff])/.test(text));
  assert.ok(text.includes("&lt;img"));
  assert.equal(text.match(/<text /g).length, text.match(/<\/text>/g).length);
});

test("light and dark differ in colours alone, and the same drawing is made twice", () => {
  const plain = (theme) => drawn(theme).text.replace(/#[0-9a-f]{6}/g, "#");
  assert.equal(plain("light"), plain("dark"));
  assert.notEqual(drawn("light").text, drawn("dark").text);
  assert.equal(drawn("light").text, drawn("light").text);
});

test("lines fit their width, long words are broken, what is left out ends in …", () => {
  const measure = (text, size) => Array.from(text).length * size * 0.5;
  const rows = wrap("a few short words and averyveryverylongwordindeed", 80, 14, 9, measure);
  assert.ok(rows.every((row) => measure(row, 14) <= 80));
  assert.equal(rows.join("").replaceAll(" ", ""), "afewshortwordsandaveryveryverylongwordindeed");
  assert.match(wrap("one two three four five", 50, 14, 2, measure).at(-1), /…$/);
  assert.deepEqual(wrap("", 50, 14, 2, measure), []);
});

test("escaping covers every character that means something in XML", () => {
  assert.equal(escape("<a b=\"c\">'&"), "&lt;a b=&quot;c&quot;&gt;&#39;&amp;");
});
