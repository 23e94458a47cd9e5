// What was removed from a page, to be tinted on the page before.
import { toBlob } from './picture';
import type { Result } from './model';

/** A picture that is opaque where a page was written on: what the engine removed, without what was brought back by hand, and
 * what was erased by hand. */
export async function removedFrom({ handwriting, strokes }: Result): Promise<Blob> {
  if (!strokes.length || !handwriting.size) return handwriting;
  const { trace } = await import('./touch');
  const bitmap = await createImageBitmap(handwriting);
  const canvas = document.createElement('canvas');
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  const pen = canvas.getContext('2d')!;
  pen.drawImage(bitmap, 0, 0);
  bitmap.close();
  for (const stroke of strokes) {
    pen.globalCompositeOperation = stroke.brush === 'restore' ? 'destination-out' : 'source-over';
    pen.fillStyle = pen.strokeStyle = '#000';
    trace(pen, stroke);
  }
  return toBlob(canvas, 'image/png');
}
