'use strict';
const form = document.querySelector('form');
const status = document.querySelector('[role=status]');

const show = (id, url) => {
  const img = document.getElementById(id);
  URL.revokeObjectURL(img.src);
  img.src = url;
  img.parentElement.hidden = false;
};

const fromHex = (text) => Uint8Array.from(text.match(/../g) || [], (pair) => parseInt(pair, 16));
const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

// solve finds the counter whose PBKDF2 key begins as the challenge says: a proof of work.
const solve = async (challenge) => {
  const task = challenge.parameters;
  if (!crypto.subtle) throw new Error('This page needs HTTPS (or localhost) for its bot check.');
  const nonce = fromHex(task.nonce);
  const password = new Uint8Array(nonce.length + 4);
  password.set(nonce);
  for (let counter = 0; ; counter++) {
    new DataView(password.buffer).setUint32(nonce.length, counter);
    const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits']);
    const bits = await crypto.subtle.deriveBits(
      { name: 'PBKDF2', hash: 'SHA-256', salt: fromHex(task.salt), iterations: task.cost }, key, 8 * task.keyLength);
    const derivedKey = toHex(new Uint8Array(bits));
    if (derivedKey.startsWith(task.keyPrefix)) return btoa(JSON.stringify({ challenge, solution: { counter, derivedKey } }));
  }
};

// identify adds what a guest needs; who is logged in, and an open service, need nothing.
const identify = async (data) => {
  if ((await fetch('/api/me')).status !== 401) return;
  const challenge = await (await fetch('/api/bot-challenge')).json();
  if (!challenge.parameters) throw new Error('Log in first: this service checks guests by Turnstile, which this page has not.');
  let device = localStorage.getItem('device');
  if (!device) {
    device = toHex(crypto.getRandomValues(new Uint8Array(16)));
    localStorage.setItem('device', device);
  }
  data.set('deviceId', device);
  data.set('cfTurnstileToken', await solve(challenge));
};

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = form.querySelector('button');
  const data = new FormData(form);
  show('before', URL.createObjectURL(data.get('image')));
  button.disabled = true;
  status.textContent = 'Working…';
  try {
    await identify(data);
    const response = await fetch('/api/process-image', { method: 'POST', body: data });
    const answer = await response.json();
    if (!response.ok) {
      throw new Error(answer.message || answer.details || `Too many pages; try again in ${answer.retryAfter} s.`);
    }
    const bytes = Uint8Array.from(atob(answer.data.data.mediaId), (c) => c.charCodeAt(0));
    show('after', URL.createObjectURL(new Blob([bytes])));
    status.textContent = '';
  } catch (error) {
    status.textContent = error.message;
  } finally {
    button.disabled = false;
  }
});
