// Removes the handwriting from a picture of a page: node clean.mjs page.jpg clean.jpg
// UNINK_URL (such as http://acme.localhost:8080) and UNINK_TOKEN come from the environment.
import { createHash } from 'node:crypto';
import dns from 'node:dns';
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const { UNINK_URL, UNINK_TOKEN } = process.env;
const [picture, result] = process.argv.slice(2);
if (!UNINK_URL || !UNINK_TOKEN || !result) {
  console.error('usage: UNINK_URL=… UNINK_TOKEN=… node clean.mjs PICTURE RESULT');
  process.exit(2);
}

// Names under localhost are found on this machine, as not every system does.
const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup(name.endsWith('.localhost') ? '127.0.0.1' : name, ...rest);

const TRIES = 4; // while the service is busy
const image = await readFile(picture);
const body = JSON.stringify({
  media_id: image.toString('base64'), keep_distortion: false, keep_ori: false,
});
const send = () => fetch(`${UNINK_URL}/cleanup`, {
  method: 'POST',
  headers: {
    Authorization: `Bearer ${UNINK_TOKEN}`,
    'Content-Type': 'application/json; charset=UTF-8',
    Accept: 'image/*',
    // The same page is charged once in 24 hours, however often it is sent.
    'Idempotency-Key': createHash('sha256').update(body).digest('hex'),
  },
  body,
  signal: AbortSignal.timeout(60_000),
});

let response = await send();
for (let tried = 1; [429, 503].includes(response.status) && tried < TRIES; tried++) {
  await sleep(1000 * Math.min(Number(response.headers.get('Retry-After') ?? 1), 60));
  response = await send();
}
if (!response.ok) {
  const { code, message } = await response.json();
  console.error(`HTTP ${response.status}, code ${code}: ${message}`);
  process.exit(1);
}
await writeFile(result, new Uint8Array(await response.arrayBuffer()));
