// Cloudflare's bot check. Its script is the one thing that comes from elsewhere, where the operator has chosen so, and only
// when a token is needed.
import { Uncheckable } from './bot';
import { announce, find, page, t } from './page';

/** What the script offers, as far as it is used here. */
interface Turnstile {
  render(box: HTMLElement, settings: {
    sitekey: string;
    language: string;
    size: 'flexible' | 'compact';
    retry: 'never';
    'response-field': false;
    callback: (token: string) => void;
    'error-callback': (code?: string) => boolean; // true: we tell it
    'unsupported-callback': () => boolean;
  }): string;
  remove(widget: string): void;
}

declare global {
  interface Window { turnstile?: Turnstile }
}

const address = 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit';
const loadingTime = 30_000; // milliseconds
const flexibleWidth = 300; // pixels that the widget needs at least, unless it is compact
let loading: Promise<Turnstile> | null = null;

/** Shows the widget in #human until it has a token. */
export async function pass(sitekey: string, signal: AbortSignal): Promise<string> {
  const turnstile = await (loading ??= load());
  signal.throwIfAborted();
  const token = Promise.withResolvers<string>();
  const stop = () => token.reject(signal.reason);
  const fail = (code = 'unsupported') => {
    token.reject(new Uncheckable(t('site.js.notHuman', { code })));
    return true;
  };
  const human = find('#human');
  let widget: string | undefined;
  signal.addEventListener('abort', stop);
  human.hidden = false;
  try {
    const box = find('div', human);
    const size = box.clientWidth < flexibleWidth ? 'compact' : 'flexible';
    widget = turnstile.render(box, {
      sitekey, size, language: page.language, retry: 'never', 'response-field': false,
      callback: token.resolve, 'error-callback': fail, 'unsupported-callback': fail,
    });
    human.scrollIntoView({ block: 'nearest' });
    announce(find('p', human).textContent!);
    return await token.promise;
  } finally {
    signal.removeEventListener('abort', stop);
    if (widget) turnstile.remove(widget);
    human.hidden = true;
  }
}

/** Loads the script; after a failure, anew. */
function load(): Promise<Turnstile> {
  const script = document.createElement('script');
  const { promise, resolve, reject } = Promise.withResolvers<Turnstile>();
  const fail = () => {
    loading = null;
    script.remove();
    reject(new Uncheckable(t('site.js.notLoaded')));
  };
  const late = setTimeout(fail, loadingTime);
  script.onerror = script.onload = () => {
    clearTimeout(late);
    if (window.turnstile) resolve(window.turnstile);
    else fail();
  };
  script.src = address;
  document.head.append(script);
  return promise;
}
