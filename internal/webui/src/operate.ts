// What an operator does with accounts: finds them, and acts on them in a dialog that asks why.
import { call, Refusal } from './api';
import { handle, told } from './form';
import { newId } from './front/model';
import { logInFirst } from './next';
import { announce, count, find, findAll, t, tell } from './page';
import { date, fill, moment, piece } from './parts';

interface User {
  id: string;
  email?: string;
  role?: string;
  verified: boolean;
  created: string;
  credits: number;
}

interface Token { id: string; created: string; ends?: string }

interface Customer {
  id: string;
  slug: string;
  appCode: string;
  email: string;
  name: string;
  revoked?: string;
  credits: number;
  tokens: Token[];
}

interface Act {
  id: string;
  at: string;
  actor: string;
  actorName?: string;
  kind: string;
  target?: string;
  targetName?: string;
  credits: number;
  reason?: string;
}

interface Acts { acts: Act[]; older?: string }

/** Something to do to somebody, once it is said why. */
interface Deed {
  name: string;
  whom: string;
  fields: string[]; // that it needs beside the reason
  harms?: boolean;
  send: (value: (name: string) => string) => Promise<{ token: string } | null>;
}

const dialog = find<HTMLDialogElement>('#act');
const form = find<HTMLFormElement>('#order');
let deed: Deed | undefined;
let sought = '';
let known: Act[] = []; // the newest first

/** Shows what was done, and lets the operator find accounts and act on them. */
export function operate(): void {
  handle(find<HTMLFormElement>('#search'), async (value) => {
    sought = value('find');
    await search();
  });
  handle(form, act);
  find('#cancel').onclick = () => dialog.close();
  find('#close').onclick = () => dialog.close();
  dialog.addEventListener('close', () => {
    find<HTMLTextAreaElement>('#new-token').value = '';
  });
  loadActs().catch(fail);
}

async function search(): Promise<void> {
  const { users, customers, more } = await call<{
    users: User[]; customers: Customer[]; more: boolean;
  }>('GET', `/api/operator/accounts?find=${encodeURIComponent(sought)}`);
  find('#found').replaceChildren(...users.map(userRow), ...customers.map(customerRow));
  const hits = find('#hits');
  hits.textContent = count('operator.js.hits', users.length + customers.length)
    + (more ? ` ${t('operator.js.moreHits')}` : '');
  hits.hidden = false;
  announce(hits.textContent);
}

function userRow(user: User): HTMLElement {
  const name = user.email ?? user.id;
  return row(name, [
    count('operator.js.credits', user.credits),
    t('operator.js.since', { date: date(user.created) }),
    ...(user.role ? [t('operator.js.operator')] : []),
    ...(user.email && !user.verified ? [t('operator.js.unconfirmed')] : []),
    user.id,
  ], button(granting(`user:${user.id}`, name)));
}

function customerRow(customer: Customer): HTMLElement {
  const { slug, revoked } = customer;
  const made = row(`${slug} · ${customer.email}`, [
    count('operator.js.credits', customer.credits),
    ...(revoked ? [t('operator.js.closedOn', { date: date(revoked) })] : []),
    ...(customer.name ? [customer.name] : []),
    customer.appCode,
    customer.id,
  ], ...(revoked ? [] : [
    button(granting(`customer:${customer.id}`, slug)), button(rotating(customer)),
    button(closing(customer)),
  ]));
  const tokens = customer.tokens.map((token) => piece('li', '',
    piece('span', '', t('operator.js.madeAt', { time: moment(token.created) })),
    piece('span', 'mark', token.ends ? t('operator.js.ends', { time: moment(token.ends) }) : ''),
    button(ending(customer, token))));
  if (tokens.length > 0) made.firstElementChild!.append(piece('ul', 'rows', ...tokens));
  return made;
}

const row = (name: string, details: string[], ...buttons: HTMLElement[]): HTMLElement =>
  piece('li', '',
    piece('div', 'break', piece('b', '', name), piece('p', 'quiet', details.join(' · '))),
    piece('div', 'actions', ...buttons));

function button(what: Deed): HTMLElement {
  const made = piece('button', what.harms ? 'button small danger' : 'button small', what.name);
  made.ariaLabel = `${what.name}: ${what.whom}`;
  made.onclick = () => ask(what);
  return made;
}

const granting = (to: string, whom: string): Deed => {
  let key = newId(); // sent again until it is heard, so that nothing is given twice
  return {
    name: t('operator.js.grant'), whom, fields: ['credits', 'months'],
    send: async (value) => {
      await call('POST', '/api/operator/grants', {
        to, reason: value('reason'),
        credits: Number(value('credits')), months: Number(value('months')),
      }, undefined, { 'Idempotency-Key': key });
      key = newId();
      return null;
    },
  };
};

const rotating = ({ id, slug }: Customer): Deed => ({
  name: t('operator.js.rotate'), whom: slug, fields: ['grace'],
  send: (value) => call('POST', `/api/operator/customers/${id}/rotate`,
    { graceHours: Number(value('grace')), reason: value('reason') }),
});

const closing = ({ id, slug }: Customer): Deed => ({
  name: t('operator.js.closeCustomer'), whom: slug, fields: [], harms: true,
  send: (value) => call('POST', `/api/operator/customers/${id}/close`, { reason: value('reason') }),
});

const ending = ({ id, slug }: Customer, token: Token): Deed => ({
  name: t('operator.js.endToken'), fields: [], harms: true,
  whom: `${slug} · ${t('operator.js.madeAt', { time: moment(token.created) })}`,
  send: (value) => call('POST', `/api/operator/customers/${id}/tokens/${token.id}/revoke`,
    { reason: value('reason') }),
});

function ask(what: Deed): void {
  deed = what;
  form.reset();
  form.hidden = false;
  find('#made').hidden = true;
  find('#act-title').textContent = find('#do').textContent = what.name;
  find('#act-whom').textContent = what.whom;
  find('#do').className = what.harms ? 'button danger' : 'button primary';
  for (const field of findAll<HTMLInputElement | HTMLSelectElement>('input, select', form)) {
    field.disabled = field.name !== 'reason' && !what.fields.includes(field.name);
    field.closest<HTMLElement>('.field')!.hidden = field.disabled;
  }
  dialog.showModal();
}

async function act(value: (name: string) => string): Promise<void> {
  const made = await deed!.send(value);
  if (made) {
    form.hidden = true;
    find('#made').hidden = false;
    const token = find<HTMLTextAreaElement>('#new-token');
    token.value = made.token;
    token.focus();
    token.select();
  } else {
    dialog.close();
    find('#find').focus(); // the button that opened it is made anew
  }
  Promise.all([search(), loadActs()]).then(() => tell(t('operator.js.done')), fail);
}

async function loadActs(before?: string): Promise<void> {
  const { acts, older } = await call<Acts>('GET',
    `/api/operator/acts${before ? `?before=${before}` : ''}`);
  known = before ? known.concat(acts) : acts;
  fill(find('#acts'), known.map((one) => [
    moment(one.at), wrapped(one.actorName ?? one.actor), kind(one.kind),
    wrapped(one.targetName ?? one.target ?? '–'), one.credits, wrapped(one.reason ?? '–'),
  ]));
  find('#no-acts').hidden = known.length > 0;
  find('#acts').parentElement!.hidden = known.length === 0;
  const more = find('#more');
  more.hidden = !older;
  more.onclick = () => loadActs(older).catch(fail);
}

const wrapped = (text: string): Node => piece('span', 'break', text);

function kind(name: string): string {
  switch (name) {
    case 'grant': return t('operator.js.act.grant');
    case 'revoke': return t('operator.js.act.revoke');
    case 'rotate': return t('operator.js.act.rotate');
    case 'token.revoke': return t('operator.js.act.tokenRevoke');
    case 'customer.close': return t('operator.js.act.customerClose');
    case 'customer.add': return t('operator.js.act.customerAdd');
    case 'user.add': return t('operator.js.act.userAdd');
    case 'user.delete': return t('operator.js.act.userDelete');
    case 'user.role': return t('operator.js.act.userRole');
  }
  return name;
}

function fail(error: unknown): void {
  if (error instanceof Refusal && error.status === 401) location.replace(logInFirst('/operator'));
  else find('#failed').textContent = told(error);
}
