// Writes PDFs of results.
import {
  degrees, PDFArray, PDFDict, PDFDocument, PDFHexString, PDFName, PDFPageTree, PDFRef, PDFStream,
  PDFString, type PDFImage, type PDFObject, type PDFPage,
} from 'pdf-lib';
import { convert } from './picture';
import { cleaned, finished, type Job, type Page, type Result } from './model';
import { labelsOf, marks } from './pdf';
import type { Point } from './projection';
import { Unseen } from './under';

const a4Width = 595.28; // points, of pictures

/** Puts the finished pages of files together as one PDF. That of one PDF keeps its title, bookmarks, links, form fields and
 * labels, and pages that become pictures keep their text. A page without handwriting is the original one without the marks on it, if keep says so. */
export async function assemble(jobs: Job[], keep: boolean): Promise<Blob> {
  const made: PDFDocument[] = [];
  for (const job of jobs) made.push((job.pdf ? await rewritten(job, keep) : null) ?? await drawn(job));
  const whole = made.length === 1 ? made[0]! : await joined(made);
  return new Blob([new Uint8Array(await whole.save())], { type: 'application/pdf' });
}

async function joined(parts: PDFDocument[]): Promise<PDFDocument> {
  const whole = await PDFDocument.create();
  for (const part of parts) for (const page of await whole.copyPages(part, part.getPageIndices())) whole.addPage(page);
  return whole;
}

/** A document of pictures. */
async function drawn(job: Job): Promise<PDFDocument> {
  const made = await PDFDocument.create();
  const unseen = new Unseen(made);
  for (const page of cleaned(job)) {
    const image = await embedded(made, page.result!);
    const place = made.addPage(sheet(page, image));
    await unseen.put(place, page, show(place, image));
  }
  unseen.end();
  return made;
}

/** A PDF with the finished pages in the place of its own. Null is one that only its reader can open: it is damaged, or
 * encrypted without a password. */
async function rewritten(job: Job, keep: boolean): Promise<PDFDocument | null> {
  const document = await PDFDocument.load(await job.file.arrayBuffer(), { updateMetadata: false }).catch(() => null);
  if (document?.getPageCount() !== job.pages.length) return null;
  ownResources(document);
  const pages = document.getPages();
  const unseen = new Unseen(document);
  const stays = ({ result, inked }: Page) => keep && !!result?.unwritten && !result.touched && !inked;
  for (const page of job.pages) {
    const { result } = page;
    const place = pages[page.n - 1]!;
    if (!result) {
      clear(place);
      place.node.delete(PDFName.Annots);
    } else if (stays(page)) unmark(place);
    else await replace(unseen, place, page, result);
  }
  unseen.end();
  for (const page of [...job.pages].reverse()) if (!page.result) document.removePage(page.n - 1);
  if (!job.pages.every(stays)) document.catalog.delete(PDFName.of('StructTreeRoot')); // it tells what stood on the pages
  if (cleaned(job).length < pages.length) await relabel(document, job);
  await document.flush();
  sweep(document);
  return document;
}

/** Gives each page the resources that it has of all pages. */
function ownResources(document: PDFDocument): void {
  const resources = PDFName.Resources;
  for (const { node } of document.getPages()) {
    const all = node.getInheritableAttribute(resources);
    if (all) node.set(resources, all);
  }
  for (const [, object] of document.context.enumerateIndirectObjects()) if (object instanceof PDFPageTree) object.delete(resources);
}

/** Gives each page that is left the label that it had: labels are counted by page. */
async function relabel({ catalog, context }: PDFDocument, job: Job): Promise<void> {
  const labels = await labelsOf(job);
  const ranges = cleaned(job).flatMap(({ n }, i) => [i, { P: textString(labels?.[n - 1] ?? '') }]);
  if (labels) catalog.set(PDFName.of('PageLabels'), context.obj({ Nums: ranges }));
}

/** Text as it is where it is plain, since some viewers show nothing else rightly. */
function textString(text: string): PDFString | PDFHexString {
  if (!/^[ -~]*$/.test(text)) return PDFHexString.fromText(text);
  return PDFString.of(text.replaceAll(/[\\()]/g, (c) => `\\${c}`));
}

/** Takes all off a page but its annotations. */
function clear({ node, doc }: PDFPage): void {
  for (const key of ['Contents', 'Thumb', 'PieceInfo', 'Metadata', 'StructParents']) node.delete(PDFName.of(key));
  node.set(PDFName.Resources, doc.context.obj({}));
}

/** Takes the marks off a page. */
function unmark(page: PDFPage): void {
  const annotations = page.node.Annots();
  for (let i = (annotations?.size() ?? 0) - 1; i >= 0; i--) {
    const subtype = annotations!.lookupMaybe(i, PDFDict)?.lookupMaybe(PDFName.of('Subtype'), PDFName);
    if (subtype && marks.has(subtype.decodeText())) annotations!.remove(i);
  }
}

/** Puts a finished page in the place of what a page shows but its text. Links and form fields stay where the picture lies as
 * the page did. */
async function replace(unseen: Unseen, place: PDFPage, page: Page, result: Result): Promise<void> {
  clear(place);
  unmark(place);
  const image = await embedded(place.doc, result);
  if (result.before) {
    const [width, height] = sheet(page, image);
    place.setRotation(degrees(0));
    place.setMediaBox(0, 0, width, height);
    place.setCropBox(0, 0, width, height);
    place.node.delete(PDFName.Annots);
    place.node.delete(PDFName.of('UserUnit'));
  }
  await unseen.put(place, page, show(place, image));
}

async function embedded(document: PDFDocument, result: Result): Promise<PDFImage> {
  const picture = finished(result);
  const known = picture.type === 'image/webp' ? await convert(picture, 'image/png') : picture;
  const content = await known.arrayBuffer();
  return known.type === 'image/png' ? document.embedPng(content) : document.embedJpg(content);
}

/** A page's size in points: its own, turned if its picture was; a picture is as wide as A4. */
function sheet({ width, height }: Page, image: PDFImage): [number, number] {
  if (!width) return [a4Width, a4Width * image.height / image.width];
  return (width > height) === (image.width > image.height) ? [width, height] : [height, width];
}

/** Draws an image in the middle of a page as it is displayed, as large as fits. Shares of the image, from its upper left, are
 * then where the map that is returned says. */
function show(page: PDFPage, image: PDFImage): (share: Point) => Point {
  const { left, bottom, right, top } = shownBox(page);
  const turns = (Math.round(page.getRotation().angle / 90) % 4 + 4) % 4;
  const [width, height] = turns % 2 ? [top - bottom, right - left] : [right - left, top - bottom];
  const scale = Math.min(width / image.width, height / image.height);
  const across = (width - image.width * scale) / 2;
  const up = (height - image.height * scale) / 2;
  // the lower left corner of what is displayed, and the way to the right of it
  const [x, y] = ([[left, bottom], [right, bottom], [right, top], [left, top]] as const)[turns]!;
  const [cos, sin] = ([[1, 0], [0, 1], [-1, 0], [0, -1]] as const)[turns]!;
  const on = (right: number, high: number): Point => [
    x + (across + right * image.width * scale) * cos - (up + high * image.height * scale) * sin,
    y + (across + right * image.width * scale) * sin + (up + high * image.height * scale) * cos,
  ];
  const [atX, atY] = on(0, 0);
  page.drawImage(image, { x: atX, y: atY, rotate: degrees(90 * turns), width: image.width * scale, height: image.height * scale });
  return ([right, down]) => on(right, 1 - down);
}

/** What of a page is displayed, in its own coordinates. */
function shownBox(page: PDFPage): { left: number; bottom: number; right: number; top: number } {
  const media = page.getMediaBox();
  const crop = page.getCropBox();
  const box = {
    left: Math.max(media.x, crop.x), bottom: Math.max(media.y, crop.y),
    right: Math.min(media.x + media.width, crop.x + crop.width), top: Math.min(media.y + media.height, crop.y + crop.height),
  };
  if (box.left < box.right && box.bottom < box.top) return box;
  return { left: media.x, bottom: media.y, right: media.x + media.width, top: media.y + media.height };
}

/** Removes what nothing leads to any more: else a file would still hold the handwriting. */
function sweep({ context }: PDFDocument): void {
  const live = new Set<PDFObject>();
  const ahead: (PDFObject | undefined)[] = [context.trailerInfo.Root, context.trailerInfo.Info];
  for (let object; ahead.length;) {
    object = ahead.pop();
    if (object instanceof PDFRef && !live.has(object)) {
      live.add(object);
      ahead.push(context.lookup(object));
    } else if (object instanceof PDFDict) ahead.push(...object.values());
    else if (object instanceof PDFArray) ahead.push(...object.asArray());
    else if (object instanceof PDFStream) ahead.push(object.dict);
  }
  for (const [ref] of context.enumerateIndirectObjects()) if (!live.has(ref)) context.delete(ref);
}
