// The front page: files in, a queue, results to compare, to touch up and to save.
import '../site';
import { announce, count, find, findAll, page as shown, t, tell } from '../page';
import { showLeft } from '../front/allowance';
import { capable, loaded } from '../front/device';
import { List, type Action } from '../front/list';
import { cleaned, finished, stateOf, type Job, type Page } from '../front/model';
import { Queue } from '../front/queue';
import { bytes } from '../front/picture';
import { copy, download, print, saved, zip, type Format } from '../front/save';
import type { Options } from '../front/send';
import { onForgotten, Store } from '../front/store';
import type { TouchUp } from '../front/touch';
import { Strip } from '../front/thumbnails';
import { removedFrom } from '../front/tint';
import { Viewer } from '../front/viewer';

const form = find<HTMLFormElement>('#options');
const result = find('#result');
const asItCame = find<HTMLInputElement>('#as-it-came');
const tint = find<HTMLInputElement>('#tint');
const viewer = new Viewer();
const strip = new Strip((job, page) => view(job, page));
const list = new List({
  act: (action, job) => actions[action](job),
  moved: (job, to) => queue.move(job, to),
  chosen: (job, numbers) => queue.choose(job, numbers),
  outdated: (job) => queue.outdated(job),
});
let viewed: { job: Job; page: Page } | null = null;
let urls: string[] = []; // of what is compared
let painting: { job: Job; page: Page; touchUp: TouchUp } | null = null;
let painted = Promise.resolve(); // fulfilled when what was painted last is part of its page

// --- The queue

const store = new Store();
const queue = new Queue(store, {
  changed: (job) => {
    list.show(job);
    showCount();
    showAgain();
    if (viewed?.job === job) showPager();
  },
  announced: (job) => list.announce(job),
  finished: (job, page) => {
    thumb(job);
    if (onDevice()) showPlace();
    if (viewed?.page === page) view(job, page);
    if (viewed) return;
    view(job, page);
    result.scrollIntoView({ block: 'nearest' });
  },
  source: (job) => thumb(job),
  halted: (job) => list.reveal(job),
}, options, onDevice);

const actions: Record<Action, (job: Job) => void> = {
  show: (job) => {
    view(job, viewed?.job === job ? viewed.page : cleaned(job)[0]!);
    result.scrollIntoView({ block: 'nearest' });
  },
  download: (job) => void save(() => saved(job, format(), keepUnwritten())),
  rest: (job) => void queue.rest(job),
  again: (job) => queue.again(job),
  paint: (job) => {
    view(job, cleaned(job)[0]!);
    find('#touch-up').click();
  },
  otherLook: (job) => {
    find<HTMLInputElement>('[name=preserveColor]:not(:checked)', form).click();
    queue.again(job);
  },
  retry: (job) => queue.retry(job),
  now: () => queue.now(),
  cancel: (job) => {
    queue.cancel(job);
    if (!queue.jobs.includes(job)) forget(job);
  },
  remove: (job) => {
    const at = queue.jobs.indexOf(job);
    queue.remove(job);
    forget(job);
    offerUndo(job, at);
  },
};

/** Shows a file's first page beside its name: cleaned, once it is. */
function thumb(job: Job): void {
  const first = cleaned(job)[0] ?? job.pages[0];
  const picture = first?.result ? finished(first.result) : first?.source;
  if (picture) list.thumb(job, picture);
}

/** Lets the last file that was removed come back. */
function offerUndo(job: Job, at: number): void {
  const line = find('#removed');
  find('span', line).textContent = t('front.js.removed', { name: job.name });
  line.hidden = false;
  find('button', line).onclick = () => {
    line.hidden = true;
    queue.putBack(job, at);
    list.add(job, at);
    thumb(job);
    showCount();
    list.focus(job);
  };
}

function forget(job: Job): void {
  list.remove(job);
  if (viewed?.job === job) {
    const next = finishedJobs()[0];
    if (next) view(next, cleaned(next)[0]!);
    else viewNothing();
  }
  showCount();
}

function showCount(): void {
  const done = queue.jobs.filter((job) => stateOf(job) === 'done').length;
  find('#queue').hidden = queue.jobs.length === 0;
  document.body.classList.toggle('filled', queue.jobs.length > 0);
  find('#count').textContent = count('front.js.count', queue.jobs.length, { done }) + timeLeft();
  find('.all').hidden = queue.jobs.length < 2;
  for (const id of ['#all-zip', '#all-pdf']) find<HTMLButtonElement>(id).disabled = finishedJobs().length === 0;
}

function timeLeft(): string {
  const minutes = queue.minutesLeft;
  if (!minutes) return '';
  return minutes < 1 ? t('front.js.soon') : count('front.js.timeLeft', Math.ceil(minutes));
}

/** Offers to clean anew what was cleaned with other options. */
function showAgain(): void {
  find('#again').hidden = !queue.jobs.some((job) => queue.outdated(job));
}

find('#again button').addEventListener('click', () => {
  for (const job of queue.jobs) if (queue.outdated(job)) queue.again(job);
});

async function add(files: Iterable<File>): Promise<void> {
  const jobs = Array.from(files, (file) => queue.add(file));
  if (!jobs.length) return;
  for (const job of jobs) list.add(job);
  showCount();
  announce(count('front.js.added', jobs.length));
  for (const job of jobs) await queue.examine(job, jobs.length === 1); // who adds many files wants them whole
}

// --- Options: what is sent, and how results are saved

function options(): Options {
  const data = new FormData(form);
  const chosen: Options = {};
  // Switches with this attribute are options under the names that the service has for them.
  for (const { name } of findAll<HTMLInputElement>('[data-option]', form)) chosen[name] = String(data.get(name) ?? false);
  const inks = data.getAll('ink');
  if (inks.length < findAll('[name=ink]', form).length) chosen.remove = inks.join(',');
  if (format() === 'png' || format() === 'jpeg') chosen.output_format = format();
  return chosen;
}

/** Whether pages are cleaned in this browser: as people choose, where there is a choice. */
function onDevice(): boolean {
  return shown.engine !== undefined && !form.querySelector('[name=where][value=server]:checked');
}

const format = (): Format => find<HTMLSelectElement>('[name=format]', form).value as Format;
const keepUnwritten = (): boolean => find<HTMLInputElement>('[name=keepUnwritten]', form).checked;
const inputs = (): (HTMLInputElement | HTMLSelectElement)[] => findAll<HTMLInputElement | HTMLSelectElement>('input, select', form);

/** Names a switch among those of its form. */
const named = (input: HTMLInputElement | HTMLSelectElement): string =>
  input instanceof HTMLInputElement ? `${input.name}=${input.value}` : input.name;

/** Says what cleaning on the device means, and what is left of what the service gives. */
function showPlace(): void {
  const here = onDevice();
  for (const line of findAll('#private')) {
    line.hidden = !here;
    find('span', line).textContent = loaded() ? t('front.js.engineThere') : t('front.js.engineSize', { size: bytes(isSecureContext ? shown.engine!.packed : shown.engine!.bytes) });
  }
  if (here) find('#left').hidden = true;
  else void showLeft();
}

form.addEventListener('change', (event) => {
  const ink = findAll<HTMLInputElement>('[name=ink]', form);
  if (!ink.some(({ checked }) => checked)) { // no ink at all means all of them to the service
    (event.target as HTMLInputElement).checked = true;
    tell(t('front.js.noInk'));
  }
  const chosen = inputs().map((input) => [named(input), input instanceof HTMLInputElement ? input.checked : input.value]);
  localStorage.setItem('options', JSON.stringify(Object.fromEntries(chosen)));
  for (const job of queue.jobs) list.show(job);
  showAgain();
  showPlace();
});

function restoreOptions(): void {
  const kept: Record<string, boolean | string> = JSON.parse(localStorage.getItem('options') ?? '{}');
  for (const input of inputs()) {
    const value = kept[named(input)];
    if (value === undefined) continue;
    if (input instanceof HTMLInputElement) input.checked = value === true;
    else input.value = String(value);
  }
  if (!capable()) for (const server of findAll<HTMLInputElement>('[name=where][value=server]', form)) server.checked = true;
}

// --- The result

function view(job: Job, page: Page): void {
  void finishTouchUp();
  viewed = { job, page };
  for (const url of urls) URL.revokeObjectURL(url);
  urls = [before(page), finished(page.result!)].map((blob) => URL.createObjectURL(blob));
  viewer.show(urls[0]!, urls[1]!);
  find('#came').hidden = !page.result!.before;
  void showTint();
  find('#result-title').textContent = job.name;
  find('#actions').hidden = false;
  find<HTMLButtonElement>('#touch-up').disabled = page.result!.image.size === 0;
  list.mark(job);
  showPager();
}

/** A page before, as its result lies or, where people want to see that, as it came. */
const before = ({ source, came, result }: Page): Blob => (asItCame.checked ? undefined : result!.before) ?? came ?? source!;

asItCame.addEventListener('change', () => {
  URL.revokeObjectURL(urls[0]!);
  urls[0] = URL.createObjectURL(before(viewed!.page)); // without a page there is no switch
  viewer.replaceBefore(urls[0]);
  void showTint();
});
tint.addEventListener('change', () => void showTint());

/** Tints what was removed on the page before, where people want that and it lies as the result does. */
async function showTint(): Promise<void> {
  const page = viewed?.page;
  const result = page?.result;
  find('#tinted').hidden = !result?.handwriting.size;
  const wanted = result && tint.checked && !(result.before && asItCame.checked);
  const removed = wanted ? await removedFrom(result) : null;
  if (viewed?.page === page && page?.result === result) viewer.tint(removed);
}

function viewNothing(): void {
  void finishTouchUp();
  viewed = null;
  viewer.show(shown.assets['before.webp']!, shown.assets['after.webp']!);
  find('#result-title').textContent = t('front.js.example');
  find('#actions').hidden = true;
  find('#came').hidden = true;
  find('#pager').hidden = true;
  strip.show(null);
  void showTint();
  list.mark(null);
}

/** The finished pages of the file that is compared, to turn them over. */
function showPager(): void {
  if (!viewed) return;
  const { job, page } = viewed;
  const done = cleaned(job);
  const at = done.indexOf(page);
  find('#pager').hidden = job.pages.length < 2;
  find('#page-number').textContent = `${page.n} / ${job.pages.length}`;
  find<HTMLButtonElement>('#page-before').disabled = at <= 0;
  find<HTMLButtonElement>('#page-after').disabled = at >= done.length - 1;
  strip.show(job, page);
}

function turn(by: number): void {
  if (!viewed) return;
  const done = cleaned(viewed.job);
  const next = done[done.indexOf(viewed.page) + by];
  if (next) view(viewed.job, next);
}

/** Makes a file and hands it on: by default it is downloaded. */
async function save(make: () => Promise<{ name: string; blob: Blob } | null>, hand = async (name: string, blob: Blob) => download(name, blob)): Promise<void> {
  announce(t('front.js.packing'));
  document.body.classList.add('packing');
  try {
    await finishTouchUp();
    const made = await make();
    if (made) await hand(made.name, made.blob);
    announce('');
  } catch {
    tell(t('front.js.notSaved'));
  } finally {
    document.body.classList.remove('packing');
  }
}

/** The files of which there is something to save. */
const finishedJobs = (): Job[] => queue.jobs.filter((job) => cleaned(job).length > 0);

find('#page-before').addEventListener('click', () => turn(-1));
find('#page-after').addEventListener('click', () => turn(1));
find('#actions .download').addEventListener('click', () => viewed && actions.download(viewed.job));
find('#copy').addEventListener('click', async () => {
  await finishTouchUp();
  if (viewed) copy(viewed.page).then(() => tell(t('front.js.copied')), () => tell(t('front.js.notCopied')));
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
  const { assemble } = await import('../front/assemble');
  return { name: 'unink.pdf', blob: await assemble(finishedJobs(), keepUnwritten()) };
}));
const sure = find<HTMLDialogElement>('#sure');
find('#all-remove').addEventListener('click', () => sure.showModal());
find('#all-gone').addEventListener('click', () => {
  sure.close();
  for (const job of [...queue.jobs]) {
    queue.remove(job);
    forget(job);
  }
  find('#removed').hidden = true;
  find('#files').focus();
});

/** What the browser can hand to other apps. */
const shareable = (file: File): boolean => navigator.canShare?.({ files: [file] }) ?? false;

find('#share').hidden = !shareable(new File([''], 'page.png', { type: 'image/png' }));
find('#share').addEventListener('click', () => void save(async () => viewed && saved(viewed.job, format(), keepUnwritten()), async (name, blob) => {
  const file = new File([blob], name, { type: blob.type });
  if (shareable(file)) await navigator.share({ files: [file] }).catch(() => {}); // it was not shared after all
  else download(name, blob);
}));

// --- Touch-up

function showTouchUp(open: boolean): void {
  for (const selector of ['#touch', '#touch-tools', '#touch-how']) find(selector).hidden = !open;
  for (const selector of ['#split', '#how', '#touch-up']) find(selector).hidden = open;
  find('.compare').classList.toggle('painting', open);
}

find('#touch-up').addEventListener('click', async () => {
  if (!viewed) return;
  const { job, page } = viewed;
  await painted; // the strokes of a moment ago belong to it
  const { TouchUp } = await import('../front/touch');
  const touchUp = await TouchUp.open(page.result!);
  if (viewed?.page !== page || painting) return touchUp.cancel();
  painting = { job, page, touchUp };
  showTouchUp(true);
  find('#touch').focus();
});
find('#touch-done').addEventListener('click', async () => {
  await finishTouchUp();
  find('#touch-up').focus();
});

/** Ends touching up, and keeps what was painted. */
function finishTouchUp(): Promise<void> {
  if (painting) {
    painted = keep(painting);
    painting = null;
    showTouchUp(false);
  }
  return painted;
}

addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || !painting) return;
  void finishTouchUp();
  find('#touch-up').focus();
});

/** Makes strokes part of their page, which may no longer be the one that is seen, nor have the result that was painted on. */
async function keep({ job, page, touchUp }: NonNullable<typeof painting>): Promise<void> {
  const under = page.result!;
  const strokes = await touchUp.close();
  if (page.result !== under) return;
  page.result = { ...under, touched: undefined, ...strokes };
  thumb(job);
  if (queue.jobs.includes(job)) void store.savePage(job, page);
  if (viewed?.page !== page) return;
  URL.revokeObjectURL(urls[1]!);
  urls[1] = URL.createObjectURL(finished(page.result));
  viewer.replaceAfter(urls[1]);
  showPager();
  void showTint();
}

// --- The ways in: pick, photograph, drop, paste, share

for (const input of findAll<HTMLInputElement>('input[type=file]')) {
  input.addEventListener('change', () => {
    void add([...input.files!]);
    input.value = '';
  });
}
find('#sample').addEventListener('click', async () => {
  const blob = await (await fetch(find<HTMLImageElement>('#result .before').dataset.sample!)).blob();
  void add([new File([blob], `${t('front.js.sample')}.webp`, { type: 'image/webp' })]);
});
addEventListener('paste', (event) => void add([...(event.clipboardData?.files ?? [])]));
for (const kind of ['dragenter', 'dragover', 'dragleave', 'drop'] as const) {
  addEventListener(kind, (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    document.body.classList.toggle('dropping', kind === 'dragenter' || kind === 'dragover');
    if (kind === 'drop') void add([...event.dataTransfer.files]);
  });
}

/** Takes what the service worker has put aside for the page. */
async function takeShared(): Promise<void> {
  if (!new URLSearchParams(location.search).has('shared')) return;
  history.replaceState(null, '', shown.root);
  const cache = await caches.open('shared');
  for (const request of await cache.keys()) {
    const response = (await cache.match(request))!;
    const blob = await response.blob();
    await cache.delete(request);
    void add([new File([blob], decodeURIComponent(response.headers.get('X-Name') ?? 'page'), { type: blob.type })]);
  }
}

/** Says what was done on the page before, which led here. */
function sayFarewell(): void {
  const farewell = sessionStorage.getItem('farewell');
  sessionStorage.removeItem('farewell');
  if (!farewell) return;
  const line = find('#farewell');
  line.textContent = t(farewell === 'deleted' ? 'front.js.deleted' : 'front.js.loggedOut');
  line.hidden = false;
}

onForgotten(() => location.reload());
sayFarewell();
restoreOptions();
showPlace();
const kept = await store.load();
for (const job of kept) {
  list.add(job);
  thumb(job);
}
queue.restore(kept);
showCount();
const first = finishedJobs()[0];
if (first) view(first, cleaned(first)[0]!);
await takeShared();
document.body.classList.add('ready');
