import '../site';
import { call, Refusal } from '../api';
import { told } from '../form';
import { logInFirst } from '../next';
import { operate } from '../operate';
import { announce, count, find, number, page, t } from '../page';
import { daysBetween, draw, fill, money, piece, shortDay, type Bar } from '../parts';

interface Statistics {
  from: string;
  to: string;
  uses: { day: string; entry: string; outcome: string; uses: number; charged: number }[];
  callers: { caller: string; uses: number; owners: number }[];
  latency: { entry: string; pages: number; p50: number; p90: number; p99: number }[];
  revenue: { day: string; currency: string; purchases: number; cents: number; returned: number }[];
  mail: { waiting: number; dead: number; oldestSeconds: number };
  queue: { running: number; waiting: number; workers: number; places: number };
  credits: { held: number; packages: number };
  usesDropped: number;
}

const lateMail = 1800; // seconds: mails are given up after two hours
const percent = new Intl.NumberFormat(page.language, { style: 'percent', maximumFractionDigits: 1 });
const seconds = new Intl.NumberFormat(page.language, { style: 'unit', unit: 'second', maximumFractionDigits: 2 });
const sum = <T>(list: T[], of: (one: T) => number): number => list.reduce((all, one) => all + of(one), 0);
const right = (text: string): Node => piece('span', 'right', text);

async function load(): Promise<void> {
  find('#failed').textContent = '';
  try {
    show(await call<Statistics>('GET', `/api/operator/statistics?days=${find<HTMLSelectElement>('#days').value}`));
    announce(t('operator.js.loaded'));
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) location.replace(logInFirst('/operator'));
    else find('#failed').textContent = told(error);
  }
}

function show(s: Statistics): void {
  const all = sum(s.uses, ({ uses }) => uses);
  const cleaned = sum(s.uses.filter(({ outcome }) => outcome === 'ok'), ({ uses }) => uses);
  const paid = new Map<string, number>();
  for (const { currency, cents, returned } of s.revenue) paid.set(currency, (paid.get(currency) ?? 0) + cents - returned);
  find('#tiles').replaceChildren(
    tile(t('operator.js.uses'), number(all)),
    tile(t('operator.js.cleaned'), all ? percent.format(cleaned / all) : '–'),
    tile(t('operator.js.charged'), number(sum(s.uses, ({ charged }) => charged))),
    tile(t('operator.js.revenue'), [...paid].map(([currency, cents]) => money(cents, currency)).join(' + ') || '–'),
    tile(t('operator.js.queue'), t('operator.js.queueOf', { running: s.queue.running, workers: s.queue.workers, waiting: s.queue.waiting, places: s.queue.places }), s.queue.waiting >= s.queue.places && s.queue.places > 0),
    tile(t('operator.js.mail'), s.mail.waiting + s.mail.dead === 0 ? t('operator.js.mailNone') : t('operator.js.mailOf', { waiting: number(s.mail.waiting), dead: number(s.mail.dead), minutes: number(Math.ceil(s.mail.oldestSeconds / 60)) }), s.mail.dead > 0 || s.mail.oldestSeconds > lateMail),
    tile(t('operator.js.packages'), number(s.credits.packages)),
    tile(t('operator.js.dropped'), number(s.usesDropped), s.usesDropped > 0),
  );
  showUses(s, all, cleaned);
  showOutcomes(s, all);
  fill(find('#latency'), s.latency.map((one) => [entry(one.entry), ...[one.p50, one.p90, one.p99].map((ms) => right(seconds.format(ms / 1000))), one.pages]));
  fill(find('#callers'), s.callers.map((one) => [caller(one.caller), one.owners || right('–'), one.uses]));
  find('#no-revenue').hidden = s.revenue.length > 0;
  find('#revenue').parentElement!.hidden = s.revenue.length === 0;
  fill(find('#revenue'), s.revenue.toReversed().map((one) => [shortDay(one.day), one.purchases, right(money(one.cents, one.currency)), right(one.returned ? money(one.returned, one.currency) : '–')]));
}

/** One number with its name; a warning is said in words too. */
function tile(name: string, value: string, warn = false): HTMLElement {
  const made = piece('li', warn ? 'card tile warn' : 'card tile', piece('span', 'quiet', name), piece('b', '', value));
  if (warn) made.append(piece('span', 'error', t('operator.js.look')));
  return made;
}

function showUses(s: Statistics, all: number, cleaned: number): void {
  const bars: Bar[] = daysBetween(s.from, s.to).map((day) => {
    const of = (entry: string) => sum(s.uses.filter((use) => use.day === day && use.entry === entry && use.outcome === 'ok'), ({ uses }) => uses);
    const failed = sum(s.uses.filter((use) => use.day === day && use.outcome !== 'ok'), ({ uses }) => uses);
    return { day, parts: [{ className: 'ok', value: of('web') }, { className: 'also', value: of('developer') }, { className: 'bad', value: failed }] };
  });
  draw(find('#uses-chart'), bars, count('operator.js.chart', all, { failed: number(all - cleaned) }));
  fill(find('#uses'), bars.filter(({ parts }) => parts.some(({ value }) => value)).toReversed().map(({ day, parts }) => [shortDay(day), ...parts.map(({ value }) => value)]));
}

function showOutcomes(s: Statistics, all: number): void {
  const outcomes = new Map<string, { entry: string; outcome: string; uses: number }>();
  for (const use of s.uses) {
    const key = `${use.entry} ${use.outcome}`;
    outcomes.set(key, { ...use, uses: use.uses + (outcomes.get(key)?.uses ?? 0) });
  }
  const most = [...outcomes.values()].sort((a, b) => b.uses - a.uses);
  fill(find('#outcomes'), most.map((one) => [entry(one.entry), one.outcome === 'ok' ? t('operator.js.ok') : piece('code', '', one.outcome), one.uses, right(percent.format(one.uses / all))]));
}

function entry(name: string): string {
  return name === 'web' ? t('operator.js.web') : t('operator.js.developer');
}

function caller(name: string): string {
  switch (name) {
    case 'user': return t('operator.js.user');
    case 'anonymous': return t('operator.js.anonymous');
    case 'guest': return t('operator.js.guest');
    case 'pdf-guest': return t('operator.js.pdfGuest');
    case 'customer': return t('operator.js.customer');
  }
  return name;
}

find('#days').addEventListener('change', load);
load();
operate();
