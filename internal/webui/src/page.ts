// What the server tells the page's script: the language, its texts, where files are.
import type english from '../locales/en.json';

type Name = Extract<keyof typeof english, `${string}.js.${string}`>;

/** Key of a text in locales/*.json that scripts show. */
export type Key = Name;

/** Key of a text that depends on a number: KEY.one and KEY.other are in locales/*.json. */
export type CountKey = Name extends infer K ? (K extends `${infer Base}.other` ? Base : never) : never;

interface PageData {
  language: string;
  root: string; // the folder that the pages are in
  accounts: boolean; // people log in here
  assets: Record<string, string>;
  engine?: { bytes: number; packed: number }; // of cleaning on the device, where it is offered: in memory, and as it is loaded
  text: Record<string, string>;
  data?: unknown;
}

const told: PageData = JSON.parse(document.querySelector('#page-data')!.textContent!);
const whole = (address: string): string => new URL(address, document.baseURI).href;

/** What the server put in the page. Addresses are whole: workers take others as relative to theirs. */
export const page: PageData = {
  ...told,
  root: whole(told.root),
  assets: Object.fromEntries(
    Object.entries(told.assets).map(([name, address]) => [name, whole(address)]),
  ),
};

type Values = Record<string, string | number>;

/** A text in the page's language, with {names} replaced. */
export const t = (key: Key, values: Values = {}): string =>
  fill(page.text[key] ?? key, values);

const plural = new Intl.PluralRules(page.language);

/** A text for a number, which it shows as {n}. */
export const count = (key: CountKey, n: number, values: Values = {}): string =>
  fill(page.text[`${key}.${plural.select(n)}`] ?? page.text[`${key}.other`] ?? key, { n: number(n), ...values });

const fill = (text: string, values: Values): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));

const numbers = new Intl.NumberFormat(page.language);
export const number = (n: number): string => numbers.format(n);

/** An error whose message is for people; others say nothing that helps them. */
export class Told extends Error {}

/** What people are told of an error. */
export const toldOf = (error: unknown): string => (error instanceof Told ? error.message : t('site.js.unexpected'));

/** The element that a selector must find. */
export const find = <T extends HTMLElement = HTMLElement>(selector: string, within: ParentNode = document): T => {
  const found = within.querySelector<T>(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return found;
};

export const findAll = <T extends HTMLElement = HTMLElement>(selector: string, within: ParentNode = document): T[] =>
  [...within.querySelectorAll<T>(selector)];

/** Tells readers of the screen what others see elsewhere on it. */
export const announce = (message: string): void => {
  const status = find('#status');
  status.className = 'unseen';
  status.textContent = message;
};

const readable = 8000; // milliseconds that a message is seen

/** Tells everybody what is to be seen nowhere else. */
export const tell = (message: string): void => {
  announce(message);
  const status = find('#status');
  status.className = 'toast';
  setTimeout(() => { if (status.textContent === message) status.className = 'unseen'; }, readable);
};
