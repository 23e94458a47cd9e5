import { showWho, whoAmI } from '../site';
import { call, Refusal } from '../api';
import { proveHuman } from '../bot';
import { handle, Wrong } from '../form';
import { find, t } from '../page';

const form = find<HTMLFormElement>('#form');
const sent = find('#sent');

handle(form, async (value) => {
  const email = value('email');
  const password = find<HTMLInputElement>('#password').value;
  try {
    await call('POST', '/api/sign-up', { email, password, cfTurnstileToken: await proveHuman() });
  } catch (error) {
    throw beside(error);
  }
  find('#to').textContent = email;
  form.hidden = true;
  sent.hidden = false;
  find('h2', sent).focus();
});

/** Tells which field a refusal is about. */
function beside(error: unknown): unknown {
  if (!(error instanceof Refusal) || error.code !== 'INVALID_PARAMETER') return error;
  return error.message.startsWith('Password') ? new Wrong(t('sign-up.js.password'), 'password') : new Wrong(t('site.js.badEmail'), 'email');
}

find('#again').addEventListener('click', () => {
  sent.hidden = true;
  form.hidden = false;
  find('#email').focus();
});

whoAmI().then((me) => { if (me) location.replace('/account'); showWho(me); }, () => {});
