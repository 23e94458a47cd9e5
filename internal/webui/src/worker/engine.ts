// The engine as the front page has it: the browser decodes the pictures that it can.
import { serve } from './host';
import type { Order } from '../front/orders';

declare const self: DedicatedWorkerGlobalScope;

const take = serve({
  tell: (news) => self.postMessage(news),
  read: (address) => fetch(address),
  open: decode,
  threads: self.crossOriginIsolated ? Math.min(navigator.hardwareConcurrency, 8) : 1,
});
self.onmessage = ({ data }: MessageEvent<Order>) => take(data);

/** A picture's pixels, upright; what is transparent is white paper. What no browser reads, or not this one, as it is. */
async function decode(picture: Blob): Promise<ImageData | Uint8Array> {
  const bitmap = await createImageBitmap(picture).catch(() => null);
  if (!bitmap) return new Uint8Array(await picture.arrayBuffer());
  const { width, height } = bitmap;
  const pen = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })!; // which the processor draws, exactly
  pen.fillStyle = '#fff';
  pen.fillRect(0, 0, width, height);
  pen.drawImage(bitmap, 0, 0);
  bitmap.close();
  return pen.getImageData(0, 0, width, height);
}
