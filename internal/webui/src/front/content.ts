// What a page of a PDF draws, and how, from pdf.js's list of its operations.
import type { PDFOperatorList } from 'pdfjs-dist/types/src/display/api';

/** Maps places x, y to a x + c y + e, b x + d y + f. */
export type Matrix = [a: number, b: number, c: number, d: number, e: number, f: number];

/** The state of drawing, as far as it is needed (ISO 32000-1, 8.4.1 and 9.3). */
export interface Drawing {
  cap: number; // ends of lines
  join: number; // corners of lines
  dashed: boolean;
  forms: number; // that it is within
  matrix: Matrix; // to the page's places
  font: string;
  size: number;
  charSpacing: number;
  wordSpacing: number; // of spaces, beyond that
  stretch: number; // times as wide
  rise: number;
  leading: number; // from line to line
  line: Matrix; // where it begins
  text: Matrix; // where it goes on
}

const unmoved: Matrix = [1, 0, 0, 1, 0, 0];
const initial: Drawing = {
  cap: 0, join: 0, dashed: false, forms: 0, matrix: unmoved,
  font: '', size: 0, charSpacing: 0, wordSpacing: 0, stretch: 1, rise: 0, leading: 0, line: unmoved, text: unmoved,
};

/** What maps by one and then by the other. */
export const times = (m: Matrix, n: Matrix): Matrix => [
  m[0] * n[0] + m[1] * n[2], m[0] * n[1] + m[1] * n[3],
  m[2] * n[0] + m[3] * n[2], m[2] * n[1] + m[3] * n[3],
  m[4] * n[0] + m[5] * n[2] + n[4], m[4] * n[1] + m[5] * n[3] + n[5],
];

/** How many times as large things are where it leads. */
export const enlarged = ([a, b, c, d]: Matrix): number => Math.sqrt(Math.abs(a * d - b * c));

/** Something drawn: its place in the list, its name, what it is drawn of, and the state until the next one. */
export interface Drawn {
  place: number;
  name: string;
  args: any[];
  state: Drawing;
}

/** All that a page draws, in order. A path that only bounds what is drawn after it is none. Where a text stands that follows
 * another on its line is known to who tells how far each goes. */
export function* drawnBy(
  list: PDFOperatorList, operations: Record<string, number>, advance: (glyphs: any[], state: Drawing) => [number, number] = () => [0, 0],
): Generator<Drawn> {
  const names = new Map(Object.entries(operations).map(([name, code]) => [code, name]));
  let state = { ...initial };
  const saved: Drawing[] = [];
  for (const [place, code] of list.fnArray.entries()) {
    const name = names.get(code) ?? '';
    const args = list.argsArray[place];
    switch (name) {
      case 'save':
        saved.push({ ...state });
        break;
      case 'paintFormXObjectBegin':
        saved.push({ ...state });
        state.forms++;
        if (args[0]) state.matrix = times(args[0], state.matrix);
        break;
      case 'restore':
      case 'paintFormXObjectEnd':
        state = saved.pop() ?? state;
        break;
      case 'transform':
        state.matrix = times(args, state.matrix);
        break;
      case 'setGState':
        for (const [key, value] of args[0]) set(state, key, value);
        break;
      case 'setLineCap':
        set(state, 'LC', args[0]);
        break;
      case 'setLineJoin':
        set(state, 'LJ', args[0]);
        break;
      case 'setDash':
        set(state, 'D', args);
        break;
      case 'setFont':
        set(state, 'Font', args);
        break;
      case 'setCharSpacing':
        [state.charSpacing] = args;
        break;
      case 'setWordSpacing':
        [state.wordSpacing] = args;
        break;
      case 'setHScale':
        state.stretch = args[0] / 100;
        break;
      case 'setTextRise':
        [state.rise] = args;
        break;
      case 'setLeading':
        [state.leading] = args;
        break;
      case 'beginText':
        state.text = state.line = unmoved;
        break;
      case 'setTextMatrix':
        state.text = state.line = args[0];
        break;
      case 'moveText':
        move(state, args[0], args[1]);
        break;
      case 'setLeadingMoveText':
        state.leading = -args[1];
        move(state, args[0], args[1]);
        break;
      case 'nextLine':
        move(state, 0, -state.leading);
        break;
      default:
        if (name === 'constructPath' ? args[0] !== operations.endPath : /^(show|paint|shading|rawFill)/.test(name)) {
          yield { place, name, args, state };
        }
        if (name === 'showText') state.text = times([1, 0, 0, 1, ...advance(args[0], state)], state.text);
    }
  }
}

/** Sets what an entry of a graphics state says. */
function set(state: Drawing, key: string, value: any): void {
  if (key === 'LC') state.cap = value;
  if (key === 'LJ') state.join = value;
  if (key === 'D') state.dashed = value[0].length > 0;
  if (key === 'Font') [state.font, state.size] = value;
}

/** Begins a line of text there, from where the last one began. */
function move(state: Drawing, x: number, y: number): void {
  state.text = state.line = times([1, 0, 0, 1, x, y], state.line);
}
