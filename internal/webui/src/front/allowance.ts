// How many more pages whoever is here can have cleaned, and what helps when there are none.
import { call, type Me } from '../api';
import { toHex } from '../bot';
import { count, find, number, page as shown, t } from '../page';
import { showWho, whoAmI } from '../site';

interface Allowance {
  daily: number;
  left: number;
}

/** What GET /api/guest answers. */
interface Guest {
  pictures: Allowance;
  pdfPages: Allowance;
  renewed: string;
  account: number;
}

/** Whose pages they are; null is an open service, which counts nothing. */
export type Who = { me: Me } | { guest: Guest } | null;

let known: Who = null; // the last that was asked for

/** Whether nobody is logged in, where one can be. */
export const isGuest = (): boolean => known !== null && 'guest' in known;

/** What a guest's daily allowance is counted by. */
export function device(): string {
  const made = localStorage.getItem('device') ?? toHex(crypto.getRandomValues(new Uint8Array(16)));
  localStorage.setItem('device', made);
  return made;
}

async function ask(): Promise<Who> {
  if (!shown.accounts) return null;
  const me = await whoAmI();
  known = me ? { me } : { guest: await call<Guest>('GET', '/api/guest', undefined, undefined, { 'X-Device-Id': device() }) };
  return known;
}

/** How many pictures, or pages of PDFs, are left; nothing that cannot be told stands in the way. */
export async function left(pdf: boolean): Promise<number> {
  const who = await ask().catch(() => null);
  if (!who) return Infinity;
  return 'me' in who ? who.me.account.credits : (pdf ? who.guest.pdfPages : who.guest.pictures).left;
}

/** Why a page waits that nothing is left for, and what helps. */
export async function whyOut(pdf: boolean): Promise<string> {
  const who = await ask().catch(() => known);
  if (!who || 'me' in who) return t('front.js.outUser');
  const when = new Intl.DateTimeFormat(shown.language, { weekday: 'long', hour: 'numeric', minute: '2-digit' }).format(new Date(who.guest.renewed));
  return `${t(pdf ? 'front.js.outPdf' : 'front.js.outGuest', { when })} ${more(who.guest)}`;
}

const more = ({ account }: Guest): string => (account ? count('front.js.withAccount', account) : '');

/** Shows beside the way in what is left. */
export async function showLeft(): Promise<void> {
  const who = await ask().catch(() => null);
  if (!who) return;
  const line = find('#left');
  line.hidden = false;
  const [said, way] = [find('span', line), find<HTMLAnchorElement>('a', line)];
  if ('me' in who) {
    showWho(who.me);
    said.textContent = count('front.js.leftUser', who.me.account.credits);
    way.href = '/pricing';
    way.textContent = t('front.js.getMore');
    return;
  }
  const { pictures, pdfPages } = who.guest;
  said.textContent = t('front.js.leftGuest', { left: number(pictures.left), daily: number(pictures.daily), pdfLeft: number(pdfPages.left), pdfDaily: number(pdfPages.daily) });
  way.href = '/sign-up';
  way.textContent = more(who.guest);
  way.hidden = !who.guest.account;
}
