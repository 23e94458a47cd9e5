// Sends a page to the service and returns what comes back.
import { refusal, Refusal, type Failure } from '../api';
import { proveHuman } from '../bot';
import { page as shown, t } from '../page';
import { whoAmI } from '../site';
import { device, showLeft } from './allowance';
import { reported, type Job, type Page, type Report, type Result } from './model';

/** The options of the form, as they are sent. */
export type Options = Record<string, string>;

interface Answer extends Failure {
  data?: { data?: { mediaId?: string; before?: string; layers?: { handwriting: string }; report?: Report } };
  limitType?: string;
}

/** A page that was not cleaned. */
export class NotCleaned extends Error {
  constructor(
    message: string,
    readonly how: { request?: string; wait?: number; patience?: boolean; out?: boolean; lost?: boolean; unusable?: boolean } = {},
    // wait is in seconds, when to try again by itself; patience says that this is not done for ever; out is without credits;
    // unusable is a picture on which nothing is recognised
  ) {
    super(message);
  }
}

const lost = () => new NotCleaned(t('site.js.lost'), { wait: 5, patience: true, lost: true });

/** Sends a page; told hears of the upload's progress, 0 to 1, which is 1 when the service works on it. */
export async function send(job: Job, page: Page, options: Options, bulk: boolean, signal: AbortSignal, told: (progress: number) => void): Promise<Result> {
  const data = new FormData();
  for (const [name, value] of Object.entries(options)) data.set(name, value);
  data.set('returnLayers', 'true');
  data.set('returnBefore', 'true');
  if (bulk) data.set('isBulkProcessing', 'true');
  if (job.pdf) data.set('isPdfProcessing', 'true');
  await identify(data, job.pdf, signal);
  data.set('image', page.source!, job.pdf ? `page-${page.n}.jpg` : job.name);
  const answer = await post(data, page.key, signal, told);
  void showLeft(); // one fewer
  return resultOf(answer);
}

/** Adds what a guest needs; who is logged in, and an open service, need nothing. */
async function identify(data: FormData, pdf: boolean, signal: AbortSignal): Promise<void> {
  try {
    const me = await whoAmI(signal);
    if (!shown.accounts || me) return;
    data.set('deviceId', device());
    if (!pdf) data.set('cfTurnstileToken', await proveHuman(signal));
  } catch (error) {
    throw error instanceof Refusal ? notCleaned(error) : error;
  }
}

function post(data: FormData, key: string, signal: AbortSignal, told: (progress: number) => void): Promise<Answer> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest(); // fetch does not tell how much was sent
    signal.addEventListener('abort', () => request.abort());
    request.open('POST', '/api/process-image');
    request.setRequestHeader('Idempotency-Key', key);
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => told(total ? loaded / total : 0);
    request.upload.onload = () => told(1);
    request.onload = () => {
      const answer: Answer | null = request.response;
      if (request.status === 200 && answer?.data?.data?.mediaId) resolve(answer);
      else reject(notCleaned(refusal(request.status, answer, (name) => request.getResponseHeader(name)), answer?.limitType));
    };
    request.onerror = () => reject(lost());
    request.onabort = () => reject(signal.reason);
    request.send(data);
  });
}

function notCleaned(why: Refusal, limitType?: string): NotCleaned {
  const { status, code, request, retryAfter, message } = why;
  switch (status) {
    case 0: return lost();
    case 402: return new NotCleaned(message, { request, out: true });
    case 429: return new NotCleaned(windowText(limitType, message), { request, wait: retryAfter || 60 });
    case 503: return new NotCleaned(message, { request, wait: retryAfter || 5, patience: true });
    default: return new NotCleaned(message, status >= 500 ? { request } : { unusable: code === 'INVALID_IMAGE' });
  }
}

function windowText(limitType: string | undefined, otherwise: string): string {
  switch (limitType) {
    case 'minute': return t('front.js.minute');
    case 'hour': return t('front.js.hour');
    default: return otherwise;
  }
}

function resultOf(answer: Answer): Result {
  const { mediaId, before, layers, report } = answer.data!.data!;
  return {
    image: pictureOf(mediaId!),
    handwriting: layers ? pictureOf(layers.handwriting) : new Blob(),
    before: before ? pictureOf(before) : undefined,
    ...reported(report),
    strokes: [],
  };
}

const kinds: [string, string][] = [['iVBOR', 'image/png'], ['UklGR', 'image/webp'], ['', 'image/jpeg']];

function pictureOf(base64: string): Blob {
  const type = kinds.find(([head]) => base64.startsWith(head))![1];
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Blob([bytes], { type });
}
