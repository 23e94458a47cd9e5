// What leaves the page: files, the clipboard, paper.
import { find } from '../page';
import { convert } from './picture';
import { cleaned, finished, rangesOf, type Job, type Page } from './model';

/** How files are saved: as they came, or as one of these. */
export type Format = '' | 'png' | 'jpeg' | 'pdf';

const suffixes: Record<string, string> = { 'image/png': 'png', 'image/webp': 'webp', 'image/jpeg': 'jpg', 'application/pdf': 'pdf' };

/** A file's result: its name and content. */
export async function saved(job: Job, format: Format, keepUnwritten: boolean): Promise<{ name: string; blob: Blob }> {
  const blob = job.pdf || format === 'pdf'
    ? await (await import('./assemble')).assemble([job], keepUnwritten)
    : await inFormat(finished(job.pages[0]!.result!), format);
  return { name: `${job.name.replace(/\.[^.]*$/, '') || 'page'}${some(job)}.clean.${suffixes[blob.type]}`, blob };
}

const longest = 40; // letters that page numbers take in a name

/** Says in a name which pages of a PDF a result has, if not all. */
function some(job: Job): string {
  const pages = cleaned(job);
  if (pages.length === job.pages.length) return '';
  const ranges = rangesOf(pages.map(({ n }) => n));
  if (ranges.length > longest) return `-${pages.length}-of-${job.pages.length}-pages`;
  return `-${pages.length > 1 ? 'pages' : 'page'}-${ranges}`;
}

async function inFormat(picture: Blob, format: Format): Promise<Blob> {
  const type = `image/${format}`;
  return !format || picture.type === type ? picture : convert(picture, type);
}

/** Several files as one ZIP; names that come twice are numbered. */
export async function zip(files: { name: string; blob: Blob }[]): Promise<Blob> {
  const { downloadZip } = await import('client-zip');
  const used = new Set<string>();
  const entries = files.map(({ name, blob }) => {
    let free = name;
    for (let n = 2; used.has(free); n++) free = name.replace(/(\.clean\.\w+)$/, ` ${n}$1`);
    used.add(free);
    return { name: free, input: blob };
  });
  return downloadZip(entries).blob();
}

/** Saves a file by the browser's way to do it. */
export function download(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // when it has been read for sure
}

export async function copy(page: Page): Promise<void> {
  const picture = finished(page.result!);
  const png = picture.type === 'image/png' ? picture : convert(picture, 'image/png');
  await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
}

/** Prints all pages of a file, each on its sheet. */
export async function print(job: Job): Promise<void> {
  const sheets = find('#sheets');
  const urls = job.pages.flatMap(({ result }) => (result ? [URL.createObjectURL(finished(result))] : []));
  sheets.replaceChildren(...urls.map((url) => {
    const image = new Image();
    image.alt = '';
    image.src = url;
    return image;
  }));
  await Promise.all([...sheets.querySelectorAll('img')].map((image) => image.decode()));
  addEventListener('afterprint', () => {
    sheets.replaceChildren();
    for (const url of urls) URL.revokeObjectURL(url);
  }, { once: true });
  window.print();
}
