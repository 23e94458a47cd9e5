// The queue at work: one page is sent at a time; limits are waited out; without credits it stops.
import { t } from '../page';
import { newId, newPage, stateOf, type Job, type Page } from './model';
import { kindOf, problemOf, shrink } from './picture';
import { NotCleaned, send, type Options } from './send';
import type { Store } from './store';

const maxTries = 5; // when the service is busy or the connection lost; a rate limit is waited out always

/** What the queue tells the page. */
export interface Watcher {
  changed(job: Job): void;
  announced(job: Job): void; // something that readers of the screen should hear
  finished(job: Job, page: Page): void;
  source(job: Job, page: Page): void; // what is sent of it is known
  halted(message: string): void; // without credits; until resume
}

/** The files, and the work on them. */
export class Queue {
  readonly jobs: Job[] = [];
  private running = false;
  private halted = false;
  private readonly stops = new Map<Job, AbortController>(); // of files that are worked on
  private wake: (() => void) | null = null; // ends the wait under way

  constructor(private readonly store: Store, private readonly watcher: Watcher, private readonly options: () => Options) {}

  /** Whether a page is being sent. */
  get busy(): boolean {
    return this.running;
  }

  /** Takes up what was left by a reload, and goes on. */
  restore(jobs: Job[]): void {
    this.jobs.push(...jobs);
    for (const job of jobs) {
      for (const page of job.pages) if (page.state === 'working' || page.state === 'pausing') this.set(job, page, 'waiting');
      if (stateOf(job) === 'preparing') void this.examine(job);
    }
    this.resume();
  }

  /** A new file; it is looked at by examine. */
  add(file: File): Job {
    const job: Job = { id: newId(), name: file.name, file, pdf: false, added: Date.now(), pages: [] };
    this.jobs.push(job);
    return job;
  }

  /** Looks at a file before anything is sent, and lists its pages. */
  async examine(job: Job): Promise<void> {
    try {
      await this.list(job);
    } catch (error) {
      this.refuse(job, error instanceof DOMException ? t('front.js.unreadable') : (error as Error).message);
    }
    if (!this.jobs.includes(job)) return;
    void this.store.saveJob(job);
    this.watcher.changed(job);
    if (job.problem) this.watcher.announced(job);
    else void this.run();
  }

  private async list(job: Job): Promise<void> {
    const kind = await kindOf(job.file);
    if (!job.file.size) return this.refuse(job, t('front.js.empty'));
    if (kind === 'other') return this.refuse(job, t('front.js.format'));
    if (kind === 'pdf') {
      job.pdf = true;
      job.pages = await (await import('./pdf')).pagesOf(job);
      return;
    }
    const problem = await problemOf(job.file);
    if (problem) job.problem = problem;
    else delete job.problem;
    job.pages = [{ ...newPage(1), source: job.file }];
    this.watcher.source(job, job.pages[0]!);
  }

  private refuse(job: Job, message: string): void {
    job.problem = { state: 'refused', message };
  }

  /** Makes a picture smaller that is too large. */
  async shrink(job: Job): Promise<void> {
    job.problem = undefined;
    job.pages = [];
    this.watcher.changed(job);
    const smaller = await shrink(job.file).catch(() => null);
    if (!smaller) this.refuse(job, t('front.js.notShrunk'));
    else job.file = smaller;
    if (smaller) await this.examine(job);
    else this.watcher.changed(job);
  }

  cancel(job: Job): void {
    if (stateOf(job) === 'preparing') return this.remove(job);
    for (const page of job.pages) if (page.state !== 'done' && page.state !== 'failed') this.set(job, page, 'cancelled');
    this.stops.get(job)?.abort();
  }

  retry(job: Job): void {
    for (const page of job.pages) if (page.state === 'failed' || page.state === 'cancelled') this.set(job, page, 'waiting');
    this.resume();
  }

  /** Ends the wait under way. */
  now(): void {
    this.wake?.();
  }

  remove(job: Job): void {
    this.jobs.splice(this.jobs.indexOf(job), 1);
    this.stops.get(job)?.abort();
    if (job.pdf) void import('./pdf').then(({ close }) => close(job));
    void this.store.remove(job.id);
  }

  /** Goes on, also where it has stopped for want of credits. */
  resume(): void {
    this.halted = false;
    void this.run();
  }

  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    for (let next; !this.halted && (next = this.next());) await this.clean(...next);
    this.running = false;
  }

  private next(): [Job, Page] | null {
    for (const job of this.jobs) {
      const page = job.problem ? undefined : job.pages.find(({ state }) => state === 'waiting');
      if (page) return [job, page];
    }
    return null;
  }

  private set(job: Job, page: Page, state: Page['state'], message = '', more: Partial<Page> = {}): void {
    const changed = page.state !== state;
    Object.assign(page, { state, message, progress: undefined, request: undefined }, more);
    if (changed && this.jobs.includes(job)) void this.store.savePage(job, page);
    this.watcher.changed(job);
  }

  private async clean(job: Job, page: Page): Promise<void> {
    const stop = new AbortController();
    this.stops.set(job, stop);
    try {
      for (let tries = 1; ; ) {
        const why = await this.attempt(job, page, stop.signal);
        if (!why) return;
        if (why.how.out) return this.halt(job, page, why.message);
        if (why.how.patience) tries++;
        if (!why.how.wait || tries > maxTries) {
          this.set(job, page, 'failed', why.message, { request: why.how.request });
          return this.watcher.announced(job);
        }
        await this.pause(job, page, why, stop.signal);
      }
    } catch (error) {
      if (stop.signal.aborted) return;
      this.set(job, page, 'failed', (error as Error).message);
      this.watcher.announced(job);
    } finally {
      this.stops.delete(job);
    }
  }

  /** Sends a page once; what hinders it is returned. */
  private async attempt(job: Job, page: Page, signal: AbortSignal): Promise<NotCleaned | null> {
    this.set(job, page, 'working', t('front.js.preparing'));
    if (!page.source) {
      page.source = await (await import('./pdf')).draw(job, page);
      void this.store.savePage(job, page); // sent again it must be the same
      this.watcher.source(job, page);
    }
    signal.throwIfAborted();
    try {
      const bulk = this.jobs.length > 1;
      const options = this.options();
      if (job.pdf) options.output_format = 'jpeg';
      page.result = await send(job, page, options, bulk, signal, (progress) => {
        const message = progress < 1 ? t('front.js.uploading', { percent: Math.floor(100 * progress) }) : t('front.js.cleaning');
        this.set(job, page, 'working', message, { progress });
      });
    } catch (error) {
      if (error instanceof NotCleaned) return error;
      throw error;
    }
    if (!this.jobs.includes(job)) return null;
    this.set(job, page, 'done');
    this.watcher.finished(job, page);
    if (stateOf(job) === 'done') this.watcher.announced(job);
    return null;
  }

  private halt(job: Job, page: Page, message: string): void {
    this.halted = true;
    this.set(job, page, 'waiting');
    this.watcher.halted(message);
  }

  /** Counts down, and ends early when the user or a connection that is back says so. */
  private async pause(job: Job, page: Page, { message, how }: NotCleaned, signal: AbortSignal): Promise<void> {
    const until = Date.now() + 1000 * how.wait!;
    const ended = Promise.withResolvers<void>();
    const tick = () => {
      const left = Math.ceil((until - Date.now()) / 1000);
      if (left > 0) this.set(job, page, 'pausing', t('front.js.goingOn', { why: message, left: clock(left) }));
      else ended.resolve();
    };
    const timer = setInterval(tick, 500);
    this.wake = () => ended.resolve();
    const abort = () => ended.reject(signal.reason);
    signal.addEventListener('abort', abort);
    if (how.lost) addEventListener('online', this.wake);
    tick();
    this.watcher.announced(job);
    try {
      await ended.promise;
    } finally {
      clearInterval(timer);
      signal.removeEventListener('abort', abort);
      removeEventListener('online', this.wake);
      this.wake = null;
    }
  }
}

const clock = (seconds: number): string =>
  seconds < 60 ? t('front.js.seconds', { n: seconds }) : t('front.js.minutes', { n: `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}` });
