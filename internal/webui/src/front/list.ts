// The queue as it is seen: a row for each file.
import { announce, count, find, findAll, t } from '../page';
import { isGuest } from './allowance';
import { bytes } from './picture';
import { cleaned, finished, numbersOf, short, stateOf, type Job, type JobState } from './model';
import { showChoice } from './thumbnails';

export type Action = 'show' | 'download' | 'rest' | 'again' | 'paint' | 'otherLook' | 'retry' | 'now' | 'cancel' | 'remove';

/** What can be offered in a row: an action, or a link to another page. */
type Offer = Action | 'signUp' | 'logIn' | 'buy';

const controls: Record<JobState, Offer[]> = {
  preparing: ['cancel'], waiting: ['cancel'], working: ['cancel'], pausing: ['now', 'cancel'],
  out: ['retry', 'cancel'], choosing: ['remove'],
  done: ['show', 'download', 'remove'], failed: ['retry', 'remove'], cancelled: ['retry', 'remove'],
  refused: ['remove'],
};

/** What is done by hand in the rows. */
interface Hands {
  act(action: Action, job: Job): void;
  moved(job: Job, to: number): void; // to a place that counts from 0
  chosen(job: Job, numbers: number[]): void; // pages of a PDF
  outdated(job: Job): boolean; // whether it was cleaned with other options than are chosen now
}

/** The rows, and what their buttons do. */
export class List {
  private readonly rows = new Map<Job, HTMLElement>();
  private readonly list = find('#queue ul');

  constructor(private readonly hands: Hands) {}

  add(job: Job, at = this.list.children.length): void {
    const row = find<HTMLTemplateElement>('#item').content.firstElementChild!.cloneNode(true) as HTMLElement;
    find('.name', row).textContent = job.name;
    find('progress', row).setAttribute('aria-label', job.name);
    for (const control of findAll('[data-do]', row)) {
      control.setAttribute('aria-label', t('front.js.announce', { name: control.textContent!, what: job.name }));
      if (control instanceof HTMLButtonElement) control.addEventListener('click', () => this.hands.act(control.dataset.do as Action, job));
    }
    this.choosable(job, row);
    this.movable(job, row);
    this.rows.set(job, row);
    this.list.insertBefore(row, this.list.children[at] ?? null);
    this.show(job);
  }

  /** Lets a row be dragged by its handle, or moved by the arrow keys on that. */
  private movable(job: Job, row: HTMLElement): void {
    const handle = find('.move', row);
    handle.ariaLabel = t('front.js.announce', { name: handle.ariaLabel!, what: job.name });
    handle.addEventListener('keydown', (event) => {
      if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
      event.preventDefault();
      if (swap(row, event.key === 'ArrowUp')) this.settle(job, row);
    });
    handle.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      handle.setPointerCapture(event.pointerId);
      row.classList.add('moving');
    });
    handle.addEventListener('pointermove', ({ clientY }) => {
      if (!row.classList.contains('moving')) return;
      const [above, below] = [row.previousElementSibling, row.nextElementSibling].map((other) => other && middle(other));
      if (above && clientY < above) swap(row, true);
      else if (below && clientY > below) swap(row, false);
    });
    handle.addEventListener('lostpointercapture', () => {
      row.classList.remove('moving');
      this.settle(job, row);
    });
  }

  /** Lets pages of a PDF be chosen. */
  private choosable(job: Job, row: HTMLElement): void {
    const form = find<HTMLFormElement>('.choose', row);
    const field = find<HTMLInputElement>('input', form);
    field.addEventListener('input', () => field.setCustomValidity(''));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const numbers = numbersOf(field.value, job.pages.length);
      if (numbers) return this.hands.chosen(job, numbers);
      field.setCustomValidity(t('front.js.pagesHow'));
      field.reportValidity();
    });
  }

  /** Tells of a row's new place. */
  private settle(job: Job, row: HTMLElement): void {
    const to = [...this.list.children].indexOf(row);
    if (to < 0) return; // it was removed
    this.hands.moved(job, to);
    announce(t('front.js.place', { name: job.name, n: to + 1, all: this.list.children.length }));
  }

  /** Shows a file as it is now. */
  show(job: Job): void {
    const row = this.rows.get(job);
    if (!row) return;
    const state = stateOf(job);
    const current = job.pages.find((page) => page.state === state);
    row.dataset.state = state;
    find('.state', row).textContent = describe(job, state);
    if (current?.request && state === 'failed') {
      const small = document.createElement('small');
      small.textContent = ` ${t('front.js.request', { id: current.request })}`;
      find('.state', row).append(small);
    }
    const form = find<HTMLFormElement>('.choose', row);
    if (form.hidden && state === 'choosing') showChoice(form, job);
    form.hidden = state !== 'choosing';
    this.progress(job, find<HTMLProgressElement>('progress', row), state);
    this.offer(row, job, state);
  }

  private progress(job: Job, bar: HTMLProgressElement, state: JobState): void {
    const done = cleaned(job).length;
    const part = job.pages.find((page) => page.state === 'working')?.progress;
    bar.hidden = state !== 'working' && state !== 'preparing' && !(job.pages.length > 1 && (state === 'pausing' || state === 'waiting'));
    if (job.pages.length > 1) bar.value = (done + (part ?? 0) / 2) / job.pages.length;
    else if (part === undefined || part === 1) bar.removeAttribute('value');
    else bar.value = part;
  }

  private offer(row: HTMLElement, job: Job, state: JobState): void {
    const offered = new Set(controls[state]);
    if (cleaned(job).length) offered.add('show').add('download');
    if (state === 'done' && job.pages.some((page) => page.state === 'left')) offered.add('rest');
    if (this.hands.outdated(job)) offered.add('again');
    else if (state === 'done' && nothingFound(job)) offered.add('paint').add('otherLook');
    if (state === 'out' || short(job)) for (const way of isGuest() ? ['signUp', 'logIn'] as const : ['buy'] as const) offered.add(way);
    const focused = document.activeElement as HTMLElement | null;
    for (const control of findAll('[data-do]', row)) control.hidden = !offered.has(control.dataset.do as Offer);
    if (focused && row.contains(focused) && !focused.checkVisibility()) find('[data-do]:not([hidden])', row).focus();
  }

  /** Shows a picture of a file beside its name. */
  thumb(job: Job, picture: Blob): void {
    const row = this.rows.get(job);
    if (!row) return;
    const image = find<HTMLImageElement>('.thumb', row);
    if (image.src.startsWith('blob:')) URL.revokeObjectURL(image.src);
    const icon = image.dataset.icon ??= image.src;
    image.onerror = () => { image.src = icon; }; // browsers do not show all formats that the service reads
    image.src = URL.createObjectURL(picture);
  }

  /** Marks the file that is compared. */
  mark(viewed: Job | null): void {
    for (const [job, row] of this.rows) find('.show', row).setAttribute('aria-pressed', String(job === viewed));
  }

  /** Takes a file's row away, and puts the focus beside it. */
  remove(job: Job): void {
    const row = this.rows.get(job);
    if (!row) return;
    const next = row.nextElementSibling ?? row.previousElementSibling;
    const focused = row.contains(document.activeElement);
    const thumb = find<HTMLImageElement>('.thumb', row);
    if (thumb.src.startsWith('blob:')) URL.revokeObjectURL(thumb.src);
    row.remove();
    this.rows.delete(job);
    if (focused) (next ? find('[data-do]:not([hidden])', next as HTMLElement) : find('#files')).focus();
  }

  /** Puts the focus on a file's row. */
  focus(job: Job): void {
    const row = this.rows.get(job);
    if (row) find('[data-do]:not([hidden])', row).focus();
  }

  /** Brings a file's row into view, at once: what changes above meanwhile would end a slow scroll short of it. */
  reveal(job: Job): void {
    this.rows.get(job)?.scrollIntoView({ block: 'nearest', behavior: 'instant' });
  }

  /** Tells readers of the screen what a file's row says. */
  announce(job: Job): void {
    announce(t('front.js.announce', { name: job.name, what: describe(job, stateOf(job)) }));
  }
}

/** Whether nothing was removed from a file, nor painted over. */
const nothingFound = (job: Job): boolean =>
  cleaned(job).length > 0 && cleaned(job).every(({ marked, inked, result }) => !marked && !inked && result!.unwritten && !result!.touched);

const middle = (row: Element): number => {
  const { top, height } = row.getBoundingClientRect();
  return top + height / 2;
};

/** Moves a row's neighbour to its other side: so the row keeps the focus, and the finger that drags it. */
function swap(row: HTMLElement, up: boolean): boolean {
  const other = up ? row.previousElementSibling : row.nextElementSibling;
  if (!other) return false;
  if (up) row.after(other);
  else row.before(other);
  row.scrollIntoView({ block: 'nearest' });
  return true;
}

function describe(job: Job, state: JobState): string {
  if (job.problem) return job.problem;
  const { pages } = job;
  const page = pages.find((one) => one.state === state);
  switch (state) {
    case 'preparing': return t('front.js.preparing');
    case 'choosing': return describeChoice(job);
    case 'done': return describeDone(job);
  }
  const what = page!.message || t(state === 'cancelled' ? 'front.js.cancelled' : 'front.js.waiting');
  if (pages.length === 1) return what;
  const done = cleaned(job).length;
  return state === 'failed' || state === 'cancelled' || state === 'out'
    ? t('front.js.partly', { done, all: pages.length, why: what })
    : t('front.js.pageOf', { n: page!.n, all: pages.length, what });
}

function describeChoice(job: Job): string {
  const pages = job.pages.length;
  if (!short(job)) return t('front.js.choose', { pages });
  return t(isGuest() ? 'front.js.chooseGuest' : 'front.js.chooseUser', { pages, most: job.choose! });
}

function describeDone(job: Job): string {
  const { pages } = job;
  const done = cleaned(job).length;
  if (done < pages.length) return t('front.js.partly', { done, all: pages.length, why: '' }).trim();
  const nothing = nothingFound(job) ? t('front.js.nothing') : '';
  if (pages.length > 1) {
    const all = count('front.js.donePages', done);
    return nothing ? t('front.js.announce', { name: all, what: nothing }) : all;
  }
  if (nothing) return job.shrunk ? t('front.js.nothingSmaller') : nothing;
  return t(job.shrunk ? 'front.js.doneSmaller' : 'front.js.done', { size: bytes(finished(pages[0]!.result!).size) });
}
