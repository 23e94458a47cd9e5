// Reads PDFs. What does so is loaded when the first one comes.
import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist';
import { page as shown, t, Told } from '../page';
import { drawnBy, enlarged, type Drawn } from './content';
import { inkIn } from './ink';
import { jpegWithin, limits } from './picture';
import { newPage, type Job, type Page } from './model';
import { textsIn } from './text';

const resolution = 200; // dots per inch that pages are drawn with, where they hold no finer pictures
const finest = 300; // at most
const enough = 0.1; // of a page that finer pictures cover
const pointsPerInch = 72;

/** A PDF that cannot be read; the message says why. */
export class Unreadable extends Told {}

async function reader() {
  const pdfjs = await import('pdfjs-dist/legacy/build/pdf.min.mjs');
  pdfjs.GlobalWorkerOptions.workerSrc = `${shown.assets.pdfjs}/build/pdf.worker.min.js`;
  return pdfjs;
}

const opened = new WeakMap<Job, Promise<PDFDocumentProxy>>();

function open(job: Job): Promise<PDFDocumentProxy> {
  let document = opened.get(job);
  if (!document) opened.set(job, document = read(job.file));
  return document;
}

async function read(file: Blob): Promise<PDFDocumentProxy> {
  const { getDocument } = await reader();
  const base = shown.assets.pdfjs;
  try {
    return await getDocument({
      data: new Uint8Array(await file.arrayBuffer()),
      cMapUrl: `${base}/cmaps/`, cMapPacked: true, standardFontDataUrl: `${base}/standard_fonts/`,
      wasmUrl: `${base}/wasm/`, iccUrl: `${base}/iccs/`, useSystemFonts: true, verbosity: 0,
    }).promise;
  } catch (error) {
    throw new Unreadable(t((error as Error).name === 'PasswordException' ? 'front.js.pdfPassword' : 'front.js.pdfBroken'));
  }
}

/** Annotations that somebody puts on a page that is there already (ISO 32000-1, 12.5.6). All others, such as links and form
 * fields, are of the document. */
export const marks = new Set(['Text', 'FreeText', 'Line', 'Square', 'Circle', 'Polygon', 'PolyLine', 'Highlight', 'Underline', 'Squiggly',
  'StrikeOut', 'Stamp', 'Caret', 'Ink', 'Popup']);

/** Lists a PDF's pages. */
export async function pagesOf(job: Job): Promise<Page[]> {
  const document = await open(job);
  const pages: Page[] = [];
  for (let n = 1; n <= document.numPages; n++) {
    const { width, height } = (await document.getPage(n)).getViewport({ scale: 1 });
    pages.push(newPage(n, width, height));
  }
  return pages;
}

/** Draws a page of a PDF, without the marks on it and a stylus's strokes in it, as a JPEG within the limits. Where there are
 * some, the page as it came is drawn, too. */
export async function draw(job: Job, page: Page): Promise<Blob> {
  try {
    const { AnnotationMode, OPS } = await reader();
    const pdf = await open(job);
    const drawn = await pdf.getPage(page.n);
    const list = await drawn.getOperatorList({ annotationMode: AnnotationMode.DISABLE });
    const ink = inkIn(list, OPS);
    const dpi = resolutionOf(drawnBy(list, OPS), page.width * page.height / drawn.userUnit ** 2) / drawn.userUnit;
    const scale = Math.min(Math.max(resolution, Math.min(dpi, finest)) / pointsPerInch, Math.sqrt(limits.pixels / 2 / (page.width * page.height)));
    const render = (filter?: (i: number) => boolean) => jpegOf(drawn, scale, AnnotationMode.ENABLE_STORAGE, filter);
    const put = (await drawn.getAnnotations()).filter(({ subtype }) => marks.has(subtype));
    page.marked = put.length > 0;
    page.inked = ink.size > 0;
    page.texts = await textsIn(list, OPS, drawn);
    if (page.marked || page.inked) page.came = await render();
    for (const { id } of put) pdf.annotationStorage.setValue(id, { noView: true });
    return await render((i) => !ink.has(i));
  } catch (error) {
    throw error instanceof Unreadable ? error : new Unreadable(t('front.js.pdfPage', { n: page.n }));
  }
}

async function jpegOf(drawn: PDFPageProxy, scale: number, annotationMode: number, operationsFilter?: (i: number) => boolean): Promise<Blob> {
  const canvas = document.createElement('canvas');
  try {
    const viewport = drawn.getViewport({ scale });
    canvas.width = Math.max(limits.side, Math.round(viewport.width));
    canvas.height = Math.max(limits.side, Math.round(viewport.height));
    await drawn.render({ canvas, viewport, background: '#fff', annotationMode, operationsFilter }).promise;
    drawn.cleanup();
    const blob = await jpegWithin(canvas);
    if (!blob) throw new Error('no picture small enough');
    return blob;
  } finally {
    canvas.width = canvas.height = 0; // gives its memory back
  }
}

/** The resolution of a page's pictures, in dots per inch: the finest that a tenth of its area has, given in square points; 0 is
 * none. */
function resolutionOf(drawn: Iterable<Drawn>, area: number): number {
  const pictures: { dpi: number; share: number }[] = [];
  for (const { name, args, state } of drawn) {
    const [width, height] = sizeOf(name, args);
    const larger = enlarged(state.matrix);
    if (width && larger) pictures.push({ dpi: pointsPerInch * Math.sqrt(width * height) / larger, share: larger ** 2 / area });
  }
  pictures.sort((a, b) => b.dpi - a.dpi);
  let covered = 0;
  return pictures.find(({ share }) => (covered += share) >= enough)?.dpi ?? 0;
}

/** How many pixels wide and high the picture is that an operation draws; 0 is none. */
function sizeOf(name: string, args: any[]): [number, number] {
  if (name === 'paintImageXObject') return [args[1], args[2]];
  if (name === 'paintImageMaskXObject' || name === 'paintInlineImageXObject') return [args[0].width, args[0].height];
  return [0, 0];
}

/** Draws a page of a PDF as it is, so small that its longer side is as told. */
export async function drawSmall(job: Job, page: Page, canvas: HTMLCanvasElement, side: number): Promise<void> {
  const drawn = await (await open(job)).getPage(page.n);
  const viewport = drawn.getViewport({ scale: side / Math.max(page.width, page.height) });
  canvas.width = Math.max(1, Math.round(viewport.width));
  canvas.height = Math.max(1, Math.round(viewport.height));
  await drawn.render({ canvas, viewport, background: '#fff' }).promise;
}

/** The names of a PDF's pages, such as iv; null where it has none. */
export async function labelsOf(job: Job): Promise<string[] | null> {
  return (await open(job)).getPageLabels();
}

/** Ends what reading a PDF holds. */
export function close(job: Job): void {
  opened.get(job)?.then((document) => document.loadingTask.destroy(), () => {});
  opened.delete(job);
}
