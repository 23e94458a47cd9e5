// Pictures: what can be sent, and other forms of them.
import { number, t, Told } from '../page';

export const limits = { bytes: 5 << 20, pixels: 50e6, side: 16 };

export type Kind = 'pdf' | 'picture' | 'other';

/** Tells a file by its bytes. */
export async function kindOf(file: Blob): Promise<Kind> {
  const head = new Uint8Array(await file.slice(0, 1024).arrayBuffer());
  const ascii = Array.from(head, (byte) => String.fromCharCode(byte)).join('');
  if (ascii.includes('%PDF-')) return 'pdf';
  return /^(\xff\xd8\xff|\x89PNG|GIF8|BM|II\*\0|MM\0\*|RIFF[^]{4}WEBP|[^]{4}ftyp(hei|hev|mif|msf|avi))/.test(ascii) ? 'picture' : 'other';
}

/** A picture's pixels, told without decoding them; null when this browser does not know the format. */
export async function measure(file: Blob): Promise<{ width: number; height: number } | null> {
  const picture = new Image();
  const url = URL.createObjectURL(file);
  try {
    await new Promise((resolve, reject) => {
      picture.onload = resolve;
      picture.onerror = reject;
      picture.src = url;
    });
    return { width: picture.naturalWidth, height: picture.naturalHeight };
  } catch {
    return null;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** A picture as it can be sent: itself, or a smaller one. Why there is none is [Told]. */
export async function sendable(file: Blob): Promise<Blob> {
  const size = await measure(file);
  if (size && Math.min(size.width, size.height) < limits.side) throw new Told(t('front.js.limitSide'));
  if (file.size <= limits.bytes && !(size && size.width * size.height > limits.pixels)) return file;
  const smaller = await shrink(file).catch(() => null);
  if (!smaller) throw new Told(t('front.js.notShrunk'));
  return smaller;
}

/** A size in bytes as people read it. */
export const bytes = (n: number): string =>
  n < 1e6 ? `${number(Math.ceil(n / 1e3))} kB` : `${number(Math.round(n / (1 << 20) * 10) / 10)} MB`;

/** A JPEG of a picture within the limits, or null. */
async function shrink(file: Blob): Promise<Blob | null> {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, 4000 / Math.max(bitmap.width, bitmap.height));
  const canvas = onPaper(bitmap, Math.round(bitmap.width * scale), Math.round(bitmap.height * scale));
  bitmap.close();
  return jpegWithin(canvas);
}

/** A JPEG of a canvas within the limit of bytes, as good as it can be; null if there is none. */
export async function jpegWithin(canvas: HTMLCanvasElement): Promise<Blob | null> {
  for (const quality of [0.92, 0.8, 0.6]) {
    const blob = await toBlob(canvas, 'image/jpeg', quality);
    if (blob.size <= limits.bytes) return blob;
  }
  return null;
}

/** A canvas with a picture on white: what is transparent is paper. */
export function onPaper(picture: ImageBitmap, width = picture.width, height = picture.height): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext('2d', { willReadFrequently: true })!; // which the processor draws, exactly
  pen.fillStyle = '#fff';
  pen.fillRect(0, 0, width, height);
  pen.drawImage(picture, 0, 0, width, height);
  return canvas;
}

export const toBlob = (canvas: HTMLCanvasElement, type: string, quality?: number): Promise<Blob> =>
  new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the canvas gives no picture'))), type, quality);
  });

/** A picture in another format. */
export async function convert(picture: Blob, type: string): Promise<Blob> {
  const bitmap = await createImageBitmap(picture);
  const canvas = onPaper(bitmap);
  bitmap.close();
  return toBlob(canvas, type, 0.92);
}
