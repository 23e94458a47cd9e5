// A stylus's strokes in the content of a PDF's page, as internal/pdf/ink.go tells them: lines with round ends and corners
// through many points that lie close together, which turn back and forth, and are drawn after everything else.
import type { PDFOperatorList } from 'pdfjs-dist/types/src/display/api';
import { drawnBy, enlarged, type Drawing } from './content';

const fewestStrokes = 3;
const fewestPoints = 5; // of a stroke that is looked at
const closest = 4; // points: the median of the steps from sample to sample is at most that
const turningShare = 0.3; // of the strokes looked at that turn back in both directions
const round = 1; // ends and corners of lines (ISO 32000-1, 8.4.3.3)
const [moveTo, lineTo, closePath] = [0, 1, 4]; // how a path goes on, as pdf.js numbers it

type Point = [number, number];

/** The way of a pen. */
interface Stroke {
  points: Point[];
  larger: number; // times as large on the page
}

/** The places in a page's list of operations that draw a stylus's strokes; none where it is not sure that they are. */
export function inkIn(list: PDFOperatorList, operations: Record<string, number>): Set<number> {
  let printed = false;
  let places: number[] = [];
  let strokes: Stroke[] = [];
  for (const { place, name, args, state } of drawnBy(list, operations)) {
    const points = name === 'constructPath' && args[0] === operations.stroke && isPen(state) ? pointsOf(args[1][0]) : null;
    if (points) {
      places.push(place);
      append(strokes, { points, larger: enlarged(state.matrix) });
      continue;
    }
    printed = true;
    places = [];
    strokes = [];
  }
  return new Set(printed && written(strokes) ? places : []);
}

const isPen = ({ cap, join, dashed, forms }: Drawing): boolean => cap === round && join === round && !dashed && !forms;

/** The points of a path of one run of lines; null for any other. */
function pointsOf(path: Float32Array | null): Point[] | null {
  const points: Point[] = [];
  for (let i = 0; path && i < path.length;) {
    const kind = path[i++];
    if (kind === closePath) continue;
    if ((kind !== moveTo && kind !== lineTo) || (kind === moveTo) !== (points.length === 0)) return null;
    points.push([path[i++]!, path[i++]!]);
  }
  return points.length < 2 ? null : points;
}

/** Some programs write a stroke as many lines that follow each other. */
function append(strokes: Stroke[], next: Stroke): void {
  const last = strokes.at(-1)?.points;
  const [x, y] = last?.at(-1) ?? [];
  if (x === next.points[0]![0] && y === next.points[0]![1]) last!.push(...next.points.slice(1));
  else strokes.push(next);
}

/** Whether strokes are surely those of a hand. */
function written(strokes: Stroke[]): boolean {
  const long = strokes.filter(({ points }) => points.length >= fewestPoints);
  const turning = long.filter(({ points }) => turns(points, 0) && turns(points, 1));
  if (long.length < fewestStrokes || turning.length < turningShare * long.length) return false;
  const steps = long.flatMap(({ points, larger }) =>
    points.slice(1).map(([x, y], i) => larger * Math.hypot(x - points[i]![0], y - points[i]![1])));
  steps.sort((a, b) => a - b);
  return steps[Math.floor(steps.length / 2)]! <= closest;
}

/** Whether a stroke goes forth and back along an axis. */
function turns(points: Point[], axis: 0 | 1): boolean {
  const steps = points.slice(1).map((point, i) => point[axis] - points[i]![axis]);
  return steps.some((step) => step > 0) && steps.some((step) => step < 0);
}
