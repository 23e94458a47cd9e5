// Puts the text of a page unseen under the picture that takes the page's place, to be found and copied.
import {
  beginText, endText, PDFName, PDFOperator, PDFOperatorNames, setFontAndSize, setTextMatrix, setTextRenderingMode,
  TextRenderingMode, type PDFDocument, type PDFPage, type PDFRef,
} from 'pdf-lib';
import { measure } from './picture';
import { finished, type Page, type Result } from './model';
import { at, inverse, projectionOf, whole, type Corners, type Point } from './projection';
import type { Glyph } from './text';

const [below, above] = [-0.2, 0.8]; // where glyphs end, of their size

/** The texts of a document's pages: each of their glyphs has a code, in fonts that show nothing. */
export class Unseen {
  private readonly codes = new Map<string, number>();
  private readonly glyphs: Glyph[] = [];
  private readonly fonts: PDFRef[] = [];

  constructor(private readonly document: PDFDocument) {}

  /** Puts the texts of a page, but for those whose ink was removed, where they are on the picture; lies maps shares of that to
   * the written page. */
  async put(written: PDFPage, page: Page, lies: (share: Point) => Point): Promise<void> {
    if (!page.texts?.length) return;
    const toPicture = inverse(projectionOf(await cornersOf(page)));
    const gone = await goneFrom(page.result!);
    for (const { glyphs, length, matrix: [a, b, c, d, e, f] } of page.texts) {
      const on = (x: number, y: number): Point => at(toPicture, [a * x + c * y + e, b * x + d * y + f]);
      if (gone([on(0, below), on(length, below), on(length, above), on(0, above)])) continue;
      const [x, y] = lies(on(0, 0));
      const [endX, endY] = lies(on(length, 0));
      const [topX, topY] = lies(on(0, 1));
      const matrix = [(endX - x) / length, (endY - y) / length, topX - x, topY - y, x, y] as const;
      if (!matrix.every(Number.isFinite)) continue; // beyond what is seen of the plane
      written.pushOperators(beginText(), setTextRenderingMode(TextRenderingMode.Invisible), setTextMatrix(...matrix),
        ...this.shown(written, glyphs), endText());
    }
  }

  /** What shows glyphs, in each font in turn. */
  private shown(page: PDFPage, glyphs: (Glyph | number)[]): PDFOperator[] {
    const operators: PDFOperator[] = [];
    let run = '';
    let font = -1;
    const end = () => {
      if (font < 0) return;
      operators.push(PDFOperator.of(PDFOperatorNames.ShowTextAdjusted, [`[${run}]`]));
      run = '';
    };
    for (const glyph of glyphs) {
      if (typeof glyph === 'number') {
        run += `${glyph.toFixed(1)} `;
        continue;
      }
      const code = this.codeOf(glyph);
      if (code >> 8 !== font) {
        end();
        font = code >> 8;
        operators.push(setFontAndSize(this.fontOn(page, font), 1));
      }
      run += `<${hex(code & 255, 2)}>`;
    }
    end();
    return operators;
  }

  private codeOf({ unicode, width }: Glyph): number {
    const glyph = { unicode, width: Math.round(width) };
    const key = `${glyph.width} ${unicode}`;
    let code = this.codes.get(key);
    if (code === undefined) {
      this.codes.set(key, code = this.glyphs.length);
      this.glyphs.push(glyph);
    }
    return code;
  }

  /** The name that a font has on a page. */
  private fontOn(page: PDFPage, font: number): string {
    const name = `Unseen${font}`;
    page.node.setFontDictionary(PDFName.of(name), this.fonts[font] ??= this.document.context.nextRef());
    return name;
  }

  /** Writes the fonts, when all texts are put. */
  end(): void {
    if (!this.fonts.length) return;
    const { context } = this.document;
    const glyph = context.register(context.stream('1000 0 d0'));
    for (const [i, font] of this.fonts.entries()) {
      const glyphs = this.glyphs.slice(256 * i, 256 * (i + 1));
      context.assign(font, context.obj({
        Type: 'Font', Subtype: 'Type3', FontMatrix: [0.001, 0, 0, 0.001, 0, 0], FontBBox: [0, 1000 * below, 1000, 1000 * above],
        CharProcs: { none: glyph }, Resources: {},
        Encoding: { Type: 'Encoding', Differences: [0, ...glyphs.map(() => 'none')] },
        FirstChar: 0, LastChar: glyphs.length - 1, Widths: glyphs.map(({ width }) => width),
        ToUnicode: context.register(context.flateStream(unicodeOf(glyphs))),
      }));
    }
  }
}

const hex = (n: number, digits: number): string => n.toString(16).padStart(digits, '0');

/** A table of what glyphs are copied as (ISO 32000-1, 9.10.3). */
function unicodeOf(glyphs: Glyph[]): string {
  const utf16 = (text: string) => Array.from({ length: text.length }, (_, i) => hex(text.charCodeAt(i), 4)).join('');
  const rows = glyphs.flatMap(({ unicode }, i) => (unicode ? [`1 beginbfchar <${hex(i, 2)}> <${utf16(unicode)}> endbfchar`] : []));
  return `/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /Unseen def /CMapType 2 def 1 begincodespacerange <00> <ff> endcodespacerange
${rows.join('\n')}
endcmap CMapName currentdict /CMap defineresource pop end end`;
}

/** Where the corners of a page's picture lay on the page, by shares of that. */
async function cornersOf({ source, result }: Page): Promise<Corners> {
  const { turned = 0, corners } = result!;
  if (!corners) return whole.map((_, i) => whole[(i + 4 - turned / 90) % 4]) as Corners;
  const size = await measure(source!);
  return corners.map(([x, y]) => [x / size!.width, y / size!.height]) as Corners;
}

/** Tells of a part of a finished page, by shares of it, whether more of its ink was removed than was left. */
async function goneFrom(result: Result): Promise<(part: Point[]) => boolean> {
  const { image, handwriting, touched } = result;
  if (!handwriting.size && !touched) return () => false;
  const darkest = 0.7; // of the paper: what is darker is ink
  const left = await pixelsOf(finished(result));
  const { width, height } = left;
  const removed = handwriting.size ? await pixelsOf(handwriting, width, height) : null;
  const before = touched ? await pixelsOf(image) : null;
  return (part) => {
    const [xs, ys] = [part.map(([x]) => x * width), part.map(([, y]) => y * height)];
    const [fromX, toX] = [Math.max(0, Math.floor(Math.min(...xs))), Math.min(width, Math.ceil(Math.max(...xs)))];
    const [fromY, toY] = [Math.max(0, Math.floor(Math.min(...ys))), Math.min(height, Math.ceil(Math.max(...ys)))];
    let paper = 0;
    let [gone, stayed] = [0, 0];
    const each = (f: (i: number) => void) => {
      for (let y = fromY; y < toY; y++) for (let x = fromX; x < toX; x++) f(4 * (y * width + x));
    };
    const dark = ({ data }: ImageData, i: number) => data[i + 1]! < darkest * paper;
    each((i) => { paper = Math.max(paper, left.data[i + 1]!); });
    each((i) => {
      if (dark(left, i)) stayed++;
      else if (removed?.data[i + 3] || (before && dark(before, i))) gone++;
    });
    return gone > stayed;
  };
}

async function pixelsOf(picture: Blob, width?: number, height?: number): Promise<ImageData> {
  const bitmap = await createImageBitmap(picture);
  width ??= bitmap.width;
  height ??= bitmap.height;
  const pen = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })!;
  pen.drawImage(bitmap, 0, 0, width, height);
  bitmap.close();
  return pen.getImageData(0, 0, width, height);
}
