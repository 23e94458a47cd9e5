/**
 * Removes the handwriting from a picture of a printed page. Nothing is sent anywhere.
 *
 * The first call loads the engine into a worker, which later calls use again. Pages are cleaned one
 * at a time, in the order of the calls. The error is an {@link UninkError}, or the signal's reason.
 */
export function clean(picture: Blob, options?: Options): Promise<Cleaned>;

/**
 * Ends the worker and frees its memory. Pages that are not done fail as `canceled`. The next call of
 * `clean` loads the engine again.
 */
export function close(): void;

export interface Options {
  /**
   * scan: even white paper, crisp print. colour (or color): the picture as it was, only the
   * handwriting gone.
   */
  finish?: 'scan' | 'colour';
  /** Remove only these inks: black, blue, red, green, pencil. Default: all. */
  remove?: Ink[];
  /**
   * png, jpeg or webp. Default: PNG for grey line art and from PNG, WebP from WebP, otherwise
   * JPEG.
   */
  format?: 'png' | 'jpeg' | 'webp';
  /**
   * Leave the page turned as it is. Default: it is turned upright by what is on it, when that
   * is sure (scan finish).
   */
  keepOrientation?: boolean;
  /**
   * Leave skew and perspective as they are. Default: undone where text lines or the sheet's
   * edges show them (scan finish).
   */
  keepDistortion?: boolean;
  /** Also return what was removed. */
  returnLayers?: boolean;
  /** Also return the page uncleaned as the result lies, where it was turned or straightened. */
  returnBefore?: boolean;
  /** Stops the work at once. The next page loads the engine again. */
  signal?: AbortSignal;
  /** Hears the share of the engine that is loaded, 0 to 1, where this call is what loads it. */
  onLoad?: (share: number) => void;
  /** Hears each stage that the page has passed. */
  onStage?: (stage: Stage) => void;
}

export type Ink = 'black' | 'blue' | 'red' | 'green' | 'pencil';

/** The picture that a stage leaves, in this order; `input` is the decoded picture. */
export type Stage = 'input' | 'orient' | 'flatten' | 'demoire' | 'segment' | 'erase' | 'finish';

export interface Cleaned {
  /** The clean page. Its type tells the format. */
  image: Blob;
  /** With `returnLayers`. */
  layers?: Layers;
  /** With `returnBefore`, a JPEG of the result's size; absent where the picture lies as it came. */
  before?: Blob;
  report: Report;
}

export interface Layers {
  /** PNG of what was removed, transparent elsewhere. */
  handwriting: Blob;
  /** Grey PNG, 255 where something was removed. */
  mask: Blob;
}

/** What was done to the page, and how sure the stages were. */
export interface Report {
  /** Share of the page's pixels that were removed, 0 to 1. */
  removed: number;
  /** Degrees clockwise that the page was turned to stand upright: 0, 90, 180 or 270. */
  turned: number;
  /** Perspective, skew or curl was undone. */
  flattened: boolean;
  /** Degrees clockwise by which the page was skewed at its middle, which was undone. */
  skew: number;
  /** How far lines of print bowed, which was undone, as a share of the page's longer side. */
  curl: number;
  /**
   * Where the result's corners were in the picture, if it was flattened: x and y in pixels,
   * clockwise from the upper left one.
   */
  corners?: [[number, number], [number, number], [number, number], [number, number]];
  /** The scan finish was left out: the page is light on dark, or would have lost print. */
  unfinished?: boolean;
  /** Waves of a photographed screen's pattern that were taken away. */
  moire: number;
  /** How sure the stages were, 0 to 1; 0 of a stage that was left out. */
  confidence: { orient: number; flatten: number; segment: number };
  /** Milliseconds. */
  ms: Record<
    | 'decode' | 'orient' | 'flatten' | 'demoire' | 'segment' | 'decide' | 'erase' | 'finish'
    | 'encode' | 'total'
  , number>;
}

/** Why a page was not cleaned. The message says what was wrong and what to do about it. */
export class UninkError extends Error {
  readonly code: Code;
}

/**
 * - `too_large`: the file has more than 64 MiB
 * - `dimensions`: more than 50 megapixels, or a side under 16 pixels
 * - `format`: not a picture, or of a format that is not accepted
 * - `broken`: the picture is damaged
 * - `no_content`: there is nothing on the page
 * - `canceled`: `close` was called before the page was done
 * - `option`: an option is not valid
 * - `device`: WebAssembly with vectors, which the engine needs, is missing or does not work
 * - `load`: the engine's files could not be loaded
 * - `ended`: the engine has ended, mostly for want of memory
 * - `internal`: a defect of this package
 */
export type Code =
  | 'too_large' | 'dimensions' | 'format' | 'broken' | 'no_content' | 'canceled' | 'option'
  | 'device' | 'load' | 'ended' | 'internal';
