// The package in browsers.
import { client } from './client';

export { UninkError } from './client';

export const { clean, close } = client(() => {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
  return {
    send: (order) => worker.postMessage(order),
    hear(told) {
      worker.onmessage = ({ data }) => told(data);
      worker.onerror = ({ message }) => told({ failed: 'load', message: `the worker could not be started: ${message}` });
    },
    hold() {},
    end: () => worker.terminate(),
  };
});
