import '../site';
import { call, Refusal } from '../api';
import { handle, Wrong } from '../form';
import { takeToken } from '../next';
import { find, t } from '../page';

const token = takeToken();
const form = find<HTMLFormElement>('#form');

// A click of the reader's confirms, not the opening of the link, which programs that look at mails do too.
handle(form, async () => {
  try {
    await call('POST', '/api/verify', { token });
  } catch (error) {
    throw error instanceof Refusal && error.code === 'VERIFICATION_FAILED' ? new Wrong(t('verify.js.old')) : error;
  }
  form.hidden = true;
  find('#done').hidden = false;
  find('#done h2').focus();
});
