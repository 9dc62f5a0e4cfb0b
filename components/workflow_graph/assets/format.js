// Numbers and labels for people. An unknown figure is said to be unknown, never 0. Pure: no DOM.

/** A label with its {values} filled in; the key itself when the catalogue lacks it. */
export function say(labels, key, values = {}) {
  const text = labels[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(values, name) ? String(values[name]) : whole));
}

/** The singular or plural of a label (`key.one`, `key.other`) with {n}. */
export const sayCount = (labels, key, n, values = {}) =>
  say(labels, `${key}.${n === 1 ? "one" : "other"}`, { n: thousands(n), ...values });

export const thousands = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

/** "41 ms", "12.4 s", "2 min 05 s"; null when unknown. Twin of conductor_client/figures.py: one step has one figure everywhere. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return null;
  return seconds < 1 ? `${(seconds * 1000).toFixed(0)} ms` : ticking(seconds);
}

/** The same for a clock that goes on: tenths instead of milliseconds. */
export function ticking(seconds) {
  if (seconds < 100) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds), hours = Math.floor(whole / 3600);
  const two = (n) => String(n).padStart(2, "0");
  if (hours) return `${hours} h ${two(Math.floor((whole % 3600) / 60))} min`;
  return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
}

/** "$0", "$0.000041", "$0.0042", "$1.30" from a decimal string; null when unknown. */
export function dollars(cost) {
  if (cost === null || cost === undefined) return null;
  const value = Number(cost);
  if (value === 0) return "$0";
  if (value < 0.01) return `$${value.toFixed(Math.min(8, Math.max(4, 1 - Math.floor(Math.log10(value)))))}`;
  return `$${value < 1 ? value.toFixed(3) : thousands(value.toFixed(2).split(".")[0]) + value.toFixed(2).slice(-3)}`;
}

/** Input and output tokens together, or null when either is unknown. */
export const total = (tokens) =>
  (tokens && tokens.in !== null && tokens.out !== null ? tokens.in + tokens.out : null);

/** Seconds between two ISO moments, to the microsecond; null when one is missing or the clock was put back between. */
export function between(from, to) {
  if (!from || !to) return null;
  const seconds = (Date.parse(to) - Date.parse(from) + (finer(to) - finer(from)) / 1000) / 1000;
  return seconds < 0 ? null : seconds;
}

/** The microseconds after the last whole millisecond, which Date leaves away. */
const finer = (moment) => Number((/\.\d{3}(\d{1,3})/.exec(moment)?.[1] ?? "").padEnd(3, "0"));
