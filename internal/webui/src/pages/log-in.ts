import { whoAmI } from '../site';
import { call, Refusal } from '../api';
import { handle, Wrong } from '../form';
import { next } from '../next';
import { find, t } from '../page';

handle(find<HTMLFormElement>('#form'), async (value) => {
  try {
    await call('POST', '/api/log-in', { email: value('email'), password: find<HTMLInputElement>('#password').value });
  } catch (error) {
    throw error instanceof Refusal && error.code === 'VERIFICATION_FAILED' ? new Wrong(t('log-in.js.wrong')) : error;
  }
  location.assign(next('/'));
});

whoAmI().then((me) => { if (me) location.replace(next('/account')); }, () => {});
