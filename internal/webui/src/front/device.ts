// Cleaning on the device: the engine in a worker, loaded when it is first needed. Nothing leaves the browser.
import { number, page as shown, t, type Key } from '../page';
import { keeping } from '../site';
import { firstFiles, laterFiles, type News, type Options as Wanted, type Order, type Parts } from './orders';
import { reported, type Page, type Report, type Result } from './model';
import { NotCleaned, type Options } from './send';

/** WebAssembly with vectors: a function that makes one. */
const vectors = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);

/** Whether this browser has what the engine needs. */
export const capable = (): boolean =>
  typeof WebAssembly === 'object' && typeof OffscreenCanvas === 'function' && WebAssembly.validate(vectors);

/** What comes when a stage has left a page, and the share of the page's time that has passed. */
const after: Record<string, [Key, number]> = {
  input: ['front.js.stageOrient', 0.02], orient: ['front.js.stageFlatten', 0.1], flatten: ['front.js.stageDemoire', 0.2],
  demoire: ['front.js.stageSegment', 0.25], segment: ['front.js.stageErase', 0.8], erase: ['front.js.stageFinish', 0.85],
  finish: ['front.js.stageEncode', 0.95],
};

type Told = (message: string, progress?: number) => void;
type Answer = Extract<News, { image: Blob } | { failed: string } | { ready: true }>;

let engine: Worker | null = null;

/** Whether the engine has been loaded. */
export const loaded = (): boolean => engine !== null;

/** Cleans a page; told hears what is done to it. */
export async function cleanHere(page: Page, options: Options, signal: AbortSignal, told: Told): Promise<Result> {
  if (!capable()) throw new NotCleaned(t('front.js.deviceOld'));
  try {
    if (!engine) await start(signal, told);
    const answer = await ask({ picture: page.source!, options: wanted(page.source!, options) }, signal, told);
    if (!('image' in answer)) throw new Error('the engine answers something else');
    const { image, handwriting, before, report } = answer;
    return { image, handwriting: handwriting!, before, ...reported(JSON.parse(report) as Report), strokes: [] };
  } catch (error) {
    if (!(error instanceof NotCleaned && error.how.unusable)) stop(); // what it is doing is not wanted, or it is no good
    throw error;
  }
}

async function start(signal: AbortSignal, told: Told): Promise<void> {
  await keeping; // so that what is loaded now is kept
  signal.throwIfAborted();
  const at = (name: string): string => shown.assets[name]!;
  engine = new Worker(at('engine.worker.js'), { type: 'module' });
  const parts = {
    engine: at('engine.wasm'), runtime: at('runtime.wasm'), loader: at('runtime.worker.js'),
    files: Object.fromEntries([...firstFiles, ...laterFiles].map((name) => [name, at(name)])) as Parts['files'],
    bytes: shown.engine!.bytes,
  };
  await ask({ parts }, signal, told);
  navigator.serviceWorker?.controller?.postMessage('keep');
}

function stop(): void {
  engine?.terminate();
  engine = null;
}

/** Gives the worker an order and waits for its answer. */
function ask(order: Order, signal: AbortSignal, told: Told): Promise<Answer> {
  const worker = engine!;
  return new Promise<Answer>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    signal.throwIfAborted();
    worker.onerror = () => reject(notCleaned('load'));
    worker.onmessage = ({ data }: MessageEvent<News>) => {
      if ('loaded' in data) told(data.loaded < 1 ? t('front.js.engineLoading', { percent: number(Math.floor(100 * data.loaded)) }) : t('front.js.engineStarting'), data.loaded);
      else if ('stage' in data) tellStage(data.stage, told);
      else if ('failed' in data) reject(notCleaned(data.failed));
      else resolve(data);
    };
    worker.postMessage(order);
  });
}

/** Says what comes next; of a stage that people need not tell apart, nothing. */
function tellStage(name: string, told: Told): void {
  const next = after[name];
  if (next) told(t(next[0]), next[1]);
}

/** What people are told of an error that has one of the library's codes, or one of the worker's. */
function notCleaned(code: string): NotCleaned {
  switch (code) {
    case 'no_content': return new NotCleaned(t('front.js.blank'), { unusable: true });
    case 'format': return new NotCleaned(t('front.js.deviceFormat'));
    case 'load': return new NotCleaned(t('front.js.deviceNotLoaded'));
    default: return new NotCleaned(t('front.js.deviceFailed'));
  }
}

/** The form's options as the engine takes them. */
function wanted({ type }: Blob, options: Options): Wanted {
  const source = type.replace('image/', '');
  const flags = new Map([['true', true], ['false', false]]);
  return {
    ...Object.fromEntries(Object.entries(options).map(([name, value]) => [name, flags.get(value) ?? value])),
    source: ['png', 'jpeg', 'webp'].includes(source) ? source : '',
    returnLayers: true,
    returnBefore: true,
  };
}
