// The front page: files in, a queue, results to compare, to touch up and to save.
import '../site';
import { announce, count, find, findAll, page as shown, t } from '../page';
import { List, type Action } from '../front/list';
import { finished, stateOf, type Job, type Page } from '../front/model';
import { Queue } from '../front/queue';
import { copy, download, print, saved, zip, type Format } from '../front/save';
import type { Options } from '../front/send';
import { Store } from '../front/store';
import type { TouchUp } from '../front/touch';
import { Viewer } from '../front/viewer';

const form = find<HTMLFormElement>('#options');
const notice = find('#notice');
const result = find('#result');
const viewer = new Viewer();
const list = new List((action, job) => actions[action](job));
let viewed: { job: Job; page: Page } | null = null;
let urls: string[] = []; // of what is compared
let touchUp: TouchUp | null = null;

// --- The queue

const store = new Store();
const queue = new Queue(store, {
  changed: (job) => {
    list.show(job);
    showCount();
    if (viewed?.job === job) showPager();
  },
  announced: (job) => list.announce(job),
  finished: (job, page) => {
    if (viewed) return;
    view(job, page);
    result.scrollIntoView({ block: 'nearest' });
  },
  source: (job, page) => {
    if (page.n === 1) list.thumb(job, page.source!);
  },
  halted: (message) => {
    find('p', notice).textContent = message;
    notice.hidden = false;
  },
}, options);

const actions: Record<Action, (job: Job) => void> = {
  show: (job) => {
    view(job, viewed?.job === job ? viewed.page : job.pages.find((page) => page.result)!);
    result.scrollIntoView({ block: 'nearest' });
  },
  download: (job) => void save(() => saved(job, format(), keepUnwritten())),
  shrink: (job) => void queue.shrink(job),
  retry: (job) => { queue.retry(job); notice.hidden = true; },
  now: () => queue.now(),
  cancel: (job) => {
    queue.cancel(job);
    if (!queue.jobs.includes(job)) forget(job);
  },
  remove: (job) => {
    queue.remove(job);
    forget(job);
  },
};

function forget(job: Job): void {
  list.remove(job);
  if (viewed?.job === job) {
    const next = queue.jobs.find((other) => stateOf(other) === 'done');
    if (next) view(next, next.pages[0]!);
    else viewNothing();
  }
  showCount();
}

function showCount(): void {
  const done = queue.jobs.filter((job) => stateOf(job) === 'done').length;
  find('#queue').hidden = queue.jobs.length === 0;
  document.body.classList.toggle('filled', queue.jobs.length > 0);
  find('#count').textContent = count('front.js.count', queue.jobs.length, { done });
  find('.all').hidden = queue.jobs.length < 2;
  for (const id of ['#all-zip', '#all-pdf']) find<HTMLButtonElement>(id).disabled = done === 0;
}

async function add(files: Iterable<File>): Promise<void> {
  const jobs = Array.from(files, (file) => queue.add(file));
  if (!jobs.length) return;
  for (const job of jobs) list.add(job);
  showCount();
  announce(count('front.js.added', jobs.length));
  for (const job of jobs) await queue.examine(job);
}

// --- Options: what is sent, and how results are saved

function options(): Options {
  const data = new FormData(form);
  const chosen: Options = {};
  for (const name of ['preserveColor', 'keepOrientation', 'keepDistortion']) chosen[name] = String(data.get(name) ?? false);
  const inks = data.getAll('ink');
  if (inks.length < findAll('[name=ink]', form).length) chosen.remove = inks.join(',');
  if (format() === 'png' || format() === 'jpeg') chosen.output_format = format();
  return chosen;
}

const format = (): Format => find<HTMLSelectElement>('[name=format]', form).value as Format;
const keepUnwritten = (): boolean => find<HTMLInputElement>('[name=keepUnwritten]', form).checked;
const inputs = (): (HTMLInputElement | HTMLSelectElement)[] => findAll<HTMLInputElement | HTMLSelectElement>('input, select', form);

/** Names a switch among those of its form. */
const named = (input: HTMLInputElement | HTMLSelectElement): string =>
  input instanceof HTMLInputElement ? `${input.name}=${input.value}` : input.name;

form.addEventListener('change', (event) => {
  const ink = findAll<HTMLInputElement>('[name=ink]', form);
  if (!ink.some(({ checked }) => checked)) { // no ink at all means all of them to the service
    (event.target as HTMLInputElement).checked = true;
    announce(t('front.js.noInk'));
  }
  const chosen = inputs().map((input) => [named(input), input instanceof HTMLInputElement ? input.checked : input.value]);
  localStorage.setItem('options', JSON.stringify(Object.fromEntries(chosen)));
});

function restoreOptions(): void {
  const kept: Record<string, boolean | string> = JSON.parse(localStorage.getItem('options') ?? '{}');
  for (const input of inputs()) {
    const value = kept[named(input)];
    if (value === undefined) continue;
    if (input instanceof HTMLInputElement) input.checked = value === true;
    else input.value = String(value);
  }
}

// --- The result

function view(job: Job, page: Page): void {
  leaveTouchUp();
  viewed = { job, page };
  for (const url of urls) URL.revokeObjectURL(url);
  urls = [page.source!, finished(page.result!)].map((blob) => URL.createObjectURL(blob));
  const [before, after] = urls as [string, string];
  viewer.show(before, after);
  find('#result-title').textContent = job.name;
  find('#actions').hidden = false;
  find<HTMLButtonElement>('#touch-up').disabled = page.result!.image.size === 0;
  list.mark(job);
  showPager();
}

function viewNothing(): void {
  leaveTouchUp();
  viewed = null;
  viewer.show(shown.assets['before.webp']!, shown.assets['after.webp']!);
  find('#result-title').textContent = t('front.js.example');
  find('#actions').hidden = true;
  find('#pager').hidden = true;
  list.mark(null);
}

/** The finished pages of the file that is compared, to turn them over. */
function showPager(): void {
  if (!viewed) return;
  const { job, page } = viewed;
  const done = job.pages.filter((other) => other.result);
  const at = done.indexOf(page);
  find('#pager').hidden = job.pages.length < 2;
  find('#page-number').textContent = `${page.n} / ${job.pages.length}`;
  find<HTMLButtonElement>('#page-before').disabled = at <= 0;
  find<HTMLButtonElement>('#page-after').disabled = at >= done.length - 1;
  find<HTMLButtonElement>('#actions .download').disabled = stateOf(job) !== 'done';
}

function turn(by: number): void {
  if (!viewed) return;
  const done = viewed.job.pages.filter((other) => other.result);
  const next = done[done.indexOf(viewed.page) + by];
  if (next) view(viewed.job, next);
}

/** Makes a file and saves it. */
async function save(make: () => Promise<{ name: string; blob: Blob }>): Promise<void> {
  announce(t('front.js.packing'));
  document.body.classList.add('packing');
  try {
    await finishTouchUp();
    const { name, blob } = await make();
    download(name, blob);
    announce('');
  } catch (error) {
    announce(t('front.js.notSaved', { why: (error as Error).message }));
  } finally {
    document.body.classList.remove('packing');
  }
}

const finishedJobs = (): Job[] => queue.jobs.filter((job) => stateOf(job) === 'done');

find('#page-before').addEventListener('click', () => turn(-1));
find('#page-after').addEventListener('click', () => turn(1));
find('#actions .download').addEventListener('click', () => viewed && actions.download(viewed.job));
find('#copy').addEventListener('click', async () => {
  await finishTouchUp();
  if (viewed) copy(viewed.page).then(() => announce(t('front.js.copied')), () => announce(t('front.js.notCopied')));
});
find('#print').addEventListener('click', async () => {
  await finishTouchUp();
  if (viewed) await print(viewed.job);
});
find('#all-zip').addEventListener('click', () => void save(async () => {
  const files = [];
  for (const job of finishedJobs()) files.push(await saved(job, format(), keepUnwritten()));
  return { name: 'unink.zip', blob: await zip(files) };
}));
find('#all-pdf').addEventListener('click', () => void save(async () => {
  const { assemble } = await import('../front/pdf');
  return { name: 'unink.pdf', blob: await assemble(finishedJobs(), keepUnwritten()) };
}));
find('#all-remove').addEventListener('click', () => {
  for (const job of [...queue.jobs]) actions.remove(job);
  find('#files').focus();
});

// --- Touch-up

function showTouchUp(open: boolean): void {
  for (const selector of ['#touch', '#touch-tools', '#touch-how']) find(selector).hidden = !open;
  for (const selector of ['#split', '#how', '#touch-up']) find(selector).hidden = open;
  find('.compare').classList.toggle('painting', open);
}

find('#touch-up').addEventListener('click', async () => {
  if (!viewed) return;
  const { page } = viewed;
  const { TouchUp } = await import('../front/touch');
  const opened = await TouchUp.open(page.result!);
  if (viewed?.page !== page || touchUp) return opened.cancel();
  touchUp = opened;
  showTouchUp(true);
  find('#touch').focus();
});
find('#touch-done').addEventListener('click', async () => {
  await finishTouchUp();
  find('#touch-up').focus();
});

/** Keeps what was painted. */
async function finishTouchUp(): Promise<void> {
  if (!touchUp || !viewed) return;
  const { job, page } = viewed;
  const painted = await touchUp.close();
  page.result = { ...page.result!, touched: undefined, ...painted };
  touchUp = null;
  showTouchUp(false);
  void store.savePage(job, page);
  URL.revokeObjectURL(urls[1]!);
  urls[1] = URL.createObjectURL(finished(page.result));
  viewer.replaceAfter(urls[1]);
}

/** Ends touching up when another page is shown. */
function leaveTouchUp(): void {
  void finishTouchUp();
}

// --- The ways in: pick, photograph, drop, paste, share

for (const input of findAll<HTMLInputElement>('input[type=file]')) {
  input.addEventListener('change', () => {
    void add([...input.files!]);
    input.value = '';
  });
}
addEventListener('paste', (event) => void add([...(event.clipboardData?.files ?? [])]));
for (const kind of ['dragenter', 'dragover', 'dragleave', 'drop'] as const) {
  addEventListener(kind, (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    document.body.classList.toggle('dropping', kind === 'dragenter' || kind === 'dragover');
    if (kind === 'drop') void add([...event.dataTransfer.files]);
  });
}
find('button', notice).addEventListener('click', () => {
  notice.hidden = true;
  queue.resume();
});

/** Takes what the service worker has put aside for the page. */
async function takeShared(): Promise<void> {
  if (!new URLSearchParams(location.search).has('shared')) return;
  history.replaceState(null, '', '/');
  const cache = await caches.open('shared');
  for (const request of await cache.keys()) {
    const response = (await cache.match(request))!;
    const blob = await response.blob();
    await cache.delete(request);
    void add([new File([blob], decodeURIComponent(response.headers.get('X-Name') ?? 'page'), { type: blob.type })]);
  }
}

restoreOptions();
const kept = await store.load();
for (const job of kept) {
  list.add(job);
  if (job.pages[0]?.source) list.thumb(job, job.pages[0].source);
}
queue.restore(kept);
showCount();
const first = kept.find((job) => job.pages.some((page) => page.result));
if (first) view(first, first.pages.find((page) => page.result)!);
await takeShared();
document.body.classList.add('ready');
