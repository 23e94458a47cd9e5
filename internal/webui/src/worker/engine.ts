// The engine in a worker: pictures in, cleaned pictures out. It is loaded once, then cleans one page at a time; who wants
// to stop it ends the worker.
import 'go-wasm-exec';
import * as ort from 'onnxruntime-web/wasm';
import type { News, Options, Order, Parts } from '../front/orders';

declare const self: DedicatedWorkerGlobalScope & { ort: typeof ort; unink: Host };

/** What the Go program (internal/browser) wants of its host. */
interface Host {
  ready(clean: Clean): void;
  failed(code: string, message: string): void;
  stage(name: string): void;
}

type Clean = (
  pixels: Uint8ClampedArray, width: number, height: number, options: Options,
  done: (cleaned: Cleaned) => void, failed: (code: string, message: string) => void,
) => void;

interface Cleaned {
  image: Uint8Array<ArrayBuffer>;
  type: string;
  handwriting: Uint8Array<ArrayBuffer>;
  before: Uint8Array<ArrayBuffer>; // empty where the picture lies as it came
  report: string;
}

const tell = (news: News): void => self.postMessage(news);
const fail = (failed: string, message: string): void => tell({ failed, message });

let clean: Clean;

self.onmessage = ({ data }: MessageEvent<Order>) => {
  const work = 'parts' in data ? load(data.parts) : cleanPicture(data.picture, data.options);
  work.catch((error: unknown) => fail('parts' in data ? 'load' : 'internal', String(error)));
};

/** Loads the engine and starts it. */
async function load({ engine, runtime, loader, bytes }: Parts): Promise<void> {
  let loaded = 0;
  const counted = (response: Response): Response => {
    if (!response.ok) throw new Error(`${response.url} answers ${response.status}`);
    return new Response(response.body!.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        tell({ loaded: Math.min(1, (loaded += piece.length) / bytes) });
        controller.enqueue(piece);
      },
    })), { headers: { 'Content-Type': 'application/wasm' } });
  };
  const go = new Go();
  const [binary, { instance }] = await Promise.all([
    fetch(runtime).then(counted).then((response) => response.arrayBuffer()),
    WebAssembly.instantiateStreaming(fetch(engine).then(counted), go.importObject),
  ]);
  ort.env.wasm.wasmBinary = binary;
  ort.env.wasm.wasmPaths = { mjs: loader };
  ort.env.wasm.numThreads = self.crossOriginIsolated ? Math.min(navigator.hardwareConcurrency, 8) : 1;
  ort.env.logLevel = 'error';
  self.ort = ort;
  self.unink = {
    ready: (cleaner) => {
      clean = cleaner;
      tell({ ready: true });
    },
    failed: fail,
    stage: (stage) => tell({ stage }),
  };
  // The program ends only when it fails, such as without memory.
  void go.run(instance).then(() => fail('ended', 'the engine has ended'), (error: unknown) => fail('ended', String(error)));
}

async function cleanPicture(picture: Blob, options: Options): Promise<void> {
  let pixels: ImageData;
  try {
    pixels = await decode(picture);
  } catch {
    return fail('format', 'the browser cannot read the picture');
  }
  clean(pixels.data, pixels.width, pixels.height, options, ({ image, type, handwriting, before, report }) => tell({
    image: new Blob([image], { type }), handwriting: new Blob([handwriting], { type: 'image/png' }),
    before: before.length ? new Blob([before], { type: 'image/jpeg' }) : undefined, report,
  }), fail);
}

/** A picture's pixels, upright; what is transparent is white paper. */
async function decode(picture: Blob): Promise<ImageData> {
  const bitmap = await createImageBitmap(picture);
  const { width, height } = bitmap;
  const pen = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })!; // which the processor draws, exactly
  pen.fillStyle = '#fff';
  pen.fillRect(0, 0, width, height);
  pen.drawImage(bitmap, 0, 0);
  bitmap.close();
  return pen.getImageData(0, 0, width, height);
}
