import '../site';
import { refusal, type Refusal } from '../api';
import { handle, told, Wrong } from '../form';
import { announce, count, find, findAll, number, page, t } from '../page';

interface Console { here: boolean; domain: string; there: string }
interface Answer<Data = unknown> { error?: string; code: number; message: string; data?: Data }
interface Job { id: string; state: State; pages: { total: number; waiting: number; charged: number }; file?: string }
type State = 'waiting' | 'working' | 'done' | 'partial' | 'failed';

const { here, domain, there } = page.data as Console;
const largest = 5 * 1024 * 1024; // bytes of a picture
const largestPDF = 32 * 1024 * 1024;
const patience = 10 * 60 * 1000; // milliseconds for an answer
const longest = 24 * 60 * 60 * 1000; // milliseconds for a PDF, of which the API says so
const bearer = '-H "Authorization: Bearer $TOKEN"';
const form = find<HTMLFormElement>('#form');

find('#where').hidden = here;
find('#console').hidden = !here;
find('#domain').textContent = `.${domain}`;

// The token is for the customer's own domain, and goes to no other from there.
handle(find<HTMLFormElement>('#where'), async (value) => {
  const slug = value('slug').toLowerCase().replace(`.${domain}`, '');
  if (!/^[a-z0-9-]+$/.test(slug)) throw new Wrong(t('console.js.slug'), 'slug');
  location.assign(there.replace('{slug}', slug));
});

const isPDF = (file?: File): boolean => file !== undefined && (file.type === 'application/pdf' || /\.pdf$/i.test(file.name));
const picked = (): File | undefined => find<HTMLInputElement>('#file').files![0];

/** The request's keys but the file. */
function chosen(): Record<string, unknown> {
  const keys: Record<string, unknown> = {};
  for (const box of findAll('.options :checked', form)) if (!box.closest('[hidden]')) keys[box.id] = true;
  const format = find<HTMLSelectElement>('#output_format').value;
  if (format) keys.output_format = format;
  const inks = findAll<HTMLInputElement>('[name=ink]:checked').map((ink) => ink.value);
  if (inks.length > 0) keys.remove = inks;
  const pages = find<HTMLInputElement>('#pages').value.trim();
  if (pages && isPDF(picked())) keys.pages = pages;
  return keys;
}

/** Shows the options that there are for the file, and the request as it is typed into a shell. */
function suit(): void {
  const kind = isPDF(picked()) ? 'pdf' : 'picture';
  for (const part of findAll('[data-for]', form)) {
    part.hidden = part.dataset.for !== kind;
    if (part instanceof HTMLOptionElement) part.disabled = part.hidden; // where lists show what is hidden
  }
  const format = find<HTMLSelectElement>('#output_format');
  if (format.selectedOptions[0]!.hidden) format.value = '';
  find('#curl').textContent = kind === 'pdf' ? curlOfPDF() : curlOfPicture();
}
form.addEventListener('input', suit);
suit();

function curlOfPicture(): string {
  const more = Object.entries(chosen()).map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`).join('');
  return [
    `printf '{"media_id":"%s"${more}}' "$(base64 -w0 page.jpg)" |`,
    `curl ${location.origin}/cleanup \\`,
    `  ${bearer} \\`,
    '  -H "Content-Type: application/json; charset=UTF-8" \\',
    '  --data-binary @-',
  ].join('\n');
}

function curlOfPDF(): string {
  const fields = Object.entries(chosen()).map(([key, value]) => ` -F '${key}=${String(value).replaceAll("'", "'\\''")}'`).join('');
  const url = `${location.origin}/pdf`;
  return [
    `curl -F pdf=@exam.pdf${fields} \\`, `  ${bearer} \\`, `  ${url}`, '',
    'ID=pdf_…',
    `curl ${bearer} \\`, `  ${url}/$ID`, '',
    `curl ${bearer} \\`, `  -o clean.pdf ${url}/$ID/file`, '',
    `curl -X DELETE ${bearer} \\`, `  ${url}/$ID`,
  ].join('\n');
}

const base64 = (file: File): Promise<string> => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
  reader.onerror = () => reject(new Wrong(t('console.js.unreadable'), 'file'));
  reader.readAsDataURL(file);
});

async function formOf(file: File): Promise<FormData> {
  const data = new FormData();
  const bytes = await file.arrayBuffer().catch(() => { throw new Wrong(t('console.js.unreadable'), 'file'); });
  data.append('pdf', new Blob([bytes]), file.name);
  for (const [key, value] of Object.entries(chosen())) data.append(key, String(value));
  return data;
}

handle(form, async (value) => {
  const file = picked()!;
  const token = value('token');
  if (isPDF(file)) {
    if (file.size > largestPDF) throw new Wrong(t('console.js.largePDF'), 'file');
    const body = await formOf(file);
    const ask = begin(token);
    const { answer } = await ask<Job>('/pdf', { method: 'POST', body });
    if (answer?.data) follow(ask, token, answer.data, `${file.name.replace(/\.pdf$/i, '')}.clean.pdf`);
  } else {
    if (file.size > largest) throw new Wrong(t('console.js.large'), 'file');
    const body = JSON.stringify({ media_id: await base64(file), ...chosen() });
    const { answer } = await begin(token)<{ data: { mediaId: string } }>('/cleanup', {
      method: 'POST', body, headers: { 'Content-Type': 'application/json; charset=UTF-8' },
    });
    if (answer?.data) showPicture(answer.data.data.mediaId);
  }
  find('#answer-title').focus();
});

interface Got<Data> { response: Response; answer: Answer<Data> | null; file: Blob }

/** Calls the API and shows its answer, unless that is a file. */
type Ask = <Data>(path: string, init?: RequestInit) => Promise<Got<Data>>;

let stop = new AbortController(); // of what goes on
let shown = ''; // address of the result

addEventListener('pagehide', () => stop.abort(new Wrong(t('site.js.lost'))));

/** Ends what goes on, and begins anew with a token. */
function begin(token: string): Ask {
  stop.abort();
  stop = new AbortController();
  const { signal } = stop;
  const end = AbortSignal.any([signal, AbortSignal.timeout(longest)]);
  URL.revokeObjectURL(shown);
  for (const part of ['#picture', '#pdf', '#save']) find(part).hidden = true;
  find('#progress').textContent = find('#failed').textContent = '';
  return async (path, init = {}) => {
    const began = performance.now();
    let response: Response, file: Blob;
    try {
      response = await fetch(path, {
        ...init, credentials: 'omit', signal: AbortSignal.any([end, AbortSignal.timeout(patience)]),
        headers: { ...init.headers, Authorization: `Bearer ${token}` },
      });
      file = await response.blob();
    } catch (error) {
      signal.throwIfAborted();
      throw new Wrong((error as Error).name === 'TimeoutError' ? t('site.js.tooSlow') : t('site.js.lost'));
    }
    const json = file.type.startsWith('application/json');
    if (!json && !response.ok) throw new Wrong(t('site.js.odd', { status: response.status }));
    const answer = json ? JSON.parse(await file.text()) : null;
    signal.throwIfAborted();
    if (json || response.status === 204) show(response, answer, performance.now() - began);
    return { response, answer, file };
  };
}

/** Shows how far a PDF is until it has ended, and then its file; offers to delete it. */
async function follow(ask: Ask, token: string, job: Job, name: string): Promise<void> {
  const path = `/pdf/${job.id}`;
  const save = find<HTMLAnchorElement>('#save');
  const remove = find<HTMLButtonElement>('#delete');
  find('#pdf').hidden = remove.hidden = false;
  remove.onclick = () => forget(token, path);
  showProgress(job);
  await attempt(async () => {
    const made = (await settled(ask, path)).answer?.data?.file;
    if (!made) return;
    const { file } = await settled(ask, made);
    save.href = shown = URL.createObjectURL(file);
    save.download = name;
    save.hidden = false;
  });
}

/** Does something, and tells what fails unless something else has begun meanwhile. */
async function attempt(what: () => Promise<void>): Promise<void> {
  const mine = stop;
  try {
    await what();
  } catch (error) {
    if (mine === stop) find('#failed').textContent = told(error);
  }
}

const refused = ({ response, answer }: Got<unknown>): Refusal => refusal(response.status, answer, (name) => response.headers.get(name));

/** Asks for a PDF, or for its file, as often as the API says, until there is nothing to wait for. */
async function settled(ask: Ask, path: string): Promise<Got<Job>> {
  for (;;) {
    const got = await ask<Job>(path);
    if (got.answer?.data) showProgress(got.answer.data);
    const wait = Number(got.response.headers.get('Retry-After'));
    if (!wait && !got.response.ok) throw refused(got);
    if (!wait) return got;
    await new Promise((resolve) => { setTimeout(resolve, 1000 * Math.min(wait, 60)); });
  }
}

/** Deletes a PDF, whether it has ended or not. */
async function forget(token: string, path: string): Promise<void> {
  const ask = begin(token);
  find('#answer-title').focus();
  await attempt(async () => {
    find('#pdf').hidden = false;
    const got = await ask(path, { method: 'DELETE' });
    if (!got.response.ok) throw refused(got);
    find('#delete').hidden = true;
    showLine(t('console.js.deleted'));
  });
}

function showProgress({ state, pages: { total, waiting, charged } }: Job): void {
  const line = [named(state)];
  if (total > 0) line.push(count('console.js.pages', total, { done: number(total - waiting) }), count('console.js.charged', charged));
  showLine(line.join(' · '));
}

function named(state: State): string {
  switch (state) {
    case 'waiting': return t('console.js.waiting');
    case 'working': return t('console.js.working');
    case 'done': return t('console.js.done');
    case 'partial': return t('console.js.partial');
    case 'failed': return t('console.js.failed');
  }
}

function showLine(line: string): void {
  const progress = find('#progress');
  if (progress.textContent === line) return; // it was heard
  progress.textContent = line;
  announce(line);
}

function show(response: Response, answer: Answer | null, took: number): void {
  const header = (name: string) => response.headers.get(name) ?? '–';
  find('#nothing').hidden = true;
  find('#about').hidden = false;
  find('#body').hidden = !answer;
  find('#status-line').textContent = answer ? `${response.status}, ${t('console.js.code', { code: answer.code })}` : String(response.status);
  find('#took').textContent = t('console.js.milliseconds', { n: number(Math.round(took)) });
  find('#charged').textContent = header('X-Credits-Charged');
  find('#remaining').textContent = header('X-Credits-Remaining');
  find('#request').textContent = header('X-Request-Id');
  find('#body code').textContent = JSON.stringify(answer, (_, value) => (typeof value === 'string' && value.length > 300 ? `${value.slice(0, 60)}… (${number(value.length)})` : value), 2);
}

function showPicture(result: string): void {
  const picture = find('#picture');
  const bytes = Uint8Array.from(atob(result), (character) => character.charCodeAt(0));
  shown = URL.createObjectURL(new Blob([bytes], { type: result.startsWith('/9j/') ? 'image/jpeg' : result.startsWith('iVBOR') ? 'image/png' : 'image/webp' }));
  find<HTMLImageElement>('img', picture).src = shown;
  find<HTMLAnchorElement>('a', picture).href = shown;
  picture.hidden = false;
}
