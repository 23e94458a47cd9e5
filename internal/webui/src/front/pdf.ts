// PDFs in and out. What reads and writes them is loaded when the first one comes.
import type { PDFPage } from 'pdf-lib';
import type { PDFDocumentProxy } from 'pdfjs-dist';
import { page as shown, t, Told } from '../page';
import { convert, jpegWithin, limits } from './picture';
import { finished, newPage, type Job, type Page } from './model';

const resolution = 200; // dots per inch that pages are drawn with
const pointsPerInch = 72;
const a4Width = 595.28; // points, of pictures in a PDF

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

// Annotations that somebody puts on a page that is there already (ISO 32000-1, 12.5.6). All others, such as links and form
// fields, are of the document.
const marks = new Set(['Text', 'FreeText', 'Line', 'Square', 'Circle', 'Polygon', 'PolyLine', 'Highlight', 'Underline', 'Squiggly',
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

/** Draws a page of a PDF, without the marks on it, as a JPEG within the limits. */
export async function draw(job: Job, page: Page): Promise<Blob> {
  const canvas = document.createElement('canvas');
  try {
    const { AnnotationMode } = await reader();
    const pdf = await open(job);
    const drawn = await pdf.getPage(page.n);
    for (const { id, subtype } of await drawn.getAnnotations()) {
      if (!marks.has(subtype)) continue;
      pdf.annotationStorage.setValue(id, { noView: true });
      page.marked = true;
    }
    const scale = Math.min(resolution / pointsPerInch, Math.sqrt(limits.pixels / 2 / (page.width * page.height)));
    const viewport = drawn.getViewport({ scale });
    canvas.width = Math.max(limits.side, Math.round(viewport.width));
    canvas.height = Math.max(limits.side, Math.round(viewport.height));
    await drawn.render({ canvas, viewport, background: '#fff', annotationMode: AnnotationMode.ENABLE_STORAGE }).promise;
    drawn.cleanup();
    const blob = await jpegWithin(canvas);
    if (blob) return blob;
  } catch (error) {
    if (error instanceof Unreadable) throw error;
  } finally {
    canvas.width = canvas.height = 0; // gives its memory back
  }
  throw new Unreadable(t('front.js.pdfPage', { n: page.n }));
}

/** Draws a page of a PDF as it is, so small that its longer side is as told. */
export async function drawSmall(job: Job, page: Page, canvas: HTMLCanvasElement, side: number): Promise<void> {
  const drawn = await (await open(job)).getPage(page.n);
  const viewport = drawn.getViewport({ scale: side / Math.max(page.width, page.height) });
  canvas.width = Math.max(1, Math.round(viewport.width));
  canvas.height = Math.max(1, Math.round(viewport.height));
  await drawn.render({ canvas, viewport, background: '#fff' }).promise;
}

/** Ends what reading a PDF holds. */
export function close(job: Job): void {
  opened.get(job)?.then((document) => document.loadingTask.destroy(), () => {});
  opened.delete(job);
}

/** Puts the finished pages of files together as one PDF. A page without handwriting is the original one
 * without the marks on it, if keep says so. */
export async function assemble(jobs: Job[], keep: boolean): Promise<Blob> {
  const { PDFDict, PDFDocument, PDFName } = await import('pdf-lib');
  const unmark = (page: PDFPage) => {
    const annotations = page.node.Annots();
    for (let i = (annotations?.size() ?? 0) - 1; i >= 0; i--) {
      const subtype = annotations!.lookupMaybe(i, PDFDict)?.lookupMaybe(PDFName.of('Subtype'), PDFName);
      if (subtype && marks.has(subtype.decodeText())) annotations!.remove(i);
    }
  };
  const made = await PDFDocument.create();
  for (const job of jobs) {
    const original = keep && job.pdf && job.pages.some(({ result }) => result?.unwritten)
      ? await PDFDocument.load(await job.file.arrayBuffer()).catch(() => null) : null; // encrypted, without a password
    for (const page of job.pages) {
      const { result } = page;
      if (!result) continue;
      if (original && result.unwritten && !result.touched) {
        unmark(original.getPage(page.n - 1));
        const [copy] = await made.copyPages(original, [page.n - 1]);
        made.addPage(copy);
        continue;
      }
      const finishedPage = finished(result);
      const picture = finishedPage.type === 'image/webp' ? await convert(finishedPage, 'image/png') : finishedPage;
      const content = await picture.arrayBuffer();
      const image = picture.type === 'image/png' ? await made.embedPng(content) : await made.embedJpg(content);
      const [width, height] = sheet(page, image);
      const scale = Math.min(width / image.width, height / image.height);
      made.addPage([width, height]).drawImage(image, {
        x: (width - image.width * scale) / 2, y: (height - image.height * scale) / 2, width: image.width * scale, height: image.height * scale,
      });
    }
  }
  return new Blob([new Uint8Array(await made.save())], { type: 'application/pdf' });
}

/** A page's size in points: its own, turned if its picture was; a picture is as wide as A4. */
function sheet({ width, height }: Page, image: { width: number; height: number }): [number, number] {
  if (!width) return [a4Width, a4Width * image.height / image.width];
  return (width > height) === (image.width > image.height) ? [width, height] : [height, width];
}
