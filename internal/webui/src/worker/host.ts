// The engine in a worker, of the front page and of the npm package: pictures in, cleaned pictures out. It is loaded
// once, then cleans one page at a time; who wants to stop it ends the worker.
import 'go-wasm-exec';
import * as ort from 'onnxruntime-web/wasm';
import { firstFiles, type EngineFile, type News, type Options, type Order, type Parts } from '../front/orders';
import { sandbox } from './sandbox';

/** What kinds of workers do in ways of their own. */
export interface Surroundings {
  tell(news: News): void;
  read(address: string): Promise<Response>;
  open(picture: Blob): Promise<Picture>;
  threads: number;
  /** ONNX Runtime as native code, if it is installed. It chooses its own number of threads. */
  native?(): Promise<typeof ort | undefined>;
}

/** A file's bytes, or the pixels in it. */
type Picture = Uint8Array | ImageData;

/** What the Go program (internal/browser) wants of its host. */
interface Host {
  ready(clean: Clean): void;
  failed(code: string, message: string): void;
  stage(name: string): void;
  file(name: EngineFile, done: (content: Uint8Array) => void, failed: (message: string) => void): void;
  sandbox: typeof sandbox;
}

type Clean = (
  picture: Picture, options: Options,
  done: (cleaned: Cleaned) => void, failed: (code: string, message: string) => void,
) => void;

type Bytes = Uint8Array<ArrayBuffer>;

interface Cleaned {
  image: Bytes;
  type: string;
  handwriting: Bytes | null;
  mask: Bytes | null;
  before: Bytes | null; // null where the picture lies as it came
  report: string;
}

/** What takes a worker's orders. */
export function serve({ tell, read, open, threads, native }: Surroundings): (order: Order) => void {
  let clean: Clean;
  let unloaded = false; // a file could not be loaded, whatever the engine makes of that
  const fail = (failed: string, message: string): void => tell({ failed: unloaded ? 'load' : failed, message });

  /** Loads the engine and starts it. */
  async function load({ engine, runtime, loader, files, bytes }: Parts): Promise<void> {
    const counted = counter((loaded) => tell({ loaded: Math.min(1, loaded / bytes) }));
    const go = new Go();
    const there = new Map<EngineFile, ArrayBuffer>();
    const [binary, { instance }] = await Promise.all([
      read(runtime).then(counted).then(content),
      WebAssembly.instantiateStreaming(read(engine).then(counted), go.importObject),
      ...firstFiles.map(async (name) => {
        there.set(name, await read(files[name]).then(counted).then(content));
      }),
    ]);
    async function file(name: EngineFile): Promise<Uint8Array> {
      const bytes: ArrayBuffer = there.get(name) ?? await read(files[name]).then(right).then(content);
      there.delete(name); // the engine keeps what it makes of it
      return new Uint8Array(bytes);
    }
    ort.env.wasm.wasmBinary = binary;
    ort.env.wasm.wasmPaths = { mjs: loader };
    ort.env.wasm.numThreads = threads;
    ort.env.logLevel = 'error';
    const unink: Host = {
      ready: (cleaner) => {
        clean = cleaner;
        tell({ ready: true });
      },
      failed: fail,
      stage: (stage) => tell({ stage }),
      file: (name, done, failed) => void file(name).then(done, (error: unknown) => {
        unloaded = true;
        failed(String(error));
      }),
      sandbox,
    };
    Object.assign(globalThis, { ort: await native?.() ?? ort, unink });
    // The program ends only when it fails, such as without memory.
    void go.run(instance).then(() => fail('ended', 'the engine has ended'), (error: unknown) => fail('ended', String(error)));
  }

  async function cleanPicture(blob: Blob, options: Options): Promise<void> {
    let picture: Picture;
    try {
      picture = await open(blob);
    } catch (error) {
      return fail('format', `the picture cannot be read: ${String(error)}`);
    }
    clean(picture, options, ({ image, type, handwriting, mask, before, report }) => tell({
      image: new Blob([image], { type }), handwriting: file(handwriting, 'image/png'),
      mask: file(mask, 'image/png'), before: file(before, 'image/jpeg'), report,
    }), fail);
  }

  return (order) => {
    const work = 'parts' in order ? load(order.parts) : cleanPicture(order.picture, order.options);
    work.catch((error: unknown) => fail('parts' in order ? 'load' : 'internal', String(error)));
  };
}

const content = (response: Response): Promise<ArrayBuffer> => response.arrayBuffer();

function right(response: Response): Response {
  if (!response.ok) throw new Error(`${response.url} answers ${response.status}`);
  return response;
}

/** Passes responses on and tells how many bytes of them all have come. */
function counter(told: (loaded: number) => void): (response: Response) => Response {
  let loaded = 0;
  return (response) => new Response(right(response).body!.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      told(loaded += piece.length);
      controller.enqueue(piece);
    },
  })), { headers: { 'Content-Type': 'application/wasm' } });
}

const file = (bytes: Bytes | null, type: string): Blob | undefined => (bytes ? new Blob([bytes], { type }) : undefined);
