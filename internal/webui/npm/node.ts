// The package in Node.
import { Worker } from 'node:worker_threads';
import { client } from './client';

export { UninkError } from './client';

export const { clean, close } = client(() => {
  // Of Node's own arguments some, such as --input-type, are for the program's script alone.
  const worker = new Worker(new URL('./worker.node.js', import.meta.url), { execArgv: [] });
  return {
    send: (order) => worker.postMessage(order),
    hear(told) {
      worker.removeAllListeners();
      worker.on('message', told);
      worker.on('error', (error: Error) => told({ failed: 'ended', message: `the engine has ended: ${error.message}` }));
      worker.on('exit', () => told({ failed: 'ended', message: 'the engine has ended' }));
    },
    hold: (working) => (working ? worker.ref() : worker.unref()),
    end() {
      worker.removeAllListeners();
      void worker.terminate();
    },
  };
});
