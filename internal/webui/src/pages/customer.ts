import { whoAmI } from '../site';
import { call, Refusal } from '../api';
import { handle, told } from '../form';
import { logInFirst } from '../next';
import { announce, count, find, number, t } from '../page';
import { date, daysBetween, draw, fill, isNever, moment, piece, shortDay } from '../parts';

interface Details {
  slug: string;
  appCode: string;
  url: string;
  credits: number;
  packages: { plan: string; credits: number; remaining: number; expires: string; expired: boolean }[];
  tokens: { created: string; ends?: string }[];
  days: { day: string; uses: number; cleaned: number; charged: number }[];
  uses: { at: string; outcome: string; charged: number }[];
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
    plans.find((plan) => plan.id === one.plan)?.name ?? one.plan, one.remaining, one.credits,
    one.expired ? piece('span', 'quiet', t('customer.js.ended')) : isNever(one.expires) ? t('customer.js.never') : date(one.expires),
  ]));
  showTokens(details);
  showUses(details);
}

function showTokens({ tokens }: Details): void {
  find('#tokens').replaceChildren(...tokens.map((token) => piece('li', '',
    piece('span', '', t('customer.js.madeAt', { time: moment(token.created) })),
    piece('span', 'mark', token.ends ? t('customer.js.ends', { time: moment(token.ends) }) : t('customer.js.current')))));
}

function showUses({ days, uses }: Details): void {
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
  fill(find('#uses'), uses.map((use) => [moment(use.at), use.outcome === 'ok' ? t('customer.js.ok') : t('customer.js.code', { code: use.outcome }), use.charged]));
  find('#no-uses').hidden = uses.length > 0;
  find('#uses').parentElement!.hidden = uses.length === 0;
}

handle(find<HTMLFormElement>('#rotate'), async (value) => {
  const made = await call<{ token: string; othersEnd: string; graceHours: number }>('POST', `/api/customers/${slug}/rotate`, { graceHours: Number(value('grace')) });
  find<HTMLTextAreaElement>('#new-token').value = made.token;
  find('#others').textContent = made.graceHours ? t('customer.js.othersEnd', { time: moment(made.othersEnd) }) : t('customer.js.othersEnded');
  find('#made').hidden = false;
  find('#made h3').focus();
  showTokens(await call<Details>('GET', `/api/customers/${slug}`));
});

find('#copy').addEventListener('click', async () => {
  const token = find<HTMLTextAreaElement>('#new-token');
  token.select();
  try {
    await navigator.clipboard.writeText(token.value);
    announce(t('customer.js.copied'));
    find('#copy').textContent = t('customer.js.copied');
  } catch {
    token.focus(); // selected, to be copied by hand
  }
});

load().catch((error) => {
  if (error instanceof Refusal && error.status === 401) location.replace(logInFirst('/developers/account'));
  else find('#failed').textContent = told(error);
});
