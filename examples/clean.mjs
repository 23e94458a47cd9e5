// Removes the handwriting from a picture of a page: node clean.mjs page.jpg clean.jpg
// UNINK_URL (such as http://acme.localhost:8080) and UNINK_TOKEN come from the environment.
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const { UNINK_URL, UNINK_TOKEN } = process.env;
const [picture, result] = process.argv.slice(2);
if (!UNINK_URL || !UNINK_TOKEN || !result) {
  console.error('usage: UNINK_URL=… UNINK_TOKEN=… node clean.mjs PICTURE RESULT');
  process.exit(2);
}

const image = await readFile(picture);
const body = JSON.stringify({ media_id: image.toString('base64'), keep_distortion: false, keep_ori: false });
const send = () => fetch(`${UNINK_URL}/cleanup`, {
  method: 'POST',
  headers: { Authorization: `Bearer ${UNINK_TOKEN}`, 'Content-Type': 'application/json; charset=UTF-8' },
  body,
  signal: AbortSignal.timeout(60_000),
});

let response = await send();
if (response.status === 429 || response.status === 503) { // busy: come back once
  await sleep(1000 * Number(response.headers.get('Retry-After') ?? 1));
  response = await send();
}
const answer = await response.json();
if (response.status !== 200 || answer.code !== 0) {
  console.error(`HTTP ${response.status}, code ${answer.code}: ${answer.message}`);
  process.exit(1);
}
await writeFile(result, answer.data.data.mediaId, 'base64');
