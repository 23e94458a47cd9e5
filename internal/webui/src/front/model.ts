// The queue as data: files, each of one page or, if it is a PDF, of many.
import type { Run } from './flood';
import type { Corners } from './projection';
import type { Text } from './text';

/** In which state a page is. One that is out waits for credits; one that is left was not chosen. */
export type State = 'waiting' | 'working' | 'pausing' | 'out' | 'done' | 'failed' | 'cancelled' | 'left';

/** A stroke of a brush over a result, in the result's pixels: along its points, or, where it took something whole, its runs. */
export interface Stroke {
  brush: 'restore' | 'erase';
  width: number;
  points: [number, number][];
  runs?: Run[];
}

/** What the service made of a page, and what was painted on it since. */
export interface Result {
  image: Blob;
  handwriting: Blob; // what was removed, transparent elsewhere
  before?: Blob; // the page uncleaned, as the image lies; absent where the source lies so
  made?: string; // the options that it was made with
  unwritten: boolean; // nothing was removed
  turned?: number; // degrees clockwise by which the source was turned
  corners?: Corners; // where the image's were in the source, in its pixels, unless it was only turned
  strokes: Stroke[];
  touched?: Blob; // the image with the strokes, a PNG
}

/** A picture, or a page of a PDF. */
export interface Page {
  key: string; // under which the service charges it once
  n: number; // from 1
  width: number; // of a PDF's page, in points
  height: number;
  marked?: boolean; // annotations were taken off it
  inked?: boolean; // a stylus's strokes in its content were
  texts?: Text[]; // on it
  state: State;
  message: string;
  request?: string; // id of the one that failed
  progress?: number; // 0 to 1, while it is uploaded
  source?: Blob; // what is sent
  came?: Blob; // the page with what was taken off it before it was sent
  result?: Result;
}

/** A file. */
export interface Job {
  id: string;
  name: string;
  file: Blob;
  pdf: boolean;
  added: number; // milliseconds since 1970
  place: number; // in the queue: the files are in the order of these
  pages: Page[];
  choose?: number; // how many of its pages can be cleaned, until some are chosen
  shrunk?: boolean; // the photo was larger than can be sent
  problem?: string; // why it cannot be sent
}

/** In which state a file is: that of the page which matters most. */
export type JobState = Exclude<State, 'left'> | 'preparing' | 'choosing' | 'refused';

export function stateOf(job: Job): JobState {
  if (job.problem) return 'refused';
  if (!job.pages.length) return 'preparing';
  if (job.choose) return 'choosing';
  const order = ['working', 'pausing', 'out', 'waiting', 'failed', 'cancelled'] as const;
  return order.find((state) => job.pages.some((page) => page.state === state)) ?? 'done';
}

/** What the engine reports of a page, as far as it is needed. */
export interface Report {
  removed: number;
  turned: number;
  corners?: Corners;
}

/** What a result has of its report. */
export const reported = (report?: Report): Pick<Result, 'unwritten' | 'turned' | 'corners'> =>
  ({ unwritten: report?.removed === 0, turned: report?.turned, corners: report?.corners });

/** What is saved of a page. */
export const finished = ({ touched, image }: Result): Blob => touched ?? image;

/** The pages that have a result. */
export const cleaned = (job: Job): Page[] => job.pages.filter(({ result }) => result);

/** Numbers such as 1-3,5,9- of a file's pages, in order; null is what cannot be read, or names none. */
export function numbersOf(text: string, last: number): number[] | null {
  const chosen = new Set<number>();
  for (const part of text.split(/[,，、;；]/)) {
    const [, from, dash, to] = /^\s*(\d*)\s*([-–]?)\s*(\d*)\s*$/.exec(part) ?? [];
    if (!from && !to) return null;
    const end = Number(to || (dash ? last : from));
    for (let n = Number(from || 1); n <= Math.min(end, last); n++) if (n > 0) chosen.add(n);
  }
  return chosen.size ? [...chosen].sort((a, b) => a - b) : null;
}

/** Numbers in order, as people write them: 1-3,5. */
export function rangesOf(numbers: number[]): string {
  const ranges: [number, number][] = [];
  for (const n of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] === n - 1) last[1] = n;
    else ranges.push([n, n]);
  }
  return ranges.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join(',');
}

/** The pages of a file that can be chosen. */
export const choosable = (job: Job): Page[] => job.pages.filter(({ state }) => state === 'left');

/** Whether there are not credits enough for all pages that can be chosen. */
export const short = (job: Job): boolean => job.choose !== undefined && job.choose < choosable(job).length;

/** A random id. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

export function newPage(n: number, width = 0, height = 0): Page {
  return { key: newId(), n, width, height, state: 'waiting', message: '' };
}
