// The bot check of guests: a proof of work (ALTCHA), or Cloudflare's.
import { call, Refusal } from './api';
import { t, Told } from './page';

interface Task {
  nonce: string;
  salt: string;
  cost: number;
  keyLength: number;
  keyPrefix: string;
}

type Challenge = { parameters: Task } | { turnstile: string };

/** The bot check was not passed; the message says what to do. */
export class Uncheckable extends Told {}

const triesAtOnce = 64;

/** Passes the bot check and returns what goes into cfTurnstileToken; it is good for one request. */
export async function proveHuman(signal: AbortSignal = new AbortController().signal): Promise<string> {
  const challenge = await call<Challenge>('GET', '/api/bot-challenge', undefined, signal);
  if ('turnstile' in challenge) {
    const { pass } = await import('./turnstile').catch(() => { throw new Refusal(0, 'LOST', t('site.js.lost'), '', 0); });
    return pass(challenge.turnstile, signal);
  }
  const task = challenge.parameters;
  if (!crypto.subtle) throw new Uncheckable(t('site.js.insecure'));
  for (let first = 0; ; first += triesAtOnce) {
    signal.throwIfAborted();
    const keys = await Promise.all(Array.from({ length: triesAtOnce }, (_, i) => derive(task, first + i)));
    const hit = keys.findIndex((key) => key.startsWith(task.keyPrefix));
    const derivedKey = keys[hit];
    if (derivedKey) return btoa(JSON.stringify({ challenge, solution: { counter: first + hit, derivedKey } }));
  }
}

/** The PBKDF2 key of one try. */
async function derive(task: Task, counter: number): Promise<string> {
  const nonce = fromHex(task.nonce);
  const password = new Uint8Array(nonce.length + 4);
  password.set(nonce);
  new DataView(password.buffer).setUint32(nonce.length, counter);
  const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits']);
  const how = { name: 'PBKDF2', hash: 'SHA-256', salt: fromHex(task.salt), iterations: task.cost };
  return toHex(new Uint8Array(await crypto.subtle.deriveBits(how, key, 8 * task.keyLength)));
}

const fromHex = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
export const toHex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
