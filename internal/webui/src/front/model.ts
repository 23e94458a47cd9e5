// The queue as data: files, each of one page or, if it is a PDF, of many.

/** In which state a page is. */
export type State = 'waiting' | 'working' | 'pausing' | 'done' | 'failed' | 'cancelled';

/** A stroke of a brush over a result, in the result's pixels. */
export interface Stroke {
  brush: 'restore' | 'erase';
  width: number;
  points: [number, number][];
}

/** What the service made of a page, and what was painted on it since. */
export interface Result {
  image: Blob;
  handwriting: Blob; // what was removed, transparent elsewhere
  unwritten: boolean; // of a PDF's page: nothing was removed
  strokes: Stroke[];
  touched?: Blob; // the image with the strokes, a PNG
}

/** A picture, or a page of a PDF. */
export interface Page {
  key: string; // under which the service charges it once
  n: number; // from 1
  width: number; // of a PDF's page, in points
  height: number;
  state: State;
  message: string;
  request?: string; // id of the one that failed
  progress?: number; // 0 to 1, while it is uploaded
  source?: Blob; // what is sent
  result?: Result;
}

/** A file. */
export interface Job {
  id: string;
  name: string;
  file: Blob;
  pdf: boolean;
  added: number; // milliseconds since 1970
  pages: Page[];
  problem?: { state: 'refused' | 'tooLarge'; message: string };
}

/** In which state a file is: that of the page which matters most. */
export type JobState = State | 'preparing' | 'refused' | 'tooLarge';

export function stateOf(job: Job): JobState {
  if (job.problem) return job.problem.state;
  if (!job.pages.length) return 'preparing';
  const order: State[] = ['working', 'pausing', 'waiting', 'failed', 'cancelled'];
  return order.find((state) => job.pages.some((page) => page.state === state)) ?? 'done';
}

/** What is saved of a page. */
export const finished = ({ touched, image }: Result): Blob => touched ?? image;

/** A random id. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

export function newPage(n: number, width = 0, height = 0): Page {
  return { key: newId(), n, width, height, state: 'waiting', message: '' };
}
