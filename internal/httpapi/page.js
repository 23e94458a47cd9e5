'use strict';

// What the page says, in one place. The rest stands in index.html.
const text = {
  limitBytes: (size) => `This file has ${size}; at most 5 MB can be sent.`,
  limitPixels: (pixels) => `This picture has ${pixels} megapixels; at most 50 can be cleaned.`,
  limitSide: 'This picture is too small; each side needs at least 16 pixels.',
  empty: 'This file is empty.',
  unreadable: 'This file cannot be read any more; choose it again.',
  pdf: 'PDF is not read here yet; save its pages as pictures.',
  format: 'This is not a picture of a format that is read here: JPEG, PNG, WebP, HEIC, AVIF, TIFF, BMP or GIF.',
  waiting: 'Waiting',
  preparing: 'Preparing…',
  uploading: (percent) => `Uploading ${percent} %`,
  cleaning: 'Cleaning…',
  done: (size) => `Done, ${size}`,
  cancelled: 'Cancelled',
  shrinking: 'Making it smaller…',
  notShrunk: 'This browser cannot make the picture smaller; save it as a smaller JPEG.',
  goingOn: (why, left) => `${why} Goes on in ${left}.`,
  limited: { minute: 'Too many pages in a minute.', hour: 'Too many pages in an hour.', other: 'Too many attempts.' },
  busy: 'The service is busy.',
  lost: 'The connection was lost.',
  insecure: 'The bot check needs HTTPS (or localhost) in this browser.',
  turnstile: 'Log in first: guests are checked by Turnstile here, which this page does not have.',
  outGuest: 'The free pages of today are used up. There are new ones after midnight UTC.',
  outUser: 'Your credits are used up or have expired.',
  notSold: 'No credits are sold here online; ask whoever runs this service.',
  errors: {
    VERIFICATION_FAILED: 'The bot check was not accepted; try again.',
    REQUEST_TIMEOUT: 'It took too long; try again, or a smaller picture.',
    INTERNAL_ERROR: 'Something went wrong in the service. Nothing was charged; try again.',
  },
  odd: (status) => `The service answered something unexpected (${status}); try again.`,
  request: (id) => ` Request ${id}`,
  added: (n) => (n === 1 ? '1 page added.' : `${n} pages added.`),
  count: (n, done) => `${n} ${n === 1 ? 'page' : 'pages'}, ${done} done`,
  announce: (name, what) => `${name}: ${what}`,
  named: (what, name) => `${what}: ${name}`,
  split: (percent) => `${percent} % before`,
};

const limits = { bytes: 5 << 20, pixels: 50e6, side: 16 };
const maxTries = 5; // when the service is busy or the connection lost; a rate limit is waited out always
const triesAtOnce = 64; // of a guest's proof of work

// The controls of a file in each state.
const controls = {
  waiting: ['cancel'], working: ['cancel'], pausing: ['now', 'cancel'],
  done: ['show', 'download', 'remove'], failed: ['retry', 'remove'], cancelled: ['retry', 'remove'],
  tooLarge: ['shrink', 'remove'], refused: ['remove'],
};

const find = (selector, within = document) => within.querySelector(selector);
const list = find('#queue ul');
const result = find('#result');
const slider = find('#split');
const notice = find('#notice');

const queue = [];
let running = false; // one upload at a time
let halted = false; // no credits: nothing is sent until the user says so
let guest = false;
let viewed = null;

// Refused is a page that was not cleaned: wait is in seconds, when to try again by itself.
class Refused extends Error {
  constructor(message, { id = '', wait = 0, counts = false, out = false } = {}) {
    super(message);
    Object.assign(this, { id, wait, counts, out });
  }
}

const megabytes = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / (1 << 20)).toFixed(1)} MB`);
const clock = (seconds) => (seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`);
const sentence = (message) => message.charAt(0).toUpperCase() + message.slice(1) + (/[.!?]$/.test(message) ? '' : '.');
const announce = (message) => { find('#status').textContent = message; };

// --- The queue as it is shown

const show = (item, state, message, progress) => {
  Object.assign(item, { state });
  item.row.dataset.state = state;
  find('.state', item.row).textContent = message;
  const bar = find('progress', item.row);
  bar.hidden = state !== 'working';
  if (progress === undefined) bar.removeAttribute('value');
  else bar.value = progress;
  const focused = document.activeElement;
  for (const control of item.row.querySelectorAll('[data-do]')) {
    control.hidden = !controls[state].includes(control.dataset.do);
  }
  if (item.row.contains(focused) && focused.hidden) find('[data-do]:not([hidden])', item.row).focus();
  count();
};

const count = () => {
  find('#queue').hidden = queue.length === 0;
  document.body.classList.toggle('filled', queue.length > 0);
  find('#count').textContent = text.count(queue.length, queue.filter((item) => item.state === 'done').length);
};

const fail = (item, state, message, id) => {
  show(item, state, message);
  if (id) {
    const small = document.createElement('small');
    small.textContent = text.request(id);
    find('.state', item.row).append(small);
  }
  announce(text.announce(item.name, message));
};

const view = (item) => {
  viewed = item;
  for (const other of queue) find('.show', other.row).setAttribute('aria-pressed', String(other === item));
  find('#result-title').textContent = item ? item.name : result.dataset.title;
  find('.before', result).src = item ? item.before : 'before.webp';
  find('.after', result).src = item ? item.after : 'after.webp';
  result.classList.toggle('single', Boolean(item) && !item.size); // the browser cannot show what was sent
  const download = find('.download', result);
  download.hidden = !item;
  if (item) Object.assign(download, { href: item.after, download: item.saved });
  split(50);
};

const split = (percent) => {
  slider.value = percent;
  slider.setAttribute('aria-valuetext', text.split(percent));
  find('.compare').style.setProperty('--split', `${percent}%`);
};

const remove = (item) => {
  const next = item.row.nextElementSibling || item.row.previousElementSibling;
  queue.splice(queue.indexOf(item), 1);
  item.row.remove();
  for (const url of [item.before, item.after]) URL.revokeObjectURL(url);
  if (viewed === item) view(queue.find((other) => other.state === 'done') || null);
  (next ? find('[data-do]:not([hidden])', next) : find('#files')).focus();
  count();
};

const actions = {
  show: (item) => { view(item); result.scrollIntoView({ block: 'nearest' }); },
  cancel: (item) => {
    if (item.state === 'waiting') show(item, 'cancelled', text.cancelled);
    item.stop.abort();
  },
  now: (item) => item.wake(),
  retry: (item) => { show(item, 'waiting', text.waiting); resume(); },
  remove,
  shrink: async (item) => {
    show(item, 'waiting', text.shrinking);
    item.state = 'working'; // not to be sent yet
    const smaller = await shrink(item.file).catch(() => null);
    if (!queue.includes(item)) return;
    if (!smaller) { fail(item, 'refused', text.notShrunk); return; }
    item.file = smaller;
    await examine(item);
    resume();
  },
};

// --- What is looked at before anything is sent

const formatOf = async (file) => {
  const head = new Uint8Array(await file.slice(0, 16).arrayBuffer());
  const ascii = String.fromCharCode(...head);
  if (ascii.startsWith('%PDF')) return 'pdf';
  const known = /^(\xff\xd8\xff|\x89PNG|GIF8|BM|II\*\0|MM\0\*|RIFF[^]{4}WEBP|[^]{4}ftyp(hei|hev|mif|msf|avi))/;
  return known.test(ascii) ? 'picture' : 'other';
};

// measure tells a picture's pixels without decoding them; null when this browser does not know the format.
const measure = (url) => new Promise((resolve) => {
  const picture = new Image();
  picture.onload = () => resolve({ width: picture.naturalWidth, height: picture.naturalHeight });
  picture.onerror = () => resolve(null);
  picture.src = url;
});

const examine = async (item) => {
  const { file } = item;
  let format;
  try {
    format = await formatOf(file);
  } catch {
    fail(item, 'refused', text.unreadable);
    return;
  }
  if (!file.size) { fail(item, 'refused', text.empty); return; }
  if (format !== 'picture') { fail(item, 'refused', format === 'pdf' ? text.pdf : text.format); return; }
  URL.revokeObjectURL(item.before);
  item.before = URL.createObjectURL(file);
  item.size = await measure(item.before);
  if (item.size) find('.thumb', item.row).src = item.before;
  const { width, height } = item.size || {};
  if (item.stop.signal.aborted) show(item, 'cancelled', text.cancelled);
  else if (width * height > limits.pixels) fail(item, 'tooLarge', text.limitPixels((width * height / 1e6).toFixed(1)));
  else if (Math.min(width, height) < limits.side) fail(item, 'refused', text.limitSide);
  else if (file.size > limits.bytes) fail(item, 'tooLarge', text.limitBytes(megabytes(file.size)));
  else show(item, 'waiting', text.waiting);
};

// shrink makes a JPEG that is within the limits, or nothing.
const shrink = async (file) => {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, 4000 / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(bitmap.width * scale);
  canvas.height = Math.round(bitmap.height * scale);
  const pen = canvas.getContext('2d');
  pen.fillStyle = '#fff'; // what is transparent is paper
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  for (const quality of [0.92, 0.8, 0.6]) {
    const blob = await new Promise((resolve) => { canvas.toBlob(resolve, 'image/jpeg', quality); });
    if (blob && blob.size <= limits.bytes) return blob;
  }
  return null;
};

const add = async (files) => {
  const fresh = Array.from(files, (file) => {
    const row = find('#item').content.firstElementChild.cloneNode(true);
    const item = { file, name: file.name, row, stop: new AbortController() };
    find('.name', row).textContent = item.name;
    find('progress', row).setAttribute('aria-label', item.name);
    for (const control of row.querySelectorAll('[data-do]')) {
      control.setAttribute('aria-label', text.named(control.textContent, item.name));
      const act = actions[control.dataset.do];
      if (act) control.addEventListener('click', () => act(item));
    }
    queue.push(item);
    list.append(row);
    show(item, 'working', text.preparing);
    return item;
  });
  if (fresh.length) announce(text.added(fresh.length));
  for (const item of fresh) {
    await examine(item);
    if (item.state === 'waiting') resume();
  }
};

// --- Who sends: a guest solves a proof of work for each page

const fromHex = (hex) => Uint8Array.from(hex.match(/../g) || [], (pair) => parseInt(pair, 16));
const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

// derive is the PBKDF2 key of one try.
const derive = async (task, counter) => {
  const nonce = fromHex(task.nonce);
  const password = new Uint8Array(nonce.length + 4);
  password.set(nonce);
  new DataView(password.buffer).setUint32(nonce.length, counter);
  const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits']);
  const bits = await crypto.subtle.deriveBits(
    { name: 'PBKDF2', hash: 'SHA-256', salt: fromHex(task.salt), iterations: task.cost }, key, 8 * task.keyLength);
  return toHex(new Uint8Array(bits));
};

// solve finds the counter whose key begins as the challenge says, with many tries under way on all cores.
const solve = async (challenge, signal) => {
  const task = challenge.parameters;
  if (!crypto.subtle) throw new Refused(text.insecure);
  for (let first = 0; ; first += triesAtOnce) {
    signal.throwIfAborted();
    const keys = await Promise.all(Array.from({ length: triesAtOnce }, (_, i) => derive(task, first + i)));
    const hit = keys.findIndex((key) => key.startsWith(task.keyPrefix));
    if (hit >= 0) return btoa(JSON.stringify({ challenge, solution: { counter: first + hit, derivedKey: keys[hit] } }));
  }
};

const get = (path, signal) => fetch(path, { signal }).catch((error) => {
  throw signal.aborted ? error : new Refused(text.lost, { wait: 5, counts: true });
});

// device is what a guest's daily allowance is counted by.
const device = () => {
  const made = localStorage.getItem('device') || toHex(crypto.getRandomValues(new Uint8Array(16)));
  localStorage.setItem('device', made);
  return made;
};

// identify adds what a guest needs; who is logged in, and an open service, need nothing.
const identify = async (data, signal) => {
  guest = (await get('/api/me', signal)).status === 401;
  if (!guest) return;
  const response = await get('/api/bot-challenge', signal);
  const challenge = await response.json().catch(() => ({}));
  if (!response.ok) throw refusal(response.status, challenge, (name) => response.headers.get(name));
  if (!challenge.parameters) throw new Refused(text.turnstile);
  data.set('deviceId', device());
  data.set('cfTurnstileToken', await solve(challenge, signal));
};

// --- Sending

// refusal says in plain words what an answer means.
const refusal = (status, answer, header) => {
  const { error, message, limitType, retryAfter } = answer || {};
  const id = header('X-Request-Id') || '';
  const wait = retryAfter || Number(header('Retry-After')) || 0;
  switch (status) {
    case 402: return new Refused(guest ? text.outGuest : text.outUser, { id, out: true });
    case 429: return new Refused(text.limited[limitType] || text.limited.other, { id, wait: wait || 60 });
    case 503: return new Refused(text.busy, { id, wait: wait || 5, counts: true });
    default: return new Refused(text.errors[error] || (message ? sentence(message) : text.odd(status)), { id });
  }
};

const send = (item, data, signal) => new Promise((resolve, reject) => {
  signal.throwIfAborted();
  const request = new XMLHttpRequest(); // fetch does not tell how much was sent
  signal.addEventListener('abort', () => request.abort());
  request.open('POST', '/api/process-image');
  request.responseType = 'json';
  request.upload.onprogress = (sent) => {
    const part = sent.total ? sent.loaded / sent.total : 0;
    show(item, 'working', text.uploading(Math.floor(100 * part)), part);
  };
  request.upload.onload = () => show(item, 'working', text.cleaning);
  request.onload = () => {
    const media = request.response?.data?.data?.mediaId;
    if (request.status === 200 && media) resolve(media);
    else reject(refusal(request.status, request.response, (name) => request.getResponseHeader(name)));
  };
  request.onerror = () => reject(new Refused(text.lost, { wait: 5, counts: true }));
  request.onabort = () => reject(signal.reason);
  request.send(data);
});

const kinds = [['iVBOR', 'png', 'image/png'], ['UklGR', 'webp', 'image/webp'], ['', 'jpg', 'image/jpeg']];

const keep = (item, media) => {
  const [, suffix, type] = kinds.find(([head]) => media.startsWith(head));
  const blob = new Blob([Uint8Array.from(atob(media), (c) => c.charCodeAt(0))], { type });
  item.after = URL.createObjectURL(blob);
  item.saved = `${item.name.replace(/\.[^.]*$/, '') || 'page'}.clean.${suffix}`;
  Object.assign(find('.download', item.row), { href: item.after, download: item.saved });
  show(item, 'done', text.done(megabytes(blob.size)));
  announce(text.announce(item.name, text.done(megabytes(blob.size))));
  if (!viewed) actions.show(item);
};

// pause counts down, and ends early when the user or a connection that is back says so.
const pause = (item, error, signal) => new Promise((resolve, reject) => {
  const until = Date.now() + 1000 * error.wait;
  const end = (settle) => {
    clearInterval(timer);
    removeEventListener('online', item.wake);
    settle(signal.reason);
  };
  const tick = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    if (left > 0) show(item, 'pausing', text.goingOn(error.message, clock(left)));
    else end(resolve);
  };
  const timer = setInterval(tick, 500);
  item.wake = () => end(resolve);
  if (error.message === text.lost) addEventListener('online', item.wake);
  signal.addEventListener('abort', () => end(reject));
  tick();
  announce(text.announce(item.name, find('.state', item.row).textContent));
});

const halt = async (item, error) => {
  halted = true;
  show(item, 'waiting', text.waiting);
  const sold = await fetch('/pricing', { method: 'HEAD' }).then((response) => response.ok, () => false);
  find('p', notice).textContent = sold ? error.message : `${error.message} ${text.notSold}`;
  find('a', notice).hidden = !sold;
  notice.hidden = !halted;
};

const clean = async (item) => {
  item.stop = new AbortController();
  const { signal } = item.stop;
  for (let tries = 1; ; ) {
    try {
      show(item, 'working', text.preparing);
      const data = new FormData(find('#options'));
      if (queue.length > 1) data.set('isBulkProcessing', 'true');
      await identify(data, signal);
      data.set('image', item.file, item.name);
      keep(item, await send(item, data, signal));
      return;
    } catch (error) {
      if (signal.aborted) { show(item, 'cancelled', text.cancelled); return; }
      if (error.out) { await halt(item, error); return; }
      if (error.counts) tries++;
      if (!error.wait || tries > maxTries) { fail(item, 'failed', error.message, error.id); return; }
      await pause(item, error, signal).catch(() => {});
    }
  }
};

const run = async () => {
  if (running) return;
  running = true;
  for (let item; !halted && (item = queue.find(({ state }) => state === 'waiting'));) await clean(item);
  running = false;
};

const resume = () => {
  halted = false;
  notice.hidden = true;
  run();
};

// --- The ways in: pick, photograph, drop, paste

for (const input of document.querySelectorAll('input[type=file]')) {
  input.addEventListener('change', () => {
    add(input.files);
    input.value = '';
  });
}
addEventListener('paste', (event) => add(event.clipboardData.files));
for (const kind of ['dragenter', 'dragover', 'dragleave', 'drop']) {
  addEventListener(kind, (event) => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    document.body.classList.toggle('dropping', kind === 'dragenter' || kind === 'dragover');
    if (kind === 'drop') add(event.dataTransfer.files);
  });
}
slider.addEventListener('input', () => split(slider.value));
find('button', notice).addEventListener('click', resume);
addEventListener('beforeunload', (event) => { if (running) event.preventDefault(); });
