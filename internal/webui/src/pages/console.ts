import '../site';
import { handle, Wrong } from '../form';
import { find, findAll, number, page, t } from '../page';

interface Console { here: boolean; domain: string; there: string }
interface Answer { error?: string; code: number; message: string; data?: { data: { mediaId: string } } }

const { here, domain, there } = page.data as Console;
const largest = 5 * 1024 * 1024; // bytes of a picture
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

/** The request's keys but the picture. */
function chosen(): Record<string, unknown> {
  const keys: Record<string, unknown> = {};
  for (const { id } of findAll('.options :checked', form)) keys[id] = true;
  const format = find<HTMLSelectElement>('#output_format').value;
  if (format) keys.output_format = format;
  const inks = findAll<HTMLInputElement>('[name=ink]:checked').map((ink) => ink.value);
  if (inks.length > 0) keys.remove = inks;
  return keys;
}

/** The same request, as it is typed into a shell. */
function showCurl(): void {
  const more = Object.entries(chosen()).map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`).join('');
  find('#curl').textContent = [
    `printf '{"media_id":"%s"${more}}' "$(base64 -w0 page.jpg)" |`,
    `curl ${location.origin}/cleanup \\`,
    '  -H "Authorization: Bearer $TOKEN" \\',
    '  -H "Content-Type: application/json; charset=UTF-8" \\',
    '  --data-binary @-',
  ].join('\n');
}
form.addEventListener('input', showCurl);
showCurl();

const base64 = (file: File): Promise<string> => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
  reader.onerror = () => reject(new Wrong(t('console.js.unreadable'), 'file'));
  reader.readAsDataURL(file);
});

handle(form, async (value) => {
  const file = find<HTMLInputElement>('#file').files![0]!;
  if (file.size > largest) throw new Wrong(t('console.js.large'), 'file');
  const body = JSON.stringify({ media_id: await base64(file), ...chosen() });
  const began = performance.now();
  let response: Response;
  try {
    response = await fetch('/cleanup', {
      method: 'POST', body, credentials: 'omit',
      headers: { Authorization: `Bearer ${value('token')}`, 'Content-Type': 'application/json; charset=UTF-8' },
    });
  } catch {
    throw new Wrong(t('site.js.lost'));
  }
  const answer = await response.json() as Answer;
  show(response, answer, performance.now() - began);
});

let shown = ''; // address of the picture

function show(response: Response, answer: Answer, took: number): void {
  const header = (name: string) => response.headers.get(name) ?? '–';
  find('#nothing').hidden = true;
  find('#about').hidden = find('#body').hidden = false;
  find('#status-line').textContent = `${response.status}, ${t('console.js.code', { code: answer.code })}`;
  find('#took').textContent = t('console.js.milliseconds', { n: number(Math.round(took)) });
  find('#charged').textContent = header('X-Credits-Charged');
  find('#remaining').textContent = header('X-Credits-Remaining');
  find('#request').textContent = header('X-Request-Id');
  find('#body code').textContent = JSON.stringify(answer, (_, value) => (typeof value === 'string' && value.length > 300 ? `${value.slice(0, 60)}… (${number(value.length)})` : value), 2);
  const picture = find('#picture');
  const result = answer.data?.data.mediaId;
  picture.hidden = !result;
  URL.revokeObjectURL(shown);
  if (result) {
    const bytes = Uint8Array.from(atob(result), (character) => character.charCodeAt(0));
    shown = URL.createObjectURL(new Blob([bytes], { type: result.startsWith('/9j/') ? 'image/jpeg' : result.startsWith('iVBOR') ? 'image/png' : 'image/webp' }));
    find<HTMLImageElement>('img', picture).src = shown;
    find<HTMLAnchorElement>('a', picture).href = shown;
  }
  find('#answer-title').focus();
}
