import { forget } from '../front/store';
import { showWho } from '../site';
import { call, Refusal } from '../api';
import { handle, told, Wrong } from '../form';
import { logInFirst } from '../next';
import { announce, count, find, number, t, tell } from '../page';
import { date, fill, isNever, moment, piece, planName, type Refusals, showRefusals } from '../parts';

interface Package { plan: string; credits: number; remaining: number; expires: string; expired: boolean }
interface Use { at: string; outcome: string; charged: number }
interface Uses { uses: Use[]; older?: string }
interface Account extends Uses { refusals: Refusals[]; userId: string; email?: string; role?: string; account: { credits: number; packages: Package[] } }
interface Session { id: string; agent?: string; created: string; seen: string; current: boolean }

const usesAtFirst = 10;
let known: Use[] = []; // the newest first
let older: string | undefined; // where those begin that are not known; none are left without it
let shown = usesAtFirst;

async function load(): Promise<void> {
  const [me, { plans }] = await Promise.all([
    call<Account>('GET', '/api/me'), call<{ plans: { id: string; name: string }[] }>('GET', '/api/catalogue'),
  ]);
  showWho(me);
  find('#credits').textContent = number(me.account.credits);
  find('#email').textContent = me.email ?? t('account.js.noEmail');
  find<HTMLInputElement>('#whose').value = me.email ?? '';
  find('#change').hidden = !me.email;
  find('#operator').hidden = me.role !== 'operator';
  fill(find('#packages'), me.account.packages.map((one) => [planName(one.plan, plans), one.remaining, one.credits, end(one)]));
  showRefusals(me.refusals, outcome);
  if (shown === usesAtFirst) { // else they were gone through
    known = me.uses;
    older = me.older;
    showUses();
  }
}

function showUses(): void {
  fill(find('#uses'), known.slice(0, shown).map((use) => [moment(use.at), outcome(use.outcome), use.charged]));
  find('#no-uses').hidden = known.length > 0;
  find('#uses').parentElement!.hidden = known.length === 0;
  find('#more').hidden = shown >= known.length && !older;
}

async function showOlder(): Promise<void> {
  if (shown >= known.length) {
    const next = await call<Uses>('GET', `/api/me/uses?after=${older}`);
    known = known.concat(next.uses);
    older = next.older;
  }
  shown = known.length;
  showUses();
  announce(count('account.js.usesShown', shown));
  if (find('#more').hidden) find('#uses').parentElement!.focus();
}

function end(one: Package): string | Node {
  if (one.expired) return piece('span', 'quiet', t('account.js.ended'));
  return isNever(one.expires) ? t('account.js.never') : date(one.expires);
}

function outcome(name: string): string | Node {
  switch (name) {
    case 'ok': return t('account.js.cleaned');
    case 'INSUFFICIENT_CREDITS': return t('account.js.noCredits');
    case 'RATE_LIMIT_EXCEEDED': return t('account.js.tooMany');
    case 'REQUEST_TIMEOUT': return t('account.js.tooSlow');
    case 'FILE_TOO_LARGE': case 'IMAGE_TOO_LARGE': case 'INVALID_FILE_TYPE': case 'INVALID_IMAGE': case 'MISSING_IMAGE':
      return t('account.js.badImage');
  }
  return t('account.js.failed');
}

async function loadSessions(): Promise<void> {
  const { sessions } = await call<{ sessions: Session[] }>('GET', '/api/me/sessions');
  find('#sessions').replaceChildren(...sessions.map((session) => {
    const name = session.agent || t('account.js.unknown');
    const row = piece('li', '', piece('div', '', piece('b', '', name), piece('p', 'quiet', t('account.js.seen', { created: date(session.created), seen: date(session.seen) }))));
    if (session.current) row.append(piece('span', 'mark', t('account.js.current')));
    else {
      const button = piece('button', 'button small', t('account.js.end'));
      button.ariaLabel = t('account.js.endOf', { name, created: date(session.created) });
      button.onclick = guard(async () => {
        await call('DELETE', `/api/me/sessions/${session.id}`);
        await loadSessions();
        tell(t('account.js.sessionEnded'));
        find('#everywhere').focus();
      });
      row.append(button);
    }
    return row;
  }));
}

/** Does something, and tells what refused it. */
const guard = (what: () => Promise<void>) => async (): Promise<void> => {
  const failed = find('#failed');
  failed.textContent = '';
  try {
    await what();
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) location.replace(logInFirst('/account'));
    else failed.textContent = told(error);
  }
};

find('#more').onclick = guard(showOlder);

/** Goes to the front page, and leaves nothing in the browser for whoever comes next. */
async function goodbye(farewell: 'loggedOut' | 'deleted'): Promise<void> {
  await forget();
  sessionStorage.setItem('farewell', farewell);
  location.assign('/');
}

const leave = (path: string) => guard(async () => {
  await call('POST', path);
  await goodbye('loggedOut');
});
find('#log-out').onclick = leave('/api/log-out');
find('#everywhere').onclick = leave('/api/log-out-everywhere');

handle(find<HTMLFormElement>('#change-form'), async () => {
  const [old, renewed] = [find<HTMLInputElement>('#old').value, find<HTMLInputElement>('#new').value];
  try {
    await call('POST', '/api/password', { old, new: renewed });
  } catch (error) {
    if (error instanceof Refusal && error.code === 'VERIFICATION_FAILED') throw new Wrong(t('account.js.wrong'), 'old');
    if (error instanceof Refusal && error.code === 'INVALID_PARAMETER') throw new Wrong(t('account.js.password'), 'new');
    throw error;
  }
  find('#change-form').hidden = true;
  find('#changed').hidden = false;
  find('#changed h3').focus();
  showWho(null);
});

const sure = find<HTMLDialogElement>('#sure');
find('#delete').onclick = () => sure.showModal();
find('#gone').onclick = async () => {
  try {
    await call('DELETE', '/api/me');
    await goodbye('deleted');
  } catch (error) {
    find('#sure-failed').textContent = told(error);
  }
};

guard(async () => { await Promise.all([load(), loadSessions()]); })();

// What was just bought comes when the payment is confirmed, mostly within seconds.
if (new URLSearchParams(location.search).has('bought')) {
  find('#thanks').hidden = false;
  history.replaceState(null, '', location.pathname);
  let looks = 0;
  const timer = setInterval(() => {
    if (++looks === 10) clearInterval(timer);
    guard(load)();
  }, 3000);
}
