// Text that may be huge, kept small: a count, the beginning and the end. Offsets on the wire count code
// points, JavaScript strings count UTF-16 units; this module is where the two meet. Pure: no DOM.

export const KEPT = 400; // code points kept at each end; Python's payload.py keeps as many

/** How many code points a string holds. */
export function count(text) {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit < 0xdc00 && at + 1 < text.length) {
      const next = text.charCodeAt(at + 1);
      if (next >= 0xdc00 && next < 0xe000) { pairs++; at++; }
    }
  }
  return text.length - pairs;
}

/** The first `n` code points. */
export function head(text, n = KEPT) {
  return text.length <= n ? text : Array.from(text.slice(0, 2 * n)).slice(0, n).join("");
}

/** The last `n` code points. */
export function tail(text, n = KEPT) {
  if (text.length <= n) return text;
  let from = Math.max(0, text.length - 2 * n - 1);
  if (from > 0 && isLow(text, from)) from++;
  const end = Array.from(text.slice(from));
  return end.slice(Math.max(0, end.length - n)).join("");
}

const isLow = (text, at) => text.charCodeAt(at) >= 0xdc00 && text.charCodeAt(at) < 0xe000;

/** A whole text as {head, tail, chars}; one that was cut on the way here stays as it is. */
export const cut = (text) => (typeof text === "string" ? { head: head(text), tail: tail(text), chars: count(text) } : text);

/** Text that grows by frames. `add` says whether the frame fitted: false means some text is missing before it. */
export class Growing {
  constructor() { this.clear(); }

  clear() { Object.assign(this, { head: "", tail: "", chars: 0 }); }

  add(offset, text) {
    if (offset === 0 && this.chars > 0 && count(text) >= this.chars) this.clear();
    if (offset === 0 && this.chars > 0) return true; // an older, shorter copy of what is here already
    if (offset < this.chars) {
      const known = this.chars - offset;
      const units = Array.from(text);
      if (units.length <= known) return true;
      text = units.slice(known).join("");
    } else if (offset > this.chars) return false;
    const grown = this.tail + text;
    if (this.chars < KEPT) this.head = head(this.chars ? this.head + text : text);
    this.tail = tail(grown);
    this.chars += count(text);
    return true;
  }
}
