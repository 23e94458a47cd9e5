// Before and after, one over the other: a slider between them, zoom and pan of both at once.
import { find, number, t } from '../page';

const maxZoom = 8;
const zoomStep = 1.25;

/** The picture pair, and how it is looked at. */
export class Viewer {
  private tinted: string | null = null; // address of what was removed
  private readonly frame = find('.compare');
  private readonly slider = find<HTMLInputElement>('#split');
  private readonly pointers = new Map<number, PointerEvent>();
  private zoom = 1;
  private x = 0; // of the page's corner in the frame, in CSS pixels
  private y = 0;

  constructor() {
    this.slider.addEventListener('input', () => this.split(Number(this.slider.value)));
    find('#zoom-in').addEventListener('click', () => this.zoomTo(this.zoom * zoomStep));
    find('#zoom-out').addEventListener('click', () => this.zoomTo(this.zoom / zoomStep));
    find('#zoom-fit').addEventListener('click', () => this.zoomTo(1));
    this.frame.addEventListener('keydown', (event) => this.key(event));
    this.frame.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.frame.addEventListener('pointerdown', (event) => this.press(event), { capture: true });
    for (const kind of ['pointermove', 'pointerup', 'pointercancel'] as const) {
      addEventListener(kind, (event) => this.move(event), { capture: true });
    }
    this.split(50);
  }

  /** Shows a pair of addresses; where the browser cannot read the one before, the result alone. */
  show(before: string, after: string): void {
    find<HTMLImageElement>('.before').onerror = () => this.frame.classList.add('single');
    this.replaceAfter(after);
    this.replaceBefore(before);
    this.zoomTo(1);
    this.split(50);
  }

  /** Shows another result in place of the one that is seen. */
  replaceAfter(after: string): void {
    find<HTMLImageElement>('.after').src = after;
  }

  /** Shows another picture of the page before. */
  replaceBefore(before: string): void {
    this.frame.classList.remove('single');
    find<HTMLImageElement>('.before').src = before;
  }

  /** Tints on the picture before where another one is opaque. */
  tint(removed: Blob | null): void {
    if (this.tinted) URL.revokeObjectURL(this.tinted);
    this.tinted = removed?.size ? URL.createObjectURL(removed) : null;
    const layer = find('.tint', this.frame);
    layer.hidden = !this.tinted;
    layer.style.maskImage = this.tinted ? `url(${this.tinted})` : '';
  }

  /** Whether the picture is moved, rather than the slider, by dragging. */
  get zoomed(): boolean {
    return this.zoom > 1;
  }

  private split(percent: number): void {
    this.slider.value = String(percent);
    this.slider.setAttribute('aria-valuetext', t('front.js.split', { percent }));
    this.frame.style.setProperty('--split', `${percent}%`);
  }

  /** Zooms so that a point of the frame stays where it is; by default its middle. */
  private zoomTo(zoom: number, x = this.frame.clientWidth / 2, y = this.frame.clientHeight / 2): void {
    const next = Math.min(maxZoom, Math.max(1, zoom));
    this.moveTo(x - (x - this.x) * next / this.zoom, y - (y - this.y) * next / this.zoom, next);
  }

  private moveTo(x: number, y: number, zoom = this.zoom): void {
    const { clientWidth, clientHeight, style, classList } = this.frame;
    this.zoom = zoom;
    this.x = Math.min(0, Math.max(clientWidth * (1 - zoom), x));
    this.y = Math.min(0, Math.max(clientHeight * (1 - zoom), y));
    style.setProperty('--zoom', String(this.zoom));
    style.setProperty('--x', `${this.x}px`);
    style.setProperty('--y', `${this.y}px`);
    classList.toggle('zoomed', this.zoomed);
    find('#zoom-level').textContent = `${number(Math.round(100 * this.zoom))} %`;
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 60;
    const act: Record<string, () => void> = {
      '+': () => this.zoomTo(this.zoom * zoomStep), '=': () => this.zoomTo(this.zoom * zoomStep),
      '-': () => this.zoomTo(this.zoom / zoomStep), '0': () => this.zoomTo(1),
    };
    if (event.shiftKey && event.target === this.slider) {
      act.ArrowLeft = () => this.moveTo(this.x + step, this.y);
      act.ArrowRight = () => this.moveTo(this.x - step, this.y);
      act.ArrowUp = () => this.moveTo(this.x, this.y + step);
      act.ArrowDown = () => this.moveTo(this.x, this.y - step);
    }
    const chosen = act[event.key];
    if (!chosen) return;
    event.preventDefault();
    chosen();
  }

  /** A pinch of a touchpad comes as a wheel with Ctrl. Without it the page scrolls, until it is zoomed. */
  private wheel(event: WheelEvent): void {
    if (!event.ctrlKey && !this.zoomed) return;
    event.preventDefault();
    const [x, y] = this.place(event);
    this.zoomTo(this.zoom * Math.exp(-event.deltaY / (event.ctrlKey ? 100 : 400)), x, y);
  }

  private place({ clientX, clientY }: { clientX: number; clientY: number }): [number, number] {
    const { left, top } = this.frame.getBoundingClientRect();
    return [clientX - left, clientY - top];
  }

  private press(event: PointerEvent): void {
    if (event.target !== this.slider || this.zoomed) this.pointers.set(event.pointerId, event);
    else if (event.pointerType === 'touch') this.pointers.set(event.pointerId, event); // may become a pinch
  }

  /** One pointer moves a zoomed page, two zoom it. */
  private move(event: PointerEvent): void {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const other = [...this.pointers.values()].find(({ pointerId }) => pointerId !== event.pointerId);
    if (event.type !== 'pointermove') {
      this.pointers.delete(event.pointerId);
      return;
    }
    this.pointers.set(event.pointerId, event);
    if (other) {
      const distance = (a: PointerEvent) => Math.max(1, Math.hypot(a.clientX - other.clientX, a.clientY - other.clientY));
      const [x, y] = this.place({ clientX: (event.clientX + other.clientX) / 2, clientY: (event.clientY + other.clientY) / 2 });
      this.zoomTo(this.zoom * distance(event) / distance(before), x, y);
      this.moveTo(this.x + (event.clientX - before.clientX) / 2, this.y + (event.clientY - before.clientY) / 2);
    } else if (this.zoomed && before.target !== this.slider && !this.frame.classList.contains('painting')) {
      this.moveTo(this.x + event.clientX - before.clientX, this.y + event.clientY - before.clientY);
    }
  }
}
