import { whoAmI } from '../site';
import { call, Refusal } from '../api';
import { handle, told } from '../form';
import { logInFirst } from '../next';
import { announce, count, find, findAll, number, t, tell } from '../page';
import { date, daysBetween, draw, fill, isNever, moment, piece, planName, type Refusals, shortDay, showRefusals } from '../parts';

interface Use { at: string; outcome: string; charged: number }
interface Uses { uses: Use[]; older?: string }
interface Details extends Uses {
  refusals: Refusals[];
  slug: string;
  appCode: string;
  url: string;
  credits: number;
  packages: { plan: string; credits: number; remaining: number; expires: string; expired: boolean }[];
  tokens: { created: string; ends?: string }[];
  days: { day: string; uses: number; cleaned: number; charged: number }[];
}

let slug = '';

async function load(): Promise<void> {
  const { customers } = await call<{ customers: { slug: string }[] }>('GET', '/api/customers');
  const first = customers[0];
  find('#none').hidden = Boolean(first);
  find('#customer').hidden = !first;
  if (!first) {
    find('#whose').textContent = (await whoAmI())?.email ?? '';
    return;
  }
  slug = first.slug;
  const [details, { plans }] = await Promise.all([
    call<Details>('GET', `/api/customers/${slug}`), call<{ plans: { id: string; name: string }[] }>('GET', '/api/catalogue'),
  ]);
  find('#url').textContent = details.url;
  find('#app-code').textContent = details.appCode;
  find<HTMLAnchorElement>('#console').href = `${details.url}/developers/console`;
  find('#credits').textContent = number(details.credits);
  fill(find('#packages'), details.packages.map((one) => [
    planName(one.plan, plans), one.remaining, one.credits,
    one.expired ? piece('span', 'quiet', t('customer.js.ended')) : isNever(one.expires) ? t('customer.js.never') : date(one.expires),
  ]));
  showTokens(details);
  showDays(details);
  showUses(details);
  showRefusals(details.refusals, answer);
}

function showTokens({ tokens }: Details): void {
  find('#tokens').replaceChildren(...tokens.map((token) => piece('li', '',
    piece('span', '', t('customer.js.madeAt', { time: moment(token.created) })),
    piece('span', 'mark', token.ends ? t('customer.js.ends', { time: moment(token.ends) }) : t('customer.js.current')))));
}

function showDays({ days }: Details): void {
  const today = new Date().toISOString().slice(0, 10);
  const from = new Date(Date.now() - 29 * 86_400_000).toISOString().slice(0, 10);
  const known = new Map(days.map((day) => [day.day, day]));
  const bars = daysBetween(from, today).map((day) => {
    const { uses: all = 0, cleaned = 0 } = known.get(day) ?? {};
    return { day, parts: [{ className: 'ok', value: cleaned }, { className: 'bad', value: all - cleaned }] };
  });
  const all = days.reduce((sum, day) => sum + day.uses, 0);
  draw(find('#chart'), bars, count('customer.js.chart', all, { failed: number(all - days.reduce((sum, day) => sum + day.cleaned, 0)) }));
  fill(find('#days'), days.map((day) => [shortDay(day.day), day.cleaned, day.uses - day.cleaned, day.charged]));
}

const answer = (outcome: string): string => outcome === 'ok' ? t('customer.js.ok') : t('customer.js.code', { code: outcome });

let known: Use[] = []; // the newest first

function showUses({ uses, older }: Uses): void {
  known = known.concat(uses);
  fill(find('#uses'), known.map((use) => [moment(use.at), answer(use.outcome), use.charged]));
  find('#no-uses').hidden = known.length > 0;
  find('#uses').parentElement!.hidden = known.length === 0;
  const more = find('#more');
  more.hidden = !older;
  more.onclick = () => showOlder(older!).catch(fail);
}

async function showOlder(older: string): Promise<void> {
  showUses(await call<Uses>('GET', `/api/customers/${slug}/uses?after=${older}`));
  announce(count('customer.js.usesShown', known.length));
  if (find('#more').hidden) find('#uses').parentElement!.focus();
}

/** Shows a token, once, and the call that tries it. */
function showMade({ token, url }: { token: string; url: string }, others: string): void {
  find<HTMLTextAreaElement>('#new-token').value = token;
  const call = find('#call');
  call.textContent = (call.dataset.call ??= call.textContent!).replace('YOUR-TOKEN', token).replace('YOUR-DOMAIN', url);
  find('#others').textContent = others;
  find('#made').hidden = false;
  find('#made h3').focus();
}

for (const form of findAll<HTMLFormElement>('#begin')) { // where calls are free
  handle(form, async () => {
    const made = await call<{ token: string; url: string }>('POST', '/api/customers');
    await load();
    showMade(made, '');
  });
}

handle(find<HTMLFormElement>('#rotate'), async (value) => {
  const made = await call<{ token: string; url: string; othersEnd: string; graceHours: number }>('POST', `/api/customers/${slug}/rotate`, { graceHours: Number(value('grace')) });
  showMade(made, made.graceHours ? t('customer.js.othersEnd', { time: moment(made.othersEnd) }) : t('customer.js.othersEnded'));
  showTokens(await call<Details>('GET', `/api/customers/${slug}`));
});

find('#copy').addEventListener('click', async () => {
  const token = find<HTMLTextAreaElement>('#new-token');
  token.select();
  try {
    await navigator.clipboard.writeText(token.value);
    tell(t('customer.js.copied'));
    find('#copy').textContent = t('customer.js.copied');
  } catch {
    token.focus(); // selected, to be copied by hand
  }
});

function fail(error: unknown): void {
  if (error instanceof Refusal && error.status === 401) location.replace(logInFirst('/developers/account'));
  else find('#failed').textContent = told(error);
}

load().catch(fail);
