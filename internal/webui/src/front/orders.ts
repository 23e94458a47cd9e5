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
  networks: Record<Network, string>;
  bytes: number;
}

/** The engine's networks: those that see every page, and those that a page may need. */
export type Network = typeof firstNetworks[number] | 'orient' | 'flatten';
export const firstNetworks = ['segment', 'overview', 'judge'] as const;

/** What the page asks for: first the engine, then pages. */
export type Order = { parts: Parts } | { picture: Blob; options: Options };

/** What the page hears. */
export type News =
  | { loaded: number } // share of the parts, 0 to 1
  | { ready: true }
  | { stage: string }
  | { image: Blob; handwriting?: Blob; mask?: Blob; before?: Blob; report: string }
  | { failed: string; message: string };
