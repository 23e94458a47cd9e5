// The queue as it is seen: a row for each file.
import { announce, count, find, findAll, t } from '../page';
import { bytes } from './picture';
import { finished, stateOf, type Job, type JobState } from './model';

export type Action = 'show' | 'download' | 'shrink' | 'retry' | 'now' | 'cancel' | 'remove';

const controls: Record<JobState, Action[]> = {
  preparing: ['cancel'], waiting: ['cancel'], working: ['cancel'], pausing: ['now', 'cancel'],
  done: ['show', 'download', 'remove'], failed: ['retry', 'remove'], cancelled: ['retry', 'remove'],
  tooLarge: ['shrink', 'remove'], refused: ['remove'],
};

/** The rows, and what their buttons do. */
export class List {
  private readonly rows = new Map<Job, HTMLElement>();
  private readonly list = find('#queue ul');

  constructor(private readonly act: (action: Action, job: Job) => void) {}

  add(job: Job): void {
    const row = find<HTMLTemplateElement>('#item').content.firstElementChild!.cloneNode(true) as HTMLElement;
    find('.name', row).textContent = job.name;
    find('progress', row).setAttribute('aria-label', job.name);
    for (const control of findAll('[data-do]', row)) {
      control.setAttribute('aria-label', t('front.js.announce', { name: control.textContent!, what: job.name }));
      control.addEventListener('click', () => this.act(control.dataset.do as Action, job));
    }
    this.rows.set(job, row);
    this.list.append(row);
    this.show(job);
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
    this.progress(job, find<HTMLProgressElement>('progress', row), state);
    this.offer(row, job, state);
  }

  private progress(job: Job, bar: HTMLProgressElement, state: JobState): void {
    const done = job.pages.filter(({ result }) => result).length;
    const part = job.pages.find((page) => page.state === 'working')?.progress;
    bar.hidden = state !== 'working' && state !== 'preparing' && !(job.pages.length > 1 && (state === 'pausing' || state === 'waiting'));
    if (job.pages.length > 1) bar.value = (done + (part ?? 0) / 2) / job.pages.length;
    else if (part === undefined || part === 1) bar.removeAttribute('value');
    else bar.value = part;
  }

  private offer(row: HTMLElement, job: Job, state: JobState): void {
    const offered = new Set(controls[state]);
    if (job.pages.some(({ result }) => result)) offered.add('show');
    const focused = document.activeElement as HTMLElement | null;
    for (const control of findAll('[data-do]', row)) control.hidden = !offered.has(control.dataset.do as Action);
    if (focused && row.contains(focused) && focused.hidden) find('[data-do]:not([hidden])', row).focus();
  }

  /** Shows a file's first page beside its name. */
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

  /** Tells readers of the screen what a file's row says. */
  announce(job: Job): void {
    announce(t('front.js.announce', { name: job.name, what: describe(job, stateOf(job)) }));
  }
}

function describe(job: Job, state: JobState): string {
  if (job.problem) return job.problem.message;
  const { pages } = job;
  const page = pages.find((one) => one.state === state);
  switch (state) {
    case 'preparing': return t('front.js.preparing');
    case 'done': return pages.length > 1 ? count('front.js.donePages', pages.length) : t('front.js.done', { size: bytes(finished(pages[0]!.result!).size) });
  }
  const what = page!.message || t(state === 'cancelled' ? 'front.js.cancelled' : 'front.js.waiting');
  if (pages.length === 1) return what;
  const done = pages.filter(({ result }) => result).length;
  return state === 'failed' || state === 'cancelled'
    ? t('front.js.partly', { done, all: pages.length, why: what })
    : t('front.js.pageOf', { n: page!.n, all: pages.length, what });
}
