import { whoAmI } from '../site';
import { call, Refusal } from '../api';
import { handle, told, Wrong } from '../form';
import { logInFirst } from '../next';
import { find, findAll, t } from '../page';

const slugForm = /^[a-z0-9][a-z0-9-]{1,38}[a-z0-9]$/;

/** Goes to the page of the payment. */
async function checkOut(order: Record<string, string>): Promise<void> {
  const { url } = await call<{ url: string }>('POST', '/api/checkout', order);
  location.assign(url);
}

for (const button of findAll('.buy')) {
  button.addEventListener('click', async () => {
    if (button.ariaDisabled === 'true') return;
    find('#failed').textContent = '';
    button.ariaDisabled = 'true';
    try {
      await checkOut({ plan: button.dataset.plan! });
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) location.assign(logInFirst('/pricing'));
      else find('#failed').textContent = told(error);
    } finally {
      button.ariaDisabled = 'false';
    }
  });
}

const order = document.querySelector<HTMLDialogElement>('#order');
if (order) {
  let plan = '';
  for (const button of findAll('.plan')) {
    button.addEventListener('click', () => {
      plan = button.dataset.plan!;
      find('#order-plan').textContent = button.dataset.name!;
      order.showModal();
    });
  }
  find('#cancel').addEventListener('click', () => order.close());
  handle(find<HTMLFormElement>('#order-form'), async (value) => {
    const slug = value('slug').toLowerCase();
    if (slug && !slugForm.test(slug)) throw new Wrong(t('pricing.js.slug'), 'slug');
    await checkOut({ plan, email: value('email'), name: value('name'), slug });
  });
  whoAmI().then((me) => { find<HTMLInputElement>('#email').value ||= me?.email ?? ''; }, () => {});
}

if (new URLSearchParams(location.search).has('bought')) {
  find('#thanks').hidden = false;
  history.replaceState(null, '', location.pathname);
}
