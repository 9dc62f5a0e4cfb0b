// Keeps the keyboard's place where Streamlit loses it. What has the focus is often replaced or taken away by the
// very drawing it asked for: then the element that stands there now gets the focus, else the first one in the
// closest part of the page that is still there. And a popover opened by a key is entered, since Streamlit puts
// it at the end of the page. Only after keys: a pointer says itself where it is.

const LOOK_EVERY = 120, REPLACED_WITHIN = 900, GIVE_UP_AFTER = 6000, OPENS_WITHIN = 4000; // ms
const HEADER = 64; // px that the page's own header covers
const USABLE = "button:not(:disabled), a[href], input:not(:disabled), textarea:not(:disabled), [tabindex='0']";

const usable = (part) => [...part.querySelectorAll(USABLE)].filter((each) => each.checkVisibility({ visibilityProperty: true }));
const nameOf = (node) => node.ariaLabel || node.textContent;
/** A key of ours as Streamlit writes it into the classes; a drafted workflow's id in it changes with each edit. */
const keyOf = (node) => [...node.classList].find((name) => name.startsWith("st-key-"))?.replace(/wf_[0-9a-f]+/, "wf");
const parts = (key) => [...document.querySelectorAll("[class*=st-key-]")].filter((part) => keyOf(part) === key);

function trailOf(node) {
  const keys = [];
  for (let at = node; at; at = at.parentElement) if (keyOf(at)) keys.push(keyOf(at));
  return { node, keys, name: nameOf(node), lostAt: null };
}

/** What stands in a lost element's place now; `isLate`: it will not come back, so what is near it. */
function heir({ keys, name }, isLate) {
  const same = keys.length ? parts(keys[0]).flatMap(usable) : [];
  if (same.length) return same.find((each) => nameOf(each) === name) ?? same[0];
  const near = isLate ? keys.find((key) => parts(key).flatMap(usable).length) : null;
  return near ? parts(near).flatMap(usable)[0] : null;
}

class Keeper {
  constructor() {
    Object.assign(this, { trail: null, opener: null, pressedAt: 0, isByKey: false });
    document.addEventListener("keydown", (event) => this.key(event), true);
    document.addEventListener("pointerdown", () => { this.isByKey = false; }, true);
    document.addEventListener("focusin", ({ target }) => { this.trail = trailOf(target); });
    setInterval(() => this.look(), LOOK_EVERY);
  }

  key(event) {
    this.isByKey = true;
    const at = document.activeElement, dialog = at?.closest("[role=dialog]");
    if (event.key === "Tab" && dialog && this.entered?.dialog === dialog) this.leave(event, at, dialog);
    if ((event.key === "Enter" || event.key === " ") && at?.tagName === "BUTTON" && at.ariaExpanded !== null) {
      Object.assign(this, { opener: at, pressedAt: performance.now() });
    }
  }

  /** Beyond the ends of a popover is its button again. */
  leave(event, at, dialog) {
    const inside = usable(dialog);
    if (at !== inside.at(event.shiftKey ? 0 : -1)) return;
    this.entered.opener.focus();
    if (event.shiftKey) event.preventDefault(); // else the browser goes on to what follows the button
  }

  look() {
    if (!this.isByKey) return;
    this.enter();
    const { trail } = this, now = performance.now();
    const isLost = trail && document.activeElement === document.body && (!trail.node.isConnected || trail.node.disabled);
    if (!isLost) return;
    trail.lostAt ??= now;
    if (now - trail.lostAt > GIVE_UP_AFTER) this.trail = null;
    else this.take(heir(trail, now - trail.lostAt > REPLACED_WITHIN && !trail.node.isConnected));
  }

  take(node) {
    if (!node) return;
    node.focus({ preventScroll: true });
    const { top, bottom } = node.getBoundingClientRect();
    if (top < HEADER || bottom > innerHeight) node.scrollIntoView({ block: "center" });
  }

  enter() {
    const { opener } = this;
    if (!opener || document.activeElement !== opener || performance.now() - this.pressedAt > OPENS_WITHIN) return;
    if (opener.ariaExpanded !== "true") return;
    const dialog = [...document.querySelectorAll("body > * [role=dialog]")].findLast((each) => !each.contains(opener));
    const [first] = dialog ? usable(dialog) : [];
    if (!first) return;
    Object.assign(this, { opener: null, entered: { dialog, opener } });
    first.focus();
  }
}

export default function () {
  globalThis.focusKeeper ??= new Keeper();
}
