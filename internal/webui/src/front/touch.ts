// Touch-up: brushes over a result. One brings back what was removed, the other paints paper. A stroke copies pixels
// from a finished picture (the result with its handwriting, or bare paper), so that what is painted is exact. A tap takes
// the whole stroke that it falls on.
import { find } from '../page';
import { strokeUnder } from './flood';
import { onPaper, toBlob } from './picture';
import type { Result, Stroke } from './model';

type Brush = Stroke['brush'];

const still = 3; // pixels of the screen: a pointer that moves less than this taps

/** Paints on a result until it is closed. */
export class TouchUp {
  private readonly canvas = find<HTMLCanvasElement>('#touch');
  private readonly size = find<HTMLInputElement>('#brush-size');
  private readonly events = new AbortController();
  private readonly pen: CanvasRenderingContext2D;
  private readonly undone: Stroke[] = [];
  private brush: Brush = 'restore';
  private stroke: Stroke | null = null; // under way
  private cursor: [number, number]; // of the keyboard
  private fingers = new Set<number>();
  private readonly circle = find('#ring'); // where a mouse's brush is

  private constructor(
    private readonly base: HTMLCanvasElement,
    private readonly sources: Record<Brush, HTMLCanvasElement>,
    private readonly strokes: Stroke[],
  ) {
    this.canvas.width = base.width;
    this.canvas.height = base.height;
    this.pen = this.canvas.getContext('2d', { willReadFrequently: true })!;
    this.cursor = [base.width / 2, base.height / 2];
    this.listen();
    this.choose('restore');
    this.redraw();
  }

  /** Begins, with the strokes that are there already. */
  static async open({ image, handwriting, strokes }: Result): Promise<TouchUp> {
    const base = await canvasOf(image);
    const restored = onPaper(await createImageBitmap(base));
    const removed = await createImageBitmap(handwriting).catch(() => null);
    if (removed) restored.getContext('2d')!.drawImage(removed, 0, 0, restored.width, restored.height);
    return new TouchUp(base, { restore: restored, erase: paperOf(base) }, structuredClone(strokes));
  }

  /** Ends, and returns what was painted: nothing if there are no strokes. */
  async close(): Promise<{ strokes: Stroke[]; touched?: Blob }> {
    this.end();
    this.cancel();
    this.redraw();
    return this.strokes.length ? { strokes: this.strokes, touched: await toBlob(this.canvas, 'image/png') } : { strokes: [] };
  }

  /** Ends, and forgets what was painted. */
  cancel(): void {
    this.circle.hidden = true;
    this.events.abort();
  }

  private listen(): void {
    const options = { signal: this.events.signal };
    const { canvas } = this;
    canvas.addEventListener('pointerdown', (event) => this.down(event), options);
    canvas.addEventListener('pointermove', (event) => this.move(event), options);
    canvas.addEventListener('pointermove', (event) => this.follow(event), options);
    canvas.addEventListener('pointerleave', () => { this.circle.hidden = true; }, options);
    for (const kind of ['pointerup', 'pointercancel'] as const) {
      canvas.addEventListener(kind, (event) => {
        this.fingers.delete(event.pointerId);
        if (kind === 'pointerup' && this.stroke?.points.length === 1) this.takeWhole();
        this.end();
      }, options);
    }
    canvas.addEventListener('keydown', (event) => this.key(event), options);
    canvas.addEventListener('keyup', (event) => { if (event.key === 'Shift') this.end(); }, options);
    canvas.addEventListener('focus', () => this.redraw(), options);
    canvas.addEventListener('blur', () => { this.end(); this.redraw(); }, options);
    find('#brush-restore').addEventListener('click', () => this.choose('restore'), options);
    find('#brush-erase').addEventListener('click', () => this.choose('erase'), options);
    find('#undo').addEventListener('click', () => this.undo(), options);
    find('#redo').addEventListener('click', () => this.redo(), options);
  }

  private choose(brush: Brush): void {
    this.brush = brush;
    find('#brush-restore').setAttribute('aria-pressed', String(brush === 'restore'));
    find('#brush-erase').setAttribute('aria-pressed', String(brush === 'erase'));
  }

  private undo(): void {
    this.end();
    const last = this.strokes.pop();
    if (last) this.undone.push(last);
    this.redraw();
  }

  private redo(): void {
    const last = this.undone.pop();
    if (last) this.strokes.push(last);
    this.redraw();
  }

  /** Pixels of the page for one of the screen. */
  private get ratio(): number {
    return this.canvas.width / this.canvas.getBoundingClientRect().width;
  }

  private place({ clientX, clientY }: PointerEvent): [number, number] {
    const { left, top } = this.canvas.getBoundingClientRect();
    return [(clientX - left) * this.ratio, (clientY - top) * this.ratio];
  }

  private down(event: PointerEvent): void {
    this.fingers.add(event.pointerId);
    if (event.button !== 0) return;
    if (this.fingers.size > 1) { // a pinch, not a stroke
      this.stroke = null;
      this.redraw();
      return;
    }
    this.canvas.setPointerCapture(event.pointerId);
    this.begin(this.place(event));
  }

  private move(event: PointerEvent): void {
    if (!this.stroke || this.fingers.size > 1) return;
    const [x, y] = this.place(event);
    const [first, second] = this.stroke.points as [[number, number], [number, number]?];
    if (!second && Math.hypot(x - first[0], y - first[1]) < still * this.ratio) return;
    const steps = event.getCoalescedEvents?.() ?? [];
    for (const step of steps.length ? steps : [event]) this.stroke.points.push(this.place(step));
    this.draw(this.stroke);
  }

  /** Shows how much a mouse would paint. */
  private follow({ pointerType, clientX, clientY }: PointerEvent): void {
    this.circle.hidden = pointerType === 'touch';
    const { left, top } = this.circle.parentElement!.getBoundingClientRect();
    const { style } = this.circle;
    style.left = `${clientX - left - 1}px`; // the frame's border
    style.top = `${clientY - top - 1}px`;
    style.width = style.height = `${this.size.value}px`;
  }

  private begin(at: [number, number]): void {
    this.stroke = { brush: this.brush, width: Math.max(1, Math.round(Number(this.size.value) * this.ratio)), points: [at] };
  }

  /** Makes the stroke under way, a tap, take what it fell on; where that is nothing, it stays a dab. */
  private takeWhole(): void {
    const { brush, width, points: [at] } = this.stroke!;
    this.drawStrokes();
    const runs = strokeUnder(this.canvas, this.sources[brush], at!, width / 2);
    if (runs.length) this.stroke!.runs = runs;
  }

  /** Ends the stroke under way. */
  private end(): void {
    if (!this.stroke) return;
    this.strokes.push(this.stroke);
    this.stroke = null;
    this.undone.length = 0;
    this.redraw();
  }

  private key(event: KeyboardEvent): void {
    const control = event.ctrlKey || event.metaKey;
    const arrows: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const towards = arrows[event.key];
    if (control && event.key.toLowerCase() === 'z') (event.shiftKey ? this.redo() : this.undo());
    else if (control && event.key.toLowerCase() === 'y') this.redo();
    else if (control) return;
    else if (towards) this.step(towards, event.shiftKey);
    else if (event.key === ' ' || event.key === 'Enter') {
      this.begin(this.cursor);
      if (event.key === 'Enter') this.takeWhole();
      this.end();
    } else if (event.key === 'b') this.choose('restore');
    else if (event.key === 'e') this.choose('erase');
    else if (event.key === '[') this.size.stepDown(4);
    else if (event.key === ']') this.size.stepUp(4);
    else return;
    event.preventDefault();
    this.redraw();
  }

  /** Moves the keyboard's brush by a third of its width, painting or not. */
  private step([dx, dy]: [number, number], paint: boolean): void {
    const far = Number(this.size.value) * this.ratio / 3;
    const [x, y] = this.cursor;
    if (paint && !this.stroke) this.begin(this.cursor);
    this.cursor = [clamp(x + dx * far, this.canvas.width), clamp(y + dy * far, this.canvas.height)];
    if (paint) this.stroke!.points.push(this.cursor);
    else this.end();
  }

  private drawStrokes(): void {
    this.pen.drawImage(this.base, 0, 0);
    for (const stroke of this.strokes) this.draw(stroke);
  }

  private redraw(): void {
    this.drawStrokes();
    if (this.stroke) this.draw(this.stroke);
    find<HTMLButtonElement>('#undo').disabled = !this.strokes.length;
    find<HTMLButtonElement>('#redo').disabled = !this.undone.length;
    if (document.activeElement === this.canvas && !this.events.signal.aborted && this.canvas.matches(':focus-visible')) this.ring();
  }

  /** Copies the pixels under a stroke from the picture that its brush has. */
  private draw(stroke: Stroke): void {
    const { pen } = this;
    pen.fillStyle = pen.strokeStyle = pen.createPattern(this.sources[stroke.brush], 'no-repeat')!;
    trace(pen, stroke);
  }

  /** Shows where the keyboard's brush is. */
  private ring(): void {
    const { pen } = this;
    for (const [style, width] of [['#fff', 5], ['#1d4ed8', 2.5]] as const) {
      pen.strokeStyle = style;
      pen.lineWidth = width * this.ratio;
      pen.beginPath();
      pen.arc(...this.cursor, Number(this.size.value) * this.ratio / 2, 0, 2 * Math.PI);
      pen.stroke();
    }
  }
}

/** Draws a stroke with what the pen has. */
export function trace(pen: CanvasRenderingContext2D, { width, points, runs }: Stroke): void {
  if (runs) {
    for (const [row, from, to] of runs) pen.fillRect(from, row, to - from, 1);
    return;
  }
  const [first, ...rest] = points as [[number, number], ...[number, number][]];
  pen.lineWidth = width;
  pen.lineCap = pen.lineJoin = 'round';
  pen.beginPath();
  if (rest.length) {
    pen.moveTo(...first);
    for (const point of rest) pen.lineTo(...point);
    pen.stroke();
  } else {
    pen.arc(...first, width / 2, 0, 2 * Math.PI);
    pen.fill();
  }
}

const clamp = (x: number, most: number): number => Math.min(most, Math.max(0, x));

async function canvasOf(picture: Blob): Promise<HTMLCanvasElement> {
  const bitmap = await createImageBitmap(picture);
  const canvas = onPaper(bitmap);
  bitmap.close();
  return canvas;
}

const block = 32; // pixels

/** A page's paper without what stands on it: the paper of each block, smoothed. */
export function paperOf(page: HTMLCanvasElement): HTMLCanvasElement {
  const { width, height } = page;
  const columns = Math.ceil(width / block);
  const rows = Math.ceil(height / block);
  const pen = page.getContext('2d', { willReadFrequently: true })!;
  const small = document.createElement('canvas');
  small.width = columns;
  small.height = rows;
  const colours = new ImageData(columns, rows);
  for (let row = 0; row < rows; row++) {
    const top = row * block;
    const { data, width: across } = pen.getImageData(0, top, width, Math.min(block, height - top));
    for (let column = 0; column < columns; column++) {
      const colour = paperIn(data, across, column * block, Math.min(width, (column + 1) * block));
      colours.data.set([...colour, 255], 4 * (row * columns + column));
    }
  }
  small.getContext('2d')!.putImageData(colours, 0, 0);
  const paper = document.createElement('canvas');
  paper.width = width;
  paper.height = height;
  const brush = paper.getContext('2d', { willReadFrequently: true })!;
  brush.imageSmoothingQuality = 'high';
  brush.drawImage(small, 0, 0, columns, rows, 0, 0, columns * block, rows * block);
  return paper;
}

/** The colour of a block's paper: of its pixels from the brightest tenth, which are noise, to the brightest two fifths. Rows
 * of data are across pixels wide. */
function paperIn(data: Uint8ClampedArray, across: number, from: number, to: number): [number, number, number] {
  const histogram = new Uint32Array(256);
  const sums = new Float64Array(3 * 256);
  let total = 0;
  for (let start = 4 * from; start < data.length; start += 4 * across) {
    for (let i = start; i < start + 4 * (to - from); i += 4) {
      const [r, g, b] = [data[i]!, data[i + 1]!, data[i + 2]!];
      const light = (2 * r + 5 * g + b) >> 3;
      histogram[light]!++;
      sums[3 * light]! += r;
      sums[3 * light + 1]! += g;
      sums[3 * light + 2]! += b;
      total++;
    }
  }
  const colour: [number, number, number] = [0, 0, 0];
  const [first, last] = [0.1 * total, 0.4 * total];
  for (let light = 255, brighter = 0; light >= 0 && brighter < last; light--) {
    const here = histogram[light]!;
    const counted = Math.min(brighter + here, last) - Math.max(brighter, first);
    if (counted > 0) for (let c = 0; c < 3; c++) colour[c]! += sums[3 * light + c]! / here * counted / (last - first);
    brighter += here;
  }
  return colour;
}
