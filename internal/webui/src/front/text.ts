// The text of a PDF's page.
import type { PDFPageProxy } from 'pdfjs-dist';
import type { PDFOperatorList } from 'pdfjs-dist/types/src/display/api';
import { drawnBy, times, type Drawing, type Matrix } from './content';

/** As what a glyph is copied, and how far from it the next one is, of 1000. */
export interface Glyph {
  unicode: string;
  width: number;
}

/** A text that is drawn at once: glyphs, and how far the next one stands back after them, of 1000. */
export interface Text {
  glyphs: (Glyph | number)[];
  length: number; // of its size
  matrix: Matrix; // from its own places, where its size is 1, to shares of the page as displayed, from its upper left
}

interface Font {
  vertical?: boolean;
  fontMatrix?: Matrix;
}

/** The texts that a page's list of operations draws, seen or unseen. */
export async function textsIn(list: PDFOperatorList, operations: Record<string, number>, page: PDFPageProxy): Promise<Text[]> {
  const fonts = await fontsIn(list, operations, page);
  const read = (drawn: any[], state: Drawing) => textOf(drawn, state, fonts.get(state.font)!);
  const { width, height, transform } = page.getViewport({ scale: 1 });
  const shares = times(transform as Matrix, [1 / width, 0, 0, 1 / height, 0, 0]);
  const texts: Text[] = [];
  for (const { name, args, state } of drawnBy(list, operations, (drawn, state) => read(drawn, state).advance)) {
    if (name !== 'showText') continue;
    const { glyphs, length, matrix } = read(args[0], state);
    if (state.size && length) texts.push({ glyphs, length, matrix: times(matrix, shares) });
  }
  return texts;
}

async function fontsIn(list: PDFOperatorList, operations: Record<string, number>, page: PDFPageProxy): Promise<Map<string, Font>> {
  const fonts = new Map<string, Font>();
  for (const { name, state: { font } } of drawnBy(list, operations)) {
    if (name !== 'showText' || fonts.has(font)) continue;
    fonts.set(font, await new Promise((resolve) => { page.commonObjs.get(font, resolve); }));
  }
  return fonts;
}

/** A text, and how far it goes (ISO 32000-1, 9.4.4). One from top to bottom is as one turned. */
function textOf(drawn: any[], state: Drawing, { vertical, fontMatrix }: Font): Text & { advance: [number, number] } {
  const { size, charSpacing, wordSpacing, stretch, rise } = state;
  const unit = 1000 * (fontMatrix?.[0] ?? 0.001);
  const back = vertical ? -1 : 1;
  const glyphs: (Glyph | number)[] = [];
  let length = 0;
  for (const glyph of drawn) {
    if (typeof glyph === 'number') {
      glyphs.push(back * glyph);
      length -= back * glyph;
      continue;
    }
    const gap = back * 1000 * (charSpacing + (glyph.isSpace ? wordSpacing : 0)) / size;
    const width = unit * (vertical ? -glyph.vmetric[0] : glyph.width) + gap;
    glyphs.push({ unicode: glyph.unicode, width });
    length += width;
  }
  length /= 1000;
  const own: Matrix = vertical ? [0, -1, 1, 0, -0.3, 0] : [1, 0, 0, 1, 0, 0];
  const matrix = [[size * stretch, 0, 0, size, 0, rise] as Matrix, state.text, state.matrix].reduce(times, own);
  return { glyphs, length, matrix, advance: vertical ? [0, -length * size] : [length * size * stretch, 0] };
}
