// What browsers and Node have in common: the queue of pages in front of a worker.
import type { News, Order, Parts } from '../src/front/orders';
import type * as unink from './unink';

declare const BYTES: number; // of what is loaded before the first page

/** A worker, of whichever kind. */
export interface Engine {
  send(order: Order): void;
  hear(told: (news: News) => void): void;
  /** Says whether work is under way, for which a program stays. */
  hold(working: boolean): void;
  end(): void;
}

type Answer = Exclude<News, { loaded: number } | { stage: string } | { failed: string }>;

export class UninkError extends Error implements unink.UninkError {
  override readonly name = 'UninkError';

  constructor(readonly code: unink.Code, message: string) {
    super(message);
  }
}

/** What is wrong with the picture or the options, not with the engine. */
const refusals: unink.Code[] = ['too_large', 'dimensions', 'format', 'broken', 'no_content', 'option'];

const parts: Parts = {
  engine: new URL('./engine.wasm', import.meta.url).href,
  runtime: new URL('./runtime.wasm', import.meta.url).href,
  loader: new URL('./runtime.js', import.meta.url).href,
  files: {
    'segment.onnx': new URL('./segment.onnx', import.meta.url).href,
    'overview.onnx': new URL('./overview.onnx', import.meta.url).href,
    'judge.onnx': new URL('./judge.onnx', import.meta.url).href,
    'orient.onnx': new URL('./orient.onnx', import.meta.url).href,
    'flatten.onnx': new URL('./flatten.onnx', import.meta.url).href,
    'heif.wasm': new URL('./heif.wasm', import.meta.url).href,
    'avif.wasm': new URL('./avif.wasm', import.meta.url).href,
    'tiff.wasm': new URL('./tiff.wasm', import.meta.url).href,
  },
  bytes: BYTES,
};

export function client(begin: () => Engine): Pick<typeof unink, 'clean' | 'close'> {
  let engine: Engine | undefined;
  let closing = new AbortController();
  let last: Promise<unknown> = Promise.resolve();

  async function clean(picture: Blob, options: unink.Options = {}): Promise<unink.Cleaned> {
    if (!(picture instanceof Blob)) {
      throw new UninkError('option', 'the picture is no Blob (make one of bytes: new Blob([bytes]))');
    }
    const signals = options.signal ? [closing.signal, options.signal] : [closing.signal];
    const stop = AbortSignal.any(signals);
    const before = last;
    const turn = unlessAborted(before, stop).then(() => cleanNow(picture, options, stop));
    last = Promise.allSettled([before, turn]).then(() => undefined); // whose results nobody keeps
    return turn;
  }

  async function cleanNow(picture: Blob, options: unink.Options, stop: AbortSignal): Promise<unink.Cleaned> {
    const { signal: _, onLoad, onStage, remove = [], ...rest } = options;
    const ask = async (order: Order): Promise<Answer> => unlessAborted(answer(engine!, order, onLoad, onStage), stop);
    try {
      const inMemory = await unlessAborted(held(picture), stop);
      if (!engine) {
        engine = begin();
        await ask({ parts });
      }
      engine.hold(true);
      return cleaned(await ask({ picture: inMemory, options: { ...rest, remove: String(remove) } }));
    } catch (error) {
      if (!(error instanceof UninkError && refusals.includes(error.code))) end(); // it is busy, or no good
      throw error;
    } finally {
      idle();
    }
  }

  function idle(): void {
    engine?.hold(false);
    engine?.hear((news) => {
      if ('failed' in news) end();
    });
  }

  function close(): void {
    closing.abort(new UninkError('canceled', 'closed before the page was done'));
    closing = new AbortController();
    end();
  }

  function end(): void {
    engine?.end();
    engine = undefined;
  }

  return { clean, close };
}

/** A picture whose bytes are in memory: Node passes none on to a worker that are still in a file. */
async function held(picture: Blob): Promise<Blob> {
  try {
    return new Blob([await picture.arrayBuffer()]);
  } catch (error) {
    throw new UninkError('format', `the picture cannot be read: ${String(error)}`);
  }
}

/** What a promise gives, unless the signal comes first. */
async function unlessAborted<T>(promise: Promise<T>, stop: AbortSignal): Promise<T> {
  let abort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(stop.reason);
    stop.addEventListener('abort', abort, { once: true });
    if (stop.aborted) abort();
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    stop.removeEventListener('abort', abort);
  }
}

/** Gives the worker an order and waits for its answer. */
function answer(
  engine: Engine, order: Order, onLoad?: (share: number) => void, onStage?: (stage: unink.Stage) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    engine.hear((news) => {
      if ('loaded' in news) onLoad?.(news.loaded);
      else if ('stage' in news) onStage?.(news.stage as unink.Stage);
      else if ('failed' in news) reject(new UninkError(news.failed as unink.Code, news.message));
      else resolve(news);
    });
    engine.send(order);
  });
}

function cleaned(answer: Answer): unink.Cleaned {
  if (!('image' in answer)) throw new UninkError('internal', 'the engine answers something else');
  const { image, handwriting, mask, before, report } = answer;
  return {
    image,
    ...(handwriting && mask && { layers: { handwriting, mask } }),
    ...(before && { before }),
    report: JSON.parse(report),
  };
}
