// A line of straight pieces as an SVG path with round corners. Pure: no DOM.

const CORNER = 8;

/** The path through these points; `figure` writes a number. */
export function bent(points, figure) {
  let path = `M${figure(points[0][0])} ${figure(points[0][1])}`;
  for (let at = 1; at < points.length - 1; at++) {
    const [x, y] = points[at], near = toward(points[at], points[at - 1]), far = toward(points[at], points[at + 1]);
    path += `L${figure(near[0])} ${figure(near[1])}Q${figure(x)} ${figure(y)} ${figure(far[0])} ${figure(far[1])}`;
  }
  const [x, y] = points[points.length - 1];
  return `${path}L${figure(x)} ${figure(y)}`;
}

function toward([x, y], [otherX, otherY]) {
  const far = Math.hypot(otherX - x, otherY - y), part = Math.min(CORNER, far / 2) / (far || 1);
  return [x + (otherX - x) * part, y + (otherY - y) * part];
}
