// What every page does: it shows who is logged in, and keeps itself for when there is no network.
import { call, Refusal, type Me } from './api';
import { count, findAll, page } from './page';

/** Asks who is logged in; null is nobody. */
export async function whoAmI(signal?: AbortSignal): Promise<Me | null> {
  if (!page.accounts) return null;
  try {
    return await call<Me>('GET', '/api/me', undefined, signal);
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) return null;
    throw error;
  }
}

/** Shows in the header who is logged in, and with how many credits. */
export function showWho(me: Me | null): void {
  for (const link of findAll('#who .guest')) link.hidden = me !== null;
  for (const link of findAll('#who .user')) link.hidden = me === null;
  for (const credits of findAll('#who .credits')) {
    credits.hidden = me === null;
    credits.textContent = me ? count('site.js.credits', me.account.credits) : '';
  }
}

whoAmI().then(showWho, () => {}); // who cannot be told is shown as a guest

/** Fulfilled when the service worker keeps what the page loads, or cannot: without it only the network is needed. */
export const keeping: Promise<void> = 'serviceWorker' in navigator ? keep().catch(() => {}) : Promise.resolve();

async function keep(): Promise<void> {
  const script = new URL('sw.js', page.root);
  const registration = await navigator.serviceWorker.register(script, { type: 'module' });
  const coming = registration.active ? null : registration.installing ?? registration.waiting;
  if (!coming) return;
  await new Promise<void>((resolve) => {
    coming.addEventListener('statechange', () => { if (coming.state === 'activated' || coming.state === 'redundant') resolve(); });
  });
}
