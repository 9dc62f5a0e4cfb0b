// The shared page: mounts the live graph, shows a step when its card is chosen, and keeps the texts fresh by
// asking for this same page again. Every text was escaped by the server or goes in as textContent.

const data = JSON.parse(document.getElementById("run").textContent);
const LONGEST_LIVE = 20_000; // characters of a text that is being written
const live = new Map(); // step id → {attempt, text, chars}
let seq = data.seq, chosen = null, refreshing = null;

const sections = () => [...document.querySelectorAll("#steps .step")];
const sectionOf = (id) => sections().find((each) => each.dataset.step === id);

function choose(id) {
  chosen = id;
  document.getElementById("steps").classList.toggle("chosen", Boolean(id && sectionOf(id)));
  for (const each of sections()) each.classList.toggle("shown", each.dataset.step === id);
}

function select(id) {
  choose(id);
  sectionOf(id)?.scrollIntoView({ block: "nearest" });
}

/** Replaces the texts by those of a fresh copy of this page, with whatever was unfolded still unfolded. */
async function refresh() {
  refreshing = null;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const open = new Set([...document.querySelectorAll("details[open]")].map(nameOf));
  for (const id of ["head", "answer", "steps"]) {
    const node = fresh.getElementById(id);
    if (node) document.getElementById(id).replaceChildren(...node.childNodes);
  }
  for (const each of document.querySelectorAll("details")) each.open = open.has(nameOf(each));
  choose(chosen);
  for (const id of live.keys()) write(id);
}

const nameOf = (details) =>
  `${details.closest("[id]")?.id} ${details.querySelector("summary").textContent.split(":")[0]}`;

function refreshSoon() {
  refreshing ??= setTimeout(refresh, 800);
}

/** Adds a frame to what its step writes. False when text is missing before it. */
function hear(frame) {
  let text = live.get(frame.step_id);
  if (!text || frame.attempt > text.attempt || frame.offset === 0) text = { attempt: frame.attempt, text: "", chars: 0 };
  if (frame.attempt < text.attempt) return true;
  if (frame.offset > text.chars) return false;
  const units = Array.from(frame.text).slice(text.chars - frame.offset);
  text = { attempt: frame.attempt, text: (text.text + units.join("")).slice(-LONGEST_LIVE), chars: text.chars + units.length };
  live.set(frame.step_id, text);
  write(frame.step_id);
  return true;
}

function write(id) {
  const output = sectionOf(id)?.querySelector(".output");
  if (!output || output.dataset.done) return;
  let pre = output.querySelector("pre");
  if (!pre) {
    pre = document.createElement("pre");
    pre.className = "text";
    output.replaceChildren(pre);
  }
  pre.textContent = live.get(id).text;
}

function listen(Stream) {
  return new Stream(data.payload.api.ws, {
    after: () => seq,
    onLine: () => {},
    onItems(items) {
      let isWhole = true;
      for (const item of items) {
        if ("seq" in item && item.seq > seq) {
          seq = item.seq;
          refreshSoon();
        } else if (item.channel === "output" && item.step_id !== "plan") isWhole = hear(item) && isWhole;
      }
      if (items.some((item) => ["run_finished", "run_failed", "run_cancelled"].includes(item.kind))) return "end";
      return isWhole ? undefined : "again";
    },
  });
}

const [{ mount }, { Stream }] = await Promise.all([import(data.assets + "main.js"), import(data.assets + "socket.js")]);
const host = document.getElementById("graph");
host.replaceChildren();
mount(host.attachShadow({ mode: "open" }), { // a shadow root: this page's style is not the graph's
  payload: data.payload,
  onState: (name, value) => name === "selected" && select(value),
  onTrigger: (name) => name === "finished" && refreshSoon(),
});
if (!data.ended) listen(Stream);
