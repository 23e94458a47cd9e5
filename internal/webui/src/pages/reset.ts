import '../site';
import { call, Refusal } from '../api';
import { proveHuman } from '../bot';
import { handle, Wrong } from '../form';
import { takeToken } from '../next';
import { find, t } from '../page';

const token = takeToken();
const ask = find<HTMLFormElement>('#ask');
const set = find<HTMLFormElement>('#set');

handle(ask, async (value) => {
  try {
    await call('POST', '/api/password-reset', { email: value('email'), cfTurnstileToken: await proveHuman() });
  } catch (error) {
    throw error instanceof Refusal && error.code === 'INVALID_PARAMETER' ? new Wrong(t('site.js.badEmail'), 'email') : error;
  }
  show('#asked', ask);
});

handle(set, async () => {
  try {
    await call('POST', '/api/password-reset/done', { token, password: find<HTMLInputElement>('#password').value });
  } catch (error) {
    throw refused(error);
  }
  show('#changed', set);
});

function refused(error: unknown): unknown {
  if (!(error instanceof Refusal)) return error;
  switch (error.code) {
    case 'VERIFICATION_FAILED': return new Wrong(t('reset.js.old'));
    case 'INVALID_PARAMETER': return new Wrong(t('reset.js.password'), 'password');
  }
  return error;
}

function show(selector: string, instead: HTMLElement): void {
  instead.hidden = true;
  find(selector).hidden = false;
  find(`${selector} h2`).focus();
}
