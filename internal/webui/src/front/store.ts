// The queue outlives a reload: files and pages lie in IndexedDB. Each tab has a queue of its own, held by a lock; a tab
// takes over the queue of one that was closed.
import { newId, type Job, type Page } from './model';

const keptFor = 24 * 60 * 60 * 1000; // milliseconds

interface JobRow extends Omit<Job, 'pages'> {
  queue: string;
  count: number;
}

interface PageRow extends Page {
  job: string;
}

/** Keeps a queue. Where the browser does not let it, the queue lives as long as the tab. */
export class Store {
  private readonly opened = open();

  /** The files that are kept, without what is too old. */
  async load(): Promise<Job[]> {
    const kept = await this.opened;
    if (!kept) return [];
    const rows = await all<JobRow>(kept.db, 'jobs');
    for (const row of rows) if (Date.now() - row.added > keptFor) await this.remove(row.id);
    const jobs: Job[] = [];
    for (const { queue, count, ...job } of rows) {
      if (queue !== kept.queue || Date.now() - job.added > keptFor) continue;
      const pages = await all<PageRow>(kept.db, 'pages', IDBKeyRange.bound([job.id, 0], [job.id, count]));
      job.place ??= job.added; // one that was kept before files had places
      jobs.push({ ...job, pages: pages.map(({ job: _, ...page }) => page) });
    }
    return jobs.sort((a, b) => a.place - b.place);
  }

  /** Keeps what is known of a file, but its pages. */
  async saveFile({ pages, ...job }: Job): Promise<void> {
    await this.write(['jobs'], (queue, [jobs]) => {
      jobs!.put({ ...job, queue, count: pages.length } satisfies JobRow);
    });
  }

  /** Keeps a file and all its pages. */
  async saveJob({ pages, ...job }: Job): Promise<void> {
    await this.write(['jobs', 'pages'], (queue, [jobs, pageStore]) => {
      jobs!.put({ ...job, queue, count: pages.length } satisfies JobRow);
      for (const page of pages) pageStore!.put({ ...page, job: job.id } satisfies PageRow);
    });
  }

  /** Keeps a page of a file that is kept itself: not of one that was removed meanwhile. */
  async savePage(job: Job, page: Page): Promise<void> {
    await this.write(['jobs', 'pages'], (_, [jobs, pages]) => {
      const row: PageRow = { ...page, job: job.id };
      const kept = jobs!.getKey(job.id);
      kept.onsuccess = () => { if (kept.result !== undefined) pages!.put(row); };
      return kept;
    });
  }

  async remove(id: string): Promise<void> {
    await this.write(['jobs', 'pages'], (_, [jobs, pages]) => {
      jobs!.delete(id);
      pages!.delete(IDBKeyRange.bound([id, 0], [id, Infinity]));
    });
  }

  /** Writes at once, so that a reload does not undo it: after what change asks first, if it asks anything. */
  private async write(names: string[], change: (queue: string, stores: IDBObjectStore[]) => IDBRequest | void): Promise<void> {
    const kept = await this.opened;
    if (!kept) return;
    const transaction = kept.db.transaction(names, 'readwrite');
    const asked = change(kept.queue, names.map((name) => transaction.objectStore(name)));
    if (asked) asked.addEventListener('success', () => transaction.commit());
    else transaction.commit();
    await new Promise<void>((resolve) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = transaction.onerror = () => resolve(); // a full disk: the tab goes on without
    });
  }
}

const channel = 'unink';

/** Removes all files that this browser keeps, those of other tabs too, which begin anew. */
export async function forget(): Promise<void> {
  const db = await openDatabase().catch(() => null);
  if (db) {
    const transaction = db.transaction(['jobs', 'pages'], 'readwrite');
    for (const name of ['jobs', 'pages']) transaction.objectStore(name).clear();
    await new Promise<void>((resolve) => { transaction.oncomplete = transaction.onabort = () => resolve(); });
    db.close();
  }
  if ('caches' in self) await caches.delete('shared'); // what other apps shared and no page has taken
  new BroadcastChannel(channel).postMessage('forgotten');
}

/** Calls back when another tab has removed all files. */
export function onForgotten(then: () => void): void {
  new BroadcastChannel(channel).onmessage = then;
}

async function open(): Promise<{ db: IDBDatabase; queue: string } | null> {
  try {
    const db = await openDatabase();
    return { db, queue: await takeQueue(db) };
  } catch {
    return null;
  }
}

const request = <T>(asked: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });

const all = <T>(db: IDBDatabase, store: string, range?: IDBKeyRange): Promise<T[]> =>
  request(db.transaction(store).objectStore(store).getAll(range));

function openDatabase(): Promise<IDBDatabase> {
  const opening = indexedDB.open('unink', 1);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore('jobs', { keyPath: 'id' });
    opening.result.createObjectStore('pages', { keyPath: ['job', 'n'] });
  };
  return request(opening);
}

/** The queue that this tab had before a reload, or one that no tab has, or a new one. */
async function takeQueue(db: IDBDatabase): Promise<string> {
  const own = sessionStorage.getItem('queue');
  const others = (await all<JobRow>(db, 'jobs')).map((row) => row.queue);
  for (const queue of new Set([...(own ? [own] : []), ...others, newId()])) {
    if (await hold(queue, queue === own ? 2000 : 0)) {
      sessionStorage.setItem('queue', queue);
      return queue;
    }
  }
  throw new Error('no queue can be had');
}

/** Takes a queue's lock until the tab is closed; after a reload, the page before may have it for a moment. */
function hold(queue: string, patience: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options: LockOptions = patience ? { signal: AbortSignal.timeout(patience) } : { ifAvailable: true };
    navigator.locks.request(`queue-${queue}`, options, (lock) => {
      resolve(lock !== null);
      return lock && new Promise(() => {});
    }).catch(() => resolve(false));
  });
}
