"""How long a token takes to the screen: ``python -m tests.components.measure_pixels [CARDS]``.

Each frame carries the time at which it was made, before the server's 50 ms batch; it counts as shown when
the browser has painted the change. Prints p50, p95, maximum (ms) and the page's main-thread share.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

from playwright.sync_api import CDPSession, sync_playwright

from tests.chromium import FLAGS, chromium_path

from .harness import running_server

SECONDS = 5
WATCH = """
const Real = window.WebSocket;
window.waiting = []; window.took = [];
window.WebSocket = class extends Real {
  constructor(address) {
    super(address);
    super.addEventListener("message", (event) => {
      const frames = JSON.parse(event.data).filter((item) => item.sent_ms && item.offset > 0);
      window.waiting.push(...frames.map((frame) => frame.sent_ms));
    });
  }
};
window.watch = () => new MutationObserver((changes) => {
  const isText = ({ target }) => (target.closest ? target : target.parentElement)?.closest(".text");
  if (!changes.some(isText) || !window.waiting.length) return;
  const sent = window.waiting.splice(0), { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    const now = performance.timeOrigin + performance.now();
    window.took.push(...sent.map((each) => now - each));
  };
  port2.postMessage(0); // comes after the frame in which the change is painted
}).observe(window.root, { subtree: true, childList: true, characterData: true });
"""


@dataclass(frozen=True)
class Seen:
    """``took_ms``: sorted, per frame, from its making to its painting."""

    cards: int
    took_ms: tuple[float, ...]
    busy_share: float
    """How much of the time the page's main thread worked."""

    def part(self, share: float) -> float:
        """Milliseconds within which this share of the frames was painted."""
        return self.took_ms[int(len(self.took_ms) * share)]

    def __str__(self) -> str:
        times = f"p50 {self.part(0.5):.0f} ms, p95 {self.part(0.95):.0f} ms, max {self.took_ms[-1]:.0f} ms"
        return f"{self.cards} cards, {len(self.took_ms)} frames: {times}, main thread {self.busy_share:.0%}"


def busy_s(session: CDPSession) -> float:
    """Seconds the page's main thread has worked so far."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


def measure(cards: int) -> Seen:
    """Watches so many streaming cards for some seconds."""
    with running_server() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1320, "height": 900})
        page.add_init_script(WATCH)
        page.goto(f"{address}/?scene=live-{cards}")
        page.wait_for_selector(".wfg.styled")
        page.evaluate("watch()")
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        start, before = time.monotonic(), busy_s(session)
        page.wait_for_timeout(SECONDS * 1000)
        share = (busy_s(session) - before) / (time.monotonic() - start)
        took = tuple(sorted(page.evaluate("took")))
        browser.close()
    return Seen(cards, took, share)


if __name__ == "__main__":
    print(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
