// The engine in a worker of Node.
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type * as ort from 'onnxruntime-web/wasm';
import { serve } from '../src/worker/host';

/** The package onnxruntime-node, which has the same interface, if who uses this one has installed it. */
async function native(): Promise<typeof ort | undefined> {
  const name = 'onnxruntime-node';
  try {
    return (await import(name) as { default: typeof ort }).default;
  } catch {
    return undefined;
  }
}

parentPort!.on('message', serve({
  tell: (news) => parentPort!.postMessage(news),
  read: async (address) => new Response(await readFile(new URL(address))),
  open: async (picture) => new Uint8Array(await picture.arrayBuffer()),
  threads: Math.min(availableParallelism(), 8),
  native,
}));
