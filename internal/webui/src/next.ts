// Where to go on after logging in.
import { local } from './local';

/** The address that the page's query asks for, if it is one of this site's pages; else another. */
export function next(otherwise: string): string {
  const asked = new URLSearchParams(location.search).get('next');
  return asked && local(asked) ? asked : otherwise;
}

/** The address of a page that needs a log-in first, to which that leads back. */
export const logInFirst = (back: string): string => `/log-in?next=${encodeURIComponent(back)}`;

/** Takes a one-time token out of the page's address, so that it stays in no history; empty: there is none. */
export function takeToken(): string {
  const token = new URLSearchParams(location.search).get('token') ?? '';
  if (token) history.replaceState(null, '', location.pathname);
  return token;
}
