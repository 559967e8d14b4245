import { request } from 'node:https';

/** How a simulated program reaches the API server. */
export interface ApiAccess {
  /** `https://host:port` */
  readonly server: string;
  /** PEM; none: any certificate is taken, as kubeadm does for its first question. */
  readonly ca?: string;
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
  /** How long a server that does not answer is asked again, ms. Default 0. */
  readonly patienceMs?: number;
}

/** What the API server said when it did not do what was asked. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  constructor(method: string, path: string, status: number, said: string) {
    super(`${method} ${path}: ${String(status)} ${said}`);
    this.status = status;
  }
}

/** A client of one server with one identity. */
export interface Api {
  get(path: string): Promise<Record<string, unknown>>;
  create(path: string, body: object): Promise<Record<string, unknown>>;
  /** A strategic merge patch. */
  patch(path: string, body: object): Promise<Record<string, unknown>>;
  delete(path: string, body?: object): Promise<Record<string, unknown>>;
}

const PATIENCE_MS = 10_000;

/** Requests of their own, no connection is kept: a server that is restarted costs one of them. @throws ApiError, and whatever the network says */
export function apiOf(access: ApiAccess): Api {
  const once = (
    method: string,
    path: string,
    body?: object,
    type = 'application/json',
  ): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const asked = request(
        new URL(path, access.server),
        {
          method,
          agent: false,
          timeout: PATIENCE_MS,
          rejectUnauthorized: access.ca !== undefined,
          ...(access.ca === undefined ? {} : { ca: access.ca }),
          ...(access.cert === undefined ? {} : { cert: access.cert }),
          ...(access.key === undefined ? {} : { key: access.key }),
          headers: {
            accept: 'application/json',
            ...(access.token === undefined ? {} : { authorization: `Bearer ${access.token}` }),
            ...(text === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) }),
          },
        },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () => {
            const said = Buffer.concat(chunks).toString('utf8');
            const status = answer.statusCode ?? 0;
            if (status < 200 || status > 299) {
              const message = /"message":"((?:[^"\\]|\\.)*)"/.exec(said)?.[1] ?? said;
              reject(new ApiError(method, path, status, message));
            } else resolve(JSON.parse(said) as Record<string, unknown>);
          });
        },
      );
      asked.on('timeout', () => asked.destroy(new Error(`${method} ${path}: no answer within ${PATIENCE_MS} ms`)));
      asked.on('error', reject);
      asked.end(text);
    });
  const ask = async (...asked: Parameters<typeof once>): Promise<Record<string, unknown>> => {
    const until = Date.now() + (access.patienceMs ?? 0);
    for (;;) {
      try {
        return await once(...asked);
      } catch (error) {
        if ((error instanceof ApiError && error.status < 500) || Date.now() > until) throw error;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
  };
  return {
    get: (path) => ask('GET', path),
    create: (path, body) => ask('POST', path, body),
    patch: (path, body) => ask('PATCH', path, body, 'application/strategic-merge-patch+json'),
    delete: (path, body) => ask('DELETE', path, body),
  };
}
