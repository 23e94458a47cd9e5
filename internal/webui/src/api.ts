// Calls of the service with JSON in and out.
import { t } from './page';

/** An answer that refuses, or none: status 0. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string, // such as NOT_LOGGED_IN
    message: string, // in the page's language where we know the code, else what the service says
    readonly request: string, // its id, for whoever helps
    readonly retryAfter: number, // seconds
  ) {
    super(message);
  }
}

/** What GET /api/me answers, as far as pages use it. */
export interface Me {
  userId: string;
  email?: string;
  role?: string;
  account: { credits: number };
}

/** Sends a request, with a body as JSON where there is one, and returns the answer's JSON; null of an empty one. */
export async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal, headers: Record<string, string> = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      ...(signal && { signal }),
      headers: body === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refusal(0, 'LOST', t('site.js.lost'), '', 0);
  }
  const answer = response.status === 204 ? null : await response.json().catch(() => null);
  if (!response.ok) throw refusal(response.status, answer, (name) => response.headers.get(name));
  return answer as T;
}

export interface Failure {
  error?: string;
  message?: string;
  retryAfter?: number;
}

/** Makes of an answer that refuses what a person can read. */
export function refusal(status: number, answer: Failure | null, header: (name: string) => string | null): Refusal {
  const { error = '', message, retryAfter } = answer ?? {};
  const wait = retryAfter || Number(header('Retry-After')) || 0;
  return new Refusal(status, error, said(status, error, message), header('X-Request-Id') ?? '', wait);
}

function said(status: number, error: string, message?: string): string {
  switch (error) {
    case 'VERIFICATION_FAILED': return t('site.js.notVerified');
    case 'NOT_LOGGED_IN': return t('site.js.loggedOut');
    case 'RATE_LIMIT_EXCEEDED': return t('site.js.tooMany');
    case 'REQUEST_TIMEOUT': return t('site.js.tooSlow');
    case 'SERVICE_UNAVAILABLE': return t('site.js.busy');
    case 'INTERNAL_ERROR': return t('site.js.internal');
    case 'INVALID_IMAGE': case 'INVALID_FILE_TYPE': return t('site.js.damaged');
    case 'FILE_TOO_LARGE': case 'IMAGE_TOO_LARGE': return t('site.js.tooLarge');
  }
  if (!message) return t('site.js.odd', { status });
  return message.charAt(0).toUpperCase() + message.slice(1) + (/[.!?]$/.test(message) ? '' : '.');
}
