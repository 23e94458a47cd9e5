// A whole stroke under a finger: connected pixels that differ from what a brush would put there, in one colour. A colour is
// what is taken of each channel's light, as a share of what is taken where it is most.
const least = 20; // grey levels: a pixel that differs by less is not of a stroke
const plain = 60; // grey levels: a pixel that differs by so much shows its colour
const alike = 0.3; // how far apart two colours may be in a channel, and be one ink's
const faintly = 0.45; // likewise where a pixel hardly shows its colour
const rule = 1 / 14; // of the page's width: what runs straight for so long was ruled
const reach = 0.5; // of the page's width: no stroke goes further from the finger

/** Pixels in a row: the row, the first, and the one after the last. */
export type Run = [number, number, number];

/** The runs of the stroke nearest to a place, within a radius; none where there is none, or no end of it. Page and brush are
 * pictures of one size. */
export function strokeUnder(page: HTMLCanvasElement, brush: HTMLCanvasElement, [x, y]: [number, number], radius: number): Run[] {
  const far = Math.ceil(reach * page.width);
  const left = Math.max(0, Math.floor(x) - far);
  const top = Math.max(0, Math.floor(y) - far);
  const width = Math.min(page.width, Math.ceil(x) + far) - left;
  const height = Math.min(page.height, Math.ceil(y) + far) - top;
  const taken = new Differences(pixels(page, left, top, width, height), pixels(brush, left, top, width, height), width);
  taken.leaveRules(Math.ceil(rule * page.width));
  const start = taken.nearest(Math.floor(x) - left, Math.floor(y) - top, radius);
  if (start < 0) return [];
  const stroke = taken.connected(start);
  const within = ([row, from, to]: Run): boolean => // what goes on beyond has no end that is known
    (from > 0 || left === 0) && (to < width || left + width === page.width) &&
    (row > 0 || top === 0) && (row < height - 1 || top + height === page.height);
  if (!runsOf(stroke, width).every(within)) return [];
  for (let rim = Math.max(1, Math.round(page.width / 1200)); rim > 0; rim--) taken.grow(stroke);
  return runsOf(stroke, width).map(([row, from, to]) => [row + top, from + left, to + left]);
}

function pixels(canvas: HTMLCanvasElement, x: number, y: number, width: number, height: number): Uint8ClampedArray {
  return canvas.getContext('2d', { willReadFrequently: true })!.getImageData(x, y, width, height).data;
}

/** How far two pictures differ, pixel by pixel. */
class Differences {
  private readonly most: Uint8ClampedArray; // of the three channels
  private colour: [number, number, number] = [1, 1, 1]; // the stroke's

  constructor(
    private readonly page: Uint8ClampedArray,
    private readonly brush: Uint8ClampedArray,
    private readonly width: number,
  ) {
    this.most = new Uint8ClampedArray(page.length / 4);
    for (let i = 0; i < this.most.length; i++) {
      this.most[i] = Math.max(Math.abs(this.at(i, 0)), Math.abs(this.at(i, 1)), Math.abs(this.at(i, 2)));
    }
  }

  /** What a pixel takes of a channel's light. */
  private at(i: number, channel: number): number {
    return this.brush[4 * i + channel]! - this.page[4 * i + channel]!;
  }

  /** Takes out what runs straight across or down for so many pixels. */
  leaveRules(long: number): void {
    const { most, width } = this;
    const height = most.length / width;
    const ruled = new Uint8Array(most.length);
    const along = (from: number, step: number, count: number): void => {
      for (let i = 0, run = 0; i <= count; i++) {
        if (i < count && most[from + i * step]! >= least) run++;
        else {
          if (run >= long) for (let k = i - run; k < i; k++) ruled[from + k * step] = 1;
          run = 0;
        }
      }
    };
    for (let row = 0; row < height; row++) along(row * width, 1, width);
    for (let column = 0; column < width; column++) along(column, width, height);
    for (let i = 0; i < ruled.length; i++) if (ruled[i]) most[i] = 0;
  }

  /** The pixel nearest to a place that shows its colour, which is the stroke's from here on; -1 where there is none. */
  nearest(x: number, y: number, radius: number): number {
    const { most, width } = this;
    const height = most.length / width;
    let [best, far] = [-1, radius * radius];
    for (let row = Math.max(0, Math.floor(y - radius)); row <= Math.min(height - 1, y + radius); row++) {
      for (let column = Math.max(0, Math.floor(x - radius)); column <= Math.min(width - 1, x + radius); column++) {
        const away = (row - y) ** 2 + (column - x) ** 2;
        if (away <= far && most[row * width + column]! >= plain) [best, far] = [row * width + column, away];
      }
    }
    if (best >= 0) this.colour = this.around(best);
    return best;
  }

  /** The colour of the pixels about one that show it. */
  private around(i: number): [number, number, number] {
    const sum: [number, number, number] = [0, 0, 0];
    for (let dy = -2; dy <= 2; dy++) {
      for (let dx = -2; dx <= 2; dx++) {
        const near = i + dy * this.width + dx;
        if ((this.most[near] ?? 0) >= plain) for (let c = 0; c < 3; c++) sum[c]! += this.at(near, c);
      }
    }
    const most = Math.max(...sum.map(Math.abs));
    return [sum[0] / most, sum[1] / most, sum[2] / most];
  }

  /** Whether a pixel may be of the stroke: it differs, in the stroke's colour. */
  private fits(i: number): boolean {
    const most = this.most[i]!;
    if (most < least) return false;
    const bound = most < plain ? faintly : alike;
    for (let c = 0; c < 3; c++) if (Math.abs(this.at(i, c) / most - this.colour[c]!) > bound) return false;
    return true;
  }

  /** The pixels that hang together with one. */
  connected(start: number): Uint8Array {
    const { most, width } = this;
    const found = new Uint8Array(most.length);
    found[start] = 1;
    for (const edge = [start]; edge.length;) {
      const i = edge.pop()!;
      const column = i % width;
      for (let dy = -width; dy <= width; dy += width) {
        for (let dx = column ? -1 : 0; dx <= (column < width - 1 ? 1 : 0); dx++) {
          const near = i + dy + dx;
          if (near >= 0 && near < most.length && !found[near] && this.fits(near)) {
            found[near] = 1;
            edge.push(near);
          }
        }
      }
    }
    return found;
  }

  /** Adds the pixels beside a stroke, its soft rim, but not what is plainly of something else. */
  grow(stroke: Uint8Array): void {
    const { most, width } = this;
    const before = stroke.slice();
    for (let i = 0; i < stroke.length; i++) {
      if (before[i] || most[i]! >= plain && !this.fits(i)) continue;
      const column = i % width;
      if (column && before[i - 1] || column < width - 1 && before[i + 1] || before[i - width] || before[i + width]) stroke[i] = 1;
    }
  }
}

function runsOf(stroke: Uint8Array, width: number): Run[] {
  const runs: Run[] = [];
  for (let i = 0; i < stroke.length; i++) {
    if (!stroke[i]) continue;
    const row = Math.floor(i / width);
    const from = i;
    while (i + 1 < (row + 1) * width && stroke[i + 1]) i++;
    runs.push([row, from - row * width, i + 1 - row * width]);
  }
  return runs;
}
