// What a page, or who uses the npm package, and the worker that runs the engine say to each other.

/**
 * What is done to a page: the options of the npm package, or those of the form of the HTTP API, lists as text with
 * commas; and as `source` the format that pixels came in.
 */
export type Options = Record<string, string | boolean | undefined>;

/** Where the parts of the engine are, and how many bytes those have that it is loaded from before the first page. */
export interface Parts {
  engine: string;
  runtime: string;
  loader: string;
  files: Record<EngineFile, string>;
  bytes: number;
}

/** The engine's networks that see every page, and networks and decoders of pictures that a page may need. */
export type EngineFile = typeof firstFiles[number] | typeof laterFiles[number];
export const firstFiles = ['segment.onnx', 'overview.onnx', 'judge.onnx'] as const;
export const laterFiles = ['orient.onnx', 'flatten.onnx', 'heif.wasm', 'avif.wasm', 'tiff.wasm'] as const;

/** What the page asks for: first the engine, then pages. */
export type Order = { parts: Parts } | { picture: Blob; options: Options };

/** What the page hears. */
export type News =
  | { loaded: number } // share of the parts, 0 to 1
  | { ready: true }
  | { stage: string }
  | { image: Blob; handwriting?: Blob; mask?: Blob; before?: Blob; report: string }
  | { failed: string; message: string };
