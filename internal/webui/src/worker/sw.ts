// The service worker keeps the pages for when there is no network, and takes what other apps share.
export {};

declare const self: ServiceWorkerGlobalScope;
declare const KEEP: string[]; // what the front page loads
declare const ENGINE: string[]; // what cleaning on the device loads besides, when it is first used
declare const VERSION: string;

const kept = `unink-${VERSION}`;

self.addEventListener('install', (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(kept);
    await cache.addAll(['/', ...KEEP.map((name) => `/assets/${name}`)]);
    await self.skipWaiting();
  })());
});

self.addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) {
      if (!name.startsWith('unink-') || name === kept) continue;
      await takeOver(name);
      await caches.delete(name);
    }
    await self.clients.claim();
  })());
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== self.location.origin) return;
  if (request.method === 'GET' && url.pathname.startsWith('/assets/')) event.respondWith(asset(request));
  else if (request.method === 'POST' && url.pathname === '/share') event.respondWith(share(request));
  else if (request.method === 'GET' && request.mode === 'navigate') event.respondWith(navigation(request, url));
});

/** Keeps what is large and still the same, so that it need not be loaded again. */
async function takeOver(old: string): Promise<void> {
  const [from, to] = await Promise.all([caches.open(old), caches.open(kept)]);
  for (const name of ENGINE) {
    const found = await from.match(`/assets/${name}`);
    if (found) await to.put(`/assets/${name}`, found);
  }
}

/** Files whose names tell their content are fetched once. */
async function asset(request: Request): Promise<Response> {
  const found = await caches.match(request);
  if (found) return found;
  const response = await fetch(request);
  if (response.ok && response.status === 200) await (await caches.open(kept)).put(request, response.clone());
  return response;
}

/** Pages come from the network; without it, as they were last. */
async function navigation(request: Request, url: URL): Promise<Response> {
  try {
    const response = await fetch(request);
    if (response.ok && url.pathname === '/' && !url.search) await (await caches.open(kept)).put('/', response.clone());
    return response;
  } catch (error) {
    const found = await caches.match(url.pathname === '/' ? '/' : request);
    if (found) return found;
    throw error;
  }
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
  return Response.redirect('/?shared', 303);
}
