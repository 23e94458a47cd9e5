// Forms that scripts send: what is wrong is said beside the field concerned, and the focus goes there.
import { Refusal } from './api';
import { count, find, findAll, t } from './page';

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** What a form's field must say, by its name, or the form as a whole. */
export class Wrong extends Error {
  constructor(message: string, readonly field?: string) {
    super(message);
  }
}

/** Hands a form's values to send, once at a time. A [Wrong] or a [Refusal] that it throws is shown. */
export function handle(form: HTMLFormElement, send: (value: (name: string) => string) => Promise<void>): void {
  form.noValidate = true;
  const button = find<HTMLButtonElement>('button:not([type=button])', form);
  const fields = findAll<Field>('input, select, textarea', form);
  for (const field of fields) field.addEventListener('input', () => say(field, ''));
  for (const reveal of findAll<HTMLButtonElement>('.reveal', form)) reveals(reveal);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (form.ariaBusy === 'true') return;
    whole(form, '');
    for (const field of fields) say(field, problem(field));
    const first = fields.find((field) => field.ariaInvalid === 'true');
    if (first) {
      first.focus();
      return;
    }
    form.ariaBusy = button.ariaDisabled = 'true';
    try {
      await send((name) => fields.find((field) => field.name === name)?.value.trim() ?? '');
    } catch (error) {
      const field = error instanceof Wrong && fields.find((one) => one.name === error.field);
      if (field) {
        say(field, told(error));
        field.focus();
      } else whole(form, told(error));
    } finally {
      form.ariaBusy = button.ariaDisabled = 'false';
    }
  });
}

/** What an error tells a person; others than we throw are mistakes and go on. */
export function told(error: unknown): string {
  if (error instanceof Refusal) {
    const again = error.status === 429 ? ` ${count('site.js.again', error.retryAfter)}` : '';
    return error.message + again + (error.status >= 500 && error.request ? ` (${error.request})` : '');
  }
  if (error instanceof Error && !(error instanceof TypeError)) return error.message;
  throw error;
}

function problem(field: Field): string {
  if (field.validity.valueMissing) return t('site.js.required');
  if (field.validity.typeMismatch) return t('site.js.badEmail');
  const least = field instanceof HTMLInputElement ? field.minLength : -1;
  return field.value && [...field.value].length < least ? t('site.js.tooShort', { n: least }) : '';
}

/** Says what is wrong with a field, beside it; nothing is what is right. */
function say(field: Field, message: string): void {
  const id = `${field.id}-error`;
  let line = document.getElementById(id);
  if (!line && message) {
    line = document.createElement('p');
    line.id = id;
    line.className = 'error';
    field.closest('.field')!.append(line);
  }
  if (line) line.textContent = message;
  const others = (field.getAttribute('aria-describedby') ?? '').split(' ').filter((other) => other && other !== id);
  if (message) others.push(id);
  field.setAttribute('aria-describedby', others.join(' '));
  if (others.length === 0) field.removeAttribute('aria-describedby');
  field.ariaInvalid = message ? 'true' : null;
}

/** Says what is wrong with a form as a whole. */
function whole(form: HTMLFormElement, message: string): void {
  let line = form.querySelector<HTMLElement>(':scope > [role=alert]');
  if (!line) {
    line = document.createElement('p');
    line.setAttribute('role', 'alert');
    line.className = 'error';
    form.prepend(line);
  }
  line.hidden = !message;
  line.textContent = message;
}

/** Shows what is typed into the secret beside a button, while that is pressed. */
function reveals(button: HTMLButtonElement): void {
  const secret = find<HTMLInputElement>('input', button.parentElement!);
  button.addEventListener('click', () => {
    const show = button.ariaPressed !== 'true';
    button.ariaPressed = String(show);
    if (secret.classList.contains('masked')) secret.dataset.shown = String(show); // no password, that browsers would keep
    else secret.type = show ? 'text' : 'password';
  });
}
