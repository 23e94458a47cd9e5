// The service worker keeps the pages for when there is no network, and takes what other apps share.
export {};

declare const self: ServiceWorkerGlobalScope & { site?: Site };
declare const KEEP: string[]; // what the front page loads
declare const ENGINE: string[]; // what cleaning on the device loads besides, when it is first used
declare const LATER: string[]; // what the front page loads when it needs it: for PDFs, touching up, saving
declare const VERSION: string;

/** What `unink site` puts before this script, since a plain web server tells browsers none of it. */
interface Site {
  pages: string[]; // the front page in each language
  page: Record<string, string>; // headers of a page
  worker: Record<string, string>; // headers of a worker's script
}

const service: Site = { pages: [''], page: {}, worker: {} };
const { pages, page: pageHeaders, worker: workerHeaders } = self.site ?? service;

/** The address of a file by its path in the folder that the service worker is in. */
const at = (path: string): string => new URL(path, self.registration.scope).href;

// Another folder of the same host has files of its own under the same names.
const keptHere = `unink-${new URL(self.registration.scope).pathname.slice(1)}`;
const kept = keptHere + VERSION;

self.addEventListener('install', (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(kept);
    await cache.addAll([...pages, ...KEEP.map((name) => `assets/${name}`)].map(at));
    await self.skipWaiting();
  })());
});

self.addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) {
      if (name === kept || name.slice(0, -VERSION.length) !== keptHere) continue;
      await takeOver(name);
      await caches.delete(name);
    }
    await self.clients.claim();
  })());
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const address = request.url.split('?')[0]!;
  const get = request.method === 'GET';
  if (get && address.startsWith(at('assets/'))) event.respondWith(asset(request));
  else if (get && request.mode === 'navigate') event.respondWith(navigation(request));
  else if (request.method === 'POST' && address === at('share')) event.respondWith(share(request));
});

// Who cleans on the device means to do so without a network, all that the page can do.
self.addEventListener('message', ({ data }) => {
  if (data === 'keep') void keepLater();
});

async function keepLater(): Promise<void> {
  const cache = await caches.open(kept);
  for (const address of LATER.map((name) => at(`assets/${name}`))) {
    if (!await cache.match(address)) await cache.add(address);
  }
}

/** Keeps what is large and still the same, so that it need not be loaded again. */
async function takeOver(old: string): Promise<void> {
  const [from, to] = await Promise.all([caches.open(old), caches.open(kept)]);
  for (const address of [...ENGINE, ...LATER].map((name) => at(`assets/${name}`))) {
    const found = await from.match(address);
    if (found) await to.put(address, found);
  }
}

/** Files whose names tell their content are fetched once. */
async function asset(request: Request): Promise<Response> {
  const response = await caches.match(request) ?? await fetched(request);
  return request.url.includes('.worker') ? withHeaders(response, workerHeaders) : response;
}

async function fetched(request: Request): Promise<Response> {
  const response = await fetch(request);
  if (response.ok && response.status === 200) await (await caches.open(kept)).put(request, response.clone());
  return response;
}

/** Pages come from the network; without it, as they were last. */
async function navigation(request: Request): Promise<Response> {
  const [path, query] = request.url.split('?') as [string, string?];
  const address = path.replace(/index\.html$/, '');
  const front = pages.map(at).includes(address);
  const headers = front ? pageHeaders : {};
  try {
    const response = await fetch(request);
    const isFresh = response.ok && front && !query;
    if (isFresh) await (await caches.open(kept)).put(address, response.clone());
    return withHeaders(response, headers);
  } catch (error) {
    const found = await caches.match(front ? address : request);
    if (found) return withHeaders(found, headers);
    throw error;
  }
}

/** A response with headers that the server does not send. */
function withHeaders(response: Response, headers: Record<string, string>): Response {
  const missing = Object.entries(headers);
  if (!missing.length || !response.ok) return response;
  const all = new Headers(response.headers);
  for (const [name, value] of missing) all.set(name, value);
  const { body, status, statusText } = response;
  return new Response(body, { status, statusText, headers: all });
}

/** Puts what another app shares aside for the front page, and opens it. */
async function share(request: Request): Promise<Response> {
  const cache = await caches.open('shared');
  let n = 0;
  for (const file of (await request.formData()).getAll('files')) {
    if (file instanceof File) {
      await cache.put(`/shared/${n++}`, new Response(file, { headers: { 'Content-Type': file.type, 'X-Name': encodeURIComponent(file.name) } }));
    }
  }
  return Response.redirect(at('?shared'), 303);
}
