// What a page of a PDF draws, and how, from pdf.js's list of its operations.
import type { PDFOperatorList } from 'pdfjs-dist/types/src/display/api';

/** The state of drawing, as far as it is needed (ISO 32000-1, 8.4.1). */
export interface Drawing {
  cap: number; // ends of lines
  join: number; // corners of lines
  dashed: boolean;
  larger: number; // times as large on the page as in its numbers
  forms: number; // that it is within
}

/** Something drawn: its place in the list, its name, what it is drawn of, and the state until the next one. */
export interface Drawn {
  place: number;
  name: string;
  args: any[];
  state: Drawing;
}

/** All that a page draws, in order. A path that only bounds what is drawn after it is none. */
export function* drawnBy(list: PDFOperatorList, operations: Record<string, number>): Generator<Drawn> {
  const names = new Map(Object.entries(operations).map(([name, code]) => [code, name]));
  let state: Drawing = { cap: 0, join: 0, dashed: false, larger: 1, forms: 0 };
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
        if (args[0]) state.larger *= enlarged(args[0]);
        break;
      case 'restore':
      case 'paintFormXObjectEnd':
        state = saved.pop() ?? state;
        break;
      case 'transform':
        state.larger *= enlarged(args);
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
      default:
        if (name === 'constructPath' ? args[0] !== operations.endPath : /^(show|nextLine.*Show|paint|shading|rawFill)/.test(name)) {
          yield { place, name, args, state };
        }
    }
  }
}

/** Sets what an entry of a graphics state says. */
function set(state: Drawing, key: string, value: any): void {
  if (key === 'LC') state.cap = value;
  if (key === 'LJ') state.join = value;
  if (key === 'D') state.dashed = value[0].length > 0;
}

const enlarged = ([a, b, c, d]: number[]): number => Math.sqrt(Math.abs(a! * d! - b! * c!));
