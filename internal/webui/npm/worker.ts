// The engine in a browser's worker. It decodes the pictures itself, alike everywhere.
import { serve } from '../src/worker/host';

const take = serve({
  tell: (news) => self.postMessage(news),
  read: (address) => fetch(address),
  open: async (picture) => new Uint8Array(await picture.arrayBuffer()),
  threads: self.crossOriginIsolated ? Math.min(navigator.hardwareConcurrency, 8) : 1,
});
self.onmessage = ({ data }) => take(data);
