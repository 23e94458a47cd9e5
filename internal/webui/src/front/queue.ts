// The queue at work: one page is sent at a time; limits are waited out; without credits it stops.
import { t, Told, toldOf } from '../page';
import { isGuest, left, whyOut } from './allowance';
import { cleanHere } from './device';
import { choosable, newId, newPage, stateOf, type Job, type Page, type Result } from './model';
import { kindOf, sendable } from './picture';
import { NotCleaned, send, type Options } from './send';
import type { Store } from './store';

const maxTries = 5; // when the service is busy or the connection lost; a rate limit is waited out always

/** What the queue tells the page. */
export interface Watcher {
  changed(job: Job): void;
  announced(job: Job): void; // something that readers of the screen should hear
  finished(job: Job, page: Page): void;
  source(job: Job, page: Page): void; // what is sent of it is known
  halted(job: Job): void; // this one waits for somebody: for credits, or for a choice of pages
}

/** The files, and the work on them. */
export class Queue {
  readonly jobs: Job[] = [];
  private running = false;
  private began = 0; // when the work under way did
  private made = 0; // pages since then
  private pace = 0; // milliseconds that one has taken, with all waits
  private readonly stops = new Map<Job, AbortController>(); // of files that are worked on
  private wake: (() => void) | null = null; // ends the wait under way

  constructor(
    private readonly store: Store, private readonly watcher: Watcher,
    private readonly options: () => Options, private readonly onDevice: () => boolean,
  ) {}

  /** Whether a page is being sent. */
  get busy(): boolean {
    return this.running;
  }

  /** Minutes until all pages are done that wait, at the pace of those since the work began; 0 where that is not known. */
  get minutesLeft(): number {
    const ahead = this.jobs.flatMap(({ pages }) => pages).filter(isAhead).length;
    return this.running ? ahead * this.pace / 60_000 : 0;
  }

  /** Takes up what was left by a reload, and goes on. */
  restore(jobs: Job[]): void {
    this.jobs.push(...jobs);
    for (const job of jobs) {
      for (const page of job.pages) if (page.state === 'working' || page.state === 'pausing' || page.state === 'out') this.set(job, page, 'waiting');
      if (stateOf(job) === 'preparing') void this.examine(job);
    }
    void this.run();
  }

  /** A new file; it is looked at by examine. */
  add(file: File): Job {
    const job: Job = { id: newId(), name: file.name, file, pdf: false, added: Date.now(), place: (this.jobs.at(-1)?.place ?? 0) + 1, pages: [] };
    this.jobs.push(job);
    return job;
  }

  /** Gives a file another place in the queue. */
  move(job: Job, to: number): void {
    if (this.jobs[to] === job) return;
    this.jobs.splice(this.jobs.indexOf(job), 1);
    this.jobs.splice(to, 0, job);
    const before = this.jobs[to - 1]?.place;
    const after = this.jobs[to + 1]?.place;
    job.place = ((before ?? after! - 2) + (after ?? before! + 2)) / 2;
    void this.store.saveFile(job);
  }

  /** Looks at a file before anything is sent, and lists its pages; of a PDF people choose some where they are asked. */
  async examine(job: Job, ask = true): Promise<void> {
    try {
      await this.list(job, ask);
    } catch (error) {
      this.refuse(job, error instanceof Told ? error.message : t('front.js.unreadable'));
    }
    if (!this.jobs.includes(job)) return;
    void this.store.saveJob(job);
    this.watcher.changed(job);
    if (job.problem) this.watcher.announced(job);
    else this.goOn(job);
  }

  /** Works on a file, or waits for the choice of its pages. */
  private goOn(job: Job): void {
    if (job.choose) {
      this.watcher.announced(job);
      this.watcher.halted(job);
    }
    void this.run();
  }

  private async list(job: Job, ask: boolean): Promise<void> {
    const kind = await kindOf(job.file);
    if (!job.file.size) return this.refuse(job, t('front.js.empty'));
    if (kind === 'other') return this.refuse(job, t('front.js.format'));
    if (kind === 'pdf') {
      job.pdf = true;
      job.pages = await (await import('./pdf')).pagesOf(job);
      for (const page of job.pages) page.state = 'left';
      return this.takeLeft(job, ask);
    }
    const file = await sendable(job.file);
    job.shrunk ||= file !== job.file;
    job.file = file;
    job.pages = [{ ...newPage(1), source: job.file }];
    this.watcher.source(job, job.pages[0]!);
  }

  /** Lets the pages wait that were left, or has some of them chosen: where it is asked for, or the credits do not suffice for all. */
  private async takeLeft(job: Job, ask: boolean): Promise<void> {
    const rest = choosable(job);
    const most = this.onDevice() ? Infinity : await this.affordable(job);
    if (most > 0 && rest.length > (ask ? 1 : most)) job.choose = Math.min(most, rest.length);
    else for (const page of rest) page.state = 'waiting';
  }

  /** How many more pages of a file can be paid for. */
  private async affordable(job: Job): Promise<number> {
    const ahead = this.sharing(job).flatMap(({ pages }) => pages).filter(isAhead);
    return await left(true) - ahead.length;
  }

  /** The files that need the same credits: photos and PDFs of guests are counted apart. */
  private sharing(job: Job): Job[] {
    return this.jobs.filter(({ pdf }) => pdf === job.pdf || !isGuest());
  }

  /** Has pages cleaned that were left. */
  async rest(job: Job): Promise<void> {
    await this.takeLeft(job, true);
    void this.store.saveJob(job);
    this.watcher.changed(job);
    this.goOn(job);
  }

  /** Has chosen pages of those cleaned that were left. */
  choose(job: Job, numbers: number[]): void {
    job.choose = undefined;
    for (const page of job.pages) if (page.state === 'left' && numbers.includes(page.n)) page.state = 'waiting';
    void this.store.saveJob(job);
    this.watcher.changed(job);
    void this.run();
  }

  private refuse(job: Job, message: string): void {
    job.problem = message;
  }

  cancel(job: Job): void {
    if (stateOf(job) === 'preparing') return this.remove(job);
    for (const page of job.pages) if (page.state !== 'done' && page.state !== 'failed' && page.state !== 'left') this.set(job, page, 'cancelled');
    this.stops.get(job)?.abort();
  }

  retry(job: Job): void {
    for (const page of job.pages) if (page.state === 'failed' || page.state === 'cancelled') this.set(job, page, 'waiting');
    if (stateOf(job) === 'out') for (const other of this.jobs) this.unhalt(other);
    void this.run();
  }

  /** Whether pages of a file were cleaned with other options than are chosen now. */
  outdated(job: Job): boolean {
    const now = madeWith(this.options());
    return stateOf(job) === 'done' && job.pages.some(({ result }) => result?.made !== undefined && result.made !== now);
  }

  /** Cleans those anew, which costs nothing. */
  again(job: Job): void {
    const now = madeWith(this.options());
    for (const page of job.pages) if (page.result?.made !== undefined && page.result.made !== now) this.set(job, page, 'waiting');
    void this.run();
  }

  /** Ends the wait under way. */
  now(): void {
    this.wake?.();
  }

  /** Puts a file back that was removed. */
  putBack(job: Job, at: number): void {
    this.jobs.splice(at, 0, job);
    void this.store.saveJob(job);
    void this.run();
  }

  remove(job: Job): void {
    this.jobs.splice(this.jobs.indexOf(job), 1);
    this.stops.get(job)?.abort();
    if (job.pdf) void import('./pdf').then(({ close }) => close(job));
    void this.store.remove(job.id);
  }

  private unhalt(job: Job): void {
    for (const page of job.pages) if (page.state === 'out') this.set(job, page, 'waiting');
  }

  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    this.began = Date.now();
    this.made = this.pace = 0;
    for (let next; (next = this.next());) await this.clean(...next);
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
        if (why.how.out) return await this.halt(job, page);
        if (why.how.patience) tries++;
        if (!why.how.wait || tries > maxTries) {
          this.set(job, page, 'failed', why.message, { request: why.how.request });
          return this.watcher.announced(job);
        }
        await this.pause(job, page, why, stop.signal);
      }
    } catch (error) {
      if (stop.signal.aborted) return;
      this.set(job, page, 'failed', toldOf(error));
      this.watcher.announced(job);
    } finally {
      this.stops.delete(job);
    }
  }

  /** Has a page cleaned once; what hinders it is returned. */
  private async attempt(job: Job, page: Page, signal: AbortSignal): Promise<NotCleaned | null> {
    this.set(job, page, 'working', t('front.js.preparing'));
    if (!page.source) {
      page.source = await (await import('./pdf')).draw(job, page);
      void this.store.savePage(job, page); // sent again it must be the same
      this.watcher.source(job, page);
    }
    signal.throwIfAborted();
    try {
      const options = this.options();
      const made = madeWith(options);
      if (job.pdf) options.output_format = 'jpeg';
      page.result = { ...await this.result(job, page, options, signal), made };
    } catch (error) {
      if (!(error instanceof NotCleaned)) throw error;
      if (!job.pdf || !error.how.unusable) return error;
      page.result = { image: page.source, handwriting: new Blob(), unwritten: true, strokes: [] }; // it was drawn here: it is blank
    }
    if (!this.jobs.includes(job)) return null;
    this.pace = (Date.now() - this.began) / ++this.made;
    this.set(job, page, 'done');
    this.watcher.finished(job, page);
    if (stateOf(job) === 'done') this.watcher.announced(job);
    return null;
  }

  /** Has a page cleaned, here or by the service. */
  private async result(job: Job, page: Page, options: Options, signal: AbortSignal): Promise<Result> {
    if (this.onDevice()) return cleanHere(page, options, signal, (message, progress) => this.set(job, page, 'working', message, { progress }));
    return send(job, page, options, this.jobs.length > 1, signal, (progress) => {
      const message = progress < 1 ? t('front.js.uploading', { percent: Math.floor(100 * progress) }) : t('front.js.cleaning');
      this.set(job, page, 'working', message, { progress });
    });
  }

  /** Lets a page, and all that wait for the same credits, say why they wait. */
  private async halt(job: Job, page: Page): Promise<void> {
    const message = await whyOut(job.pdf);
    this.set(job, page, 'out', message);
    for (const other of this.sharing(job)) {
      for (const waiting of other.pages) if (waiting.state === 'waiting') this.set(other, waiting, 'out', message);
    }
    this.watcher.announced(job);
    this.watcher.halted(job);
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

/** Whether a page is going to be cleaned. */
const isAhead = ({ state }: Page): boolean => state === 'waiting' || state === 'working' || state === 'pausing';

/** The options that change a result, as a text; the format of a file changes only how it is saved. */
const madeWith = ({ output_format: _, ...options }: Options): string => JSON.stringify(options);

const clock = (seconds: number): string =>
  seconds < 60 ? t('front.js.seconds', { n: seconds }) : t('front.js.minutes', { n: `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}` });
