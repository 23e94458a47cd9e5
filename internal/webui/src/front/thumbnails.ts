// Small pictures of a file's pages, to pick before and to review after.
import { find, t } from '../page';
import { choosable, finished, numbersOf, rangesOf, type Job, type Page } from './model';

const side = 160; // pixels of the longer one

const painters = new WeakMap<Element, () => Promise<void>>();
let painted = Promise.resolve(); // one at a time

/** Paints canvases when they come near what is seen; what cannot be painted stays blank. */
const observer = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    observer.unobserve(target);
    painted = painted.then(() => (target.isConnected ? painters.get(target)!() : undefined)).catch(() => {});
  }
}, { rootMargin: '200px' });

function paint(canvas: HTMLCanvasElement, job: Job, page: Page): void {
  painters.set(canvas, () => (page.result ? shrink(canvas, finished(page.result)) : drawSmall(canvas, job, page)));
  observer.unobserve(canvas);
  observer.observe(canvas);
}

async function drawSmall(canvas: HTMLCanvasElement, job: Job, page: Page): Promise<void> {
  await (await import('./pdf')).drawSmall(job, page, canvas, side);
}

async function shrink(canvas: HTMLCanvasElement, picture: Blob): Promise<void> {
  const bitmap = await createImageBitmap(picture, { resizeWidth: side, resizeQuality: 'medium' });
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.getContext('2d')!.drawImage(bitmap, 0, 0);
  bitmap.close();
}

/** What a page is seen by: a small picture over its number. */
function faceOf(job: Job, page: Page): HTMLElement[] {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1;
  const number = document.createElement('span');
  number.textContent = String(page.n);
  paint(canvas, job, page);
  return [canvas, number];
}

/** Fills a form with the pages that can be chosen, each to be ticked; its field of numbers and the ticks follow each other. */
export function showChoice(form: HTMLFormElement, job: Job): void {
  const field = find<HTMLInputElement>('[name=pages]', form);
  const ticks = choosable(job).map((page) => {
    const tick = document.createElement('input');
    tick.type = 'checkbox';
    tick.value = String(page.n);
    tick.ariaLabel = t('front.js.page', { n: page.n });
    return { tick, page };
  });
  const follow = () => {
    const numbers = numbersOf(field.value, job.pages.length) ?? [];
    for (const { tick, page } of ticks) tick.checked = numbers.includes(page.n);
  };
  find('.faces', form).replaceChildren(...ticks.map(({ tick, page }) => {
    const label = document.createElement('label');
    label.append(tick, ...faceOf(job, page));
    return label;
  }));
  field.value = rangesOf(ticks.slice(0, job.choose).map(({ page }) => page.n));
  follow();
  field.oninput = follow;
  find('.faces', form).onchange = () => {
    field.value = rangesOf(ticks.filter(({ tick }) => tick.checked).map(({ page }) => page.n));
    field.setCustomValidity('');
  };
}

/** The pages of the file that is compared, each to be opened once it is done. */
export class Strip {
  private readonly strip = find('#strip');
  private job: Job | null = null;
  private faces = new Map<Page, { button: HTMLButtonElement; shown: Blob | undefined }>();

  constructor(private readonly open: (job: Job, page: Page) => void) {}

  /** Shows the pages of a file, if it has several, and which of them is open. */
  show(job: Job | null, open?: Page): void {
    this.strip.hidden = !job || job.pages.length < 2;
    if (this.strip.hidden) job = null;
    if (job !== this.job) this.fill(job);
    for (const [page, face] of this.faces) {
      const { button } = face;
      button.disabled = !page.result;
      button.dataset.state = page.state;
      button.title = page.state === 'failed' ? page.message : '';
      if (page === open) button.setAttribute('aria-current', 'page');
      else button.removeAttribute('aria-current');
      const picture = page.result && finished(page.result);
      if (picture !== face.shown) paint(find<HTMLCanvasElement>('canvas', button), job!, page);
      face.shown = picture;
    }
    const current = open && this.faces.get(open)?.button;
    if (current) this.reveal(current);
  }

  private fill(job: Job | null): void {
    this.job = job;
    this.faces = new Map((job?.pages ?? []).map((page) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.ariaLabel = t('front.js.page', { n: page.n });
      button.append(...faceOf(job!, page));
      button.addEventListener('click', () => this.open(job!, page));
      return [page, { button, shown: page.result && finished(page.result) }];
    }));
    this.strip.replaceChildren(...[...this.faces.values()].map(({ button }) => button));
  }

  /** Scrolls the strip, and nothing else, to a page. */
  private reveal({ offsetLeft, offsetTop, offsetWidth, offsetHeight }: HTMLElement): void {
    const { strip } = this;
    strip.scrollTo(offsetLeft + offsetWidth / 2 - strip.clientWidth / 2, offsetTop + offsetHeight / 2 - strip.clientHeight / 2);
  }
}
