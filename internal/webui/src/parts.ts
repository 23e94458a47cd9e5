// Parts of pages that show what the service knows: dates, tables, charts.
import { find, number, page } from './page';

const moments = new Intl.DateTimeFormat(page.language, { dateStyle: 'medium', timeStyle: 'short' });
const dates = new Intl.DateTimeFormat(page.language, { dateStyle: 'medium' });
const shortDays = new Intl.DateTimeFormat(page.language, { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** A moment, in the reader's own time zone. */
export const moment = (iso: string): string => moments.format(new Date(iso));

export const date = (iso: string): string => dates.format(new Date(iso));

/** A day of the service, which counts in UTC. */
export const shortDay = (iso: string): string => shortDays.format(new Date(`${iso}T00:00:00Z`));

/** Reports whether something never ends. */
export const isNever = (iso: string): boolean => iso.startsWith('9999');

/** An amount of money, given in hundredths. */
export const money = (cents: number, currency: string): string =>
  new Intl.NumberFormat(page.language, { style: 'currency', currency: currency.toUpperCase() }).format(cents / 100);

/** What a plan, a pack or a gift is called in the page's language; one that an operator made is called as in the catalogue. */
export function planName(id: string, catalogue: { id: string; name: string }[]): string {
  const name = catalogue.find((plan) => plan.id === id)?.name ?? id;
  return page.text[`site.js.plan.${name}`] ?? name;
}

export type Cell = string | number | Node;

/** Replaces a table's rows. Numbers stand at the right. */
export function fill(table: HTMLElement, rows: Cell[][]): void {
  find('tbody', table).replaceChildren(...rows.map((cells) => {
    const row = document.createElement('tr');
    row.append(...cells.map((content) => {
      const cell = document.createElement('td');
      if (typeof content === 'number') cell.className = 'number';
      cell.append(typeof content === 'number' ? number(content) : content);
      return cell;
    }));
    return row;
  }));
}

/** Requests of a minute that were refused alike. */
export interface Refusals { minute: string; outcome: string; requests: number }

/** Shows what was refused, under the uses; nothing where nothing was. */
export function showRefusals(refusals: Refusals[], name: (outcome: string) => string | Node): void {
  find('#refused').hidden = refusals.length === 0;
  fill(find('#refusals'), refusals.map((one) => [moment(one.minute), name(one.outcome), one.requests]));
}

/** A piece of a page with a class. */
export function piece(tag: string, className: string, ...content: (string | Node)[]): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...content);
  return made;
}

/** One bar of a chart: the parts stand on each other, each with a class. */
export interface Bar {
  day: string;
  parts: { className: string; value: number }[];
}

const svg = 'http://www.w3.org/2000/svg';

function shape(tag: string, attributes: Record<string, string | number>, text = ''): SVGElement {
  const made = document.createElementNS(svg, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.textContent = text;
  return made;
}

const chart = { height: 200, left: 44, bottom: 24, top: 12 };
const labelWidth = 80;
const watched = new WeakMap<Element, ResizeObserver>();

/** Draws bars by day, as wide as there is room. The label says in words what is to be seen. */
export function draw(into: HTMLElement, bars: Bar[], label: string): void {
  watched.get(into)?.disconnect();
  const observer = new ResizeObserver(() => drawIn(into, into.clientWidth, bars, label));
  observer.observe(into); // which calls at once
  watched.set(into, observer);
}

function drawIn(into: HTMLElement, width: number, bars: Bar[], label: string): void {
  const most = Math.max(1, ...bars.map(total));
  const top = ceiling(most);
  const plot = { width: Math.max(width, 200) - chart.left, height: chart.height - chart.top - chart.bottom };
  const y = (value: number) => chart.top + plot.height * (1 - value / top);
  const picture = shape('svg', { width: plot.width + chart.left, height: chart.height, role: 'img', 'aria-label': label, class: 'chart' });
  for (const value of top % 2 ? [0, top] : [0, top / 2, top]) {
    picture.append(
      shape('line', { x1: chart.left, x2: plot.width + chart.left, y1: y(value), y2: y(value), class: 'rule' }),
      shape('text', { x: chart.left - 8, y: y(value) + 4, 'text-anchor': 'end' }, number(value)),
    );
  }
  const step = plot.width / bars.length;
  const gap = Math.min(6, step / 4);
  const named = Math.ceil(bars.length * labelWidth / plot.width);
  bars.forEach((bar, i) => {
    const x = chart.left + i * step;
    let below = 0;
    for (const { className, value } of bar.parts) {
      if (value > 0) {
        picture.append(shape('rect', { x: x + gap / 2, width: step - gap, y: y(below + value), height: y(below) - y(below + value), class: className }));
      }
      below += value;
    }
    const title = shape('rect', { x, width: step, y: chart.top, height: plot.height, class: 'over' });
    title.append(shape('title', {}, `${shortDay(bar.day)}: ${bar.parts.map(({ value }) => number(value)).join(' + ')}`));
    picture.append(title);
    if (i % named === Math.floor(named / 2)) {
      picture.append(shape('text', { x: x + step / 2, y: chart.height - 6, 'text-anchor': 'middle' }, shortDay(bar.day)));
    }
  });
  into.replaceChildren(picture);
}

const total = (bar: Bar): number => bar.parts.reduce((sum, { value }) => sum + value, 0);

/** The next round number: 1, 2, 4, 6, 10, 20, … */
function ceiling(value: number): number {
  const tens = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 10].map((n) => n * tens).find((n) => n >= value)!;
}

/** The days from one to another, both included. */
export function daysBetween(from: string, to: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000) days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}
