import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Stream } from "../../../components/workflow_graph/assets/socket.js";

class FakeSocket {
  static all = [];
  constructor(url) { this.url = String(url); FakeSocket.all.push(this); }
  close() { this.isClosed = true; }
}

function page() {
  const listeners = {};
  const on = (name, run) => { listeners[name] = run; };
  const off = (name) => { delete listeners[name]; };
  return {
    listeners, location: { href: "https://studio.example/?run=r" }, WebSocket: FakeSocket, addEventListener: on, removeEventListener: off,
    document: { visibilityState: "visible", addEventListener: on, removeEventListener: off },
  };
}

function stream(said = () => undefined) {
  const heard = [], lines = [], window = page();
  let seq = 0;
  const made = new Stream("/api/runs/r/ws?share=k", {
    after: () => seq, page: window, onLine: (word) => lines.push(word),
    onItems: (items) => { heard.push(...items); seq = items.at(-1).seq ?? seq; return said(items); },
  });
  const socket = () => FakeSocket.all.at(-1);
  return { made, heard, lines, window, socket, say: (items) => socket().onmessage({ data: JSON.stringify(items) }) };
}

beforeEach(() => {
  FakeSocket.all.length = 0;
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
});

test("asks for what comes after the last known event and keeps the share key", () => {
  const { socket, say, heard } = stream();
  assert.equal(socket().url, "wss://studio.example/api/runs/r/ws?share=k&after=0");
  say([{ seq: 1 }, { seq: 2 }]);
  assert.equal(heard.length, 2);
});

test("comes back after a broken line, more and more slowly, from where it was", () => {
  const { socket, say, lines } = stream();
  say([{ seq: 5 }]);
  socket().onclose({ code: 1006 });
  mock.timers.tick(600);
  assert.equal(FakeSocket.all.length, 2);
  assert.match(socket().url, /after=5$/);
  for (const wait of [1100, 2100, 4100, 8100, 10100]) {
    socket().onclose({ code: 1006 });
    const before = FakeSocket.all.length;
    mock.timers.tick(wait);
    assert.equal(FakeSocket.all.length, before + 1);
  }
  assert.equal(lines.at(-1), "down");
  say([{ seq: 6 }]);
  assert.equal(lines.at(-1), "up");
});

test("rests while the page is hidden and resumes", () => {
  const { socket, window, lines } = stream();
  window.document.visibilityState = "hidden";
  window.listeners.visibilitychange();
  assert.equal(socket().isClosed, true);
  mock.timers.tick(60_000);
  assert.equal(FakeSocket.all.length, 1);
  window.document.visibilityState = "visible";
  window.listeners.visibilitychange();
  assert.equal(FakeSocket.all.length, 2);
  assert.ok(!lines.includes("down"), "being hidden is no trouble");
});

test("a line that says nothing for 40 s is taken for dead; heartbeats keep it", () => {
  const { say } = stream();
  for (let beat = 0; beat < 5; beat++) {
    say([{ heartbeat: "x" }]);
    mock.timers.tick(15_000);
  }
  assert.equal(FakeSocket.all.length, 1);
  mock.timers.tick(40_000);
  mock.timers.tick(1000);
  assert.equal(FakeSocket.all.length, 2);
});

test("the network's return opens a new line at once", () => {
  const { window, socket } = stream();
  const first = socket();
  window.listeners.online();
  assert.equal(first.isClosed, true);
  assert.equal(FakeSocket.all.length, 2);
});

test("ends with the run, and never comes back", () => {
  const { say, socket, window } = stream((items) => (items.some((item) => item.seq === 9) ? "end" : undefined));
  say([{ seq: 9 }]);
  assert.equal(socket().isClosed, true);
  assert.deepEqual(Object.keys(window.listeners), []);
  mock.timers.tick(60_000);
  assert.equal(FakeSocket.all.length, 1);
});

test("missing text opens the line anew", () => {
  const { say } = stream(() => "again");
  say([{ seq: 1 }]);
  mock.timers.tick(600);
  assert.equal(FakeSocket.all.length, 2);
});

test("an unknown run and a refused page are told, once, and not tried again", () => {
  for (const [code, word] of [[4404, "lost"], [4403, "forbidden"]]) {
    FakeSocket.all.length = 0;
    const { socket, lines } = stream();
    socket().onclose({ code });
    mock.timers.tick(60_000);
    assert.deepEqual([lines.at(-1), FakeSocket.all.length], [word, 1]);
  }
});
