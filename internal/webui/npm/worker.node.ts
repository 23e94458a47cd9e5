// The engine in a worker of Node.
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { serve } from '../src/worker/host';

parentPort!.on('message', serve({
  tell: (news) => parentPort!.postMessage(news),
  read: async (address) => new Response(await readFile(new URL(address))),
  open: async (picture) => new Uint8Array(await picture.arrayBuffer()),
  threads: Math.min(availableParallelism(), 8),
}));
