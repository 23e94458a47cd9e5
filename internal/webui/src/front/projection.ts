// Maps of one plane to another, as internal/pdf/projection.go has them.

export type Point = [x: number, y: number];
/** Upper left, upper right, lower right and lower left. */
export type Corners = [Point, Point, Point, Point];
type Row = [number, number, number];
/** x, y, 1 times its rows, by the last. */
export type Projection = [Row, Row, Row];

export const whole: Corners = [[0, 0], [1, 0], [1, 1], [0, 1]];

export function at(p: Projection, [x, y]: Point): Point {
  const [across, down, by] = p.map(([a, b, c]) => a * x + b * y + c) as Row;
  return [across / by, down / by];
}

/** By the adjugate, which is as good: its scale is lost in at. */
export function inverse(p: Projection): Projection {
  const minor = (i: number, j: number) => {
    const [a, b, c, d] = [(j + 1) % 3, (j + 2) % 3, (i + 1) % 3, (i + 2) % 3];
    return p[a]![c]! * p[b]![d]! - p[a]![d]! * p[b]![c]!;
  };
  return [0, 1, 2].map((i) => [0, 1, 2].map((j) => minor(i, j))) as Projection;
}

/** Maps the unit square to these corners. */
export function projectionOf([[ax, ay], [bx, by], [cx, cy], [dx, dy]]: Corners): Projection {
  const [x, y] = [ax - bx + cx - dx, ay - by + cy - dy];
  const size = (bx - cx) * (dy - cy) - (dx - cx) * (by - cy);
  const g = (x * (dy - cy) - (dx - cx) * y) / size;
  const h = ((bx - cx) * y - x * (by - cy)) / size;
  return [[bx - ax + g * bx, dx - ax + h * dx, ax], [by - ay + g * by, dy - ay + h * dy, ay], [g, h, 1]];
}
