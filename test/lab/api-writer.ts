/** A client that writes and reads the API through the endpoint all the time, and knows what it was told was written. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { parse } from 'yaml';

const EVERY_MS = 100;
const ANSWER_MS = 2000;
const PATH = '/api/v1/namespaces/default/configmaps';
const LABEL = 'kbuild-writer';

interface Kubeconfig {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string };
  }[];
  readonly users: readonly {
    readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string };
  }[];
}

/** What a writer saw. */
export interface Written {
  /** Writes that the API acknowledged. */
  readonly acknowledged: number;
  /** Writes without an acknowledgement: refused, cut or too late. */
  readonly failed: number;
  /** Acknowledged writes that are not there, or were not when they were read at once. */
  readonly lost: readonly string[];
  /** Milliseconds between two acknowledged writes, or from the last one to the end, at worst. */
  readonly longestGapMs: number;
}

/** An answer that is no success. */
class Denied extends Error {
  readonly status: number;
  constructor(status: number, text: string) {
    super(`${String(status)} ${text.slice(0, 200)}`);
    this.status = status;
  }
}

/** A client that writes. */
export interface Writer {
  /** How many writes were acknowledged so far. */
  readonly acknowledged: () => number;
  readonly stop: () => Promise<Written>;
}

/** Starts writing, and reads back each write that was acknowledged; `stop` ends it and reads everything back once more. */
export function startWriter(kubeconfig: string): Writer {
  // kbuild may write the file anew meanwhile: a client that starts, as kubectl does, reads it again.
  const read = () => {
    const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig;
    const decoded = (text: string): Buffer => Buffer.from(text, 'base64');
    const { server, 'certificate-authority-data': ca } = clusters[0]!.cluster;
    const { 'client-certificate-data': cert, 'client-key-data': key } = users[0]!.user;
    return { server, tls: { ca: decoded(ca), cert: decoded(cert), key: decoded(key) } };
  };

  const ask = (method: string, path: string, body?: object): Promise<string> =>
    new Promise((resolve, reject) => {
      const { server, tls } = read();
      const asked = request(
        `${server}${path}`,
        // A connection of its own each: what hangs must not be used again.
        { ...tls, method, agent: new Agent(), timeout: ANSWER_MS, headers: { 'content-type': 'application/json' } },
        (answer) => {
          let text = '';
          answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
          answer.on('error', reject);
          answer.on('end', () => {
            if ((answer.statusCode ?? 500) < 300) resolve(text);
            else reject(new Denied(answer.statusCode ?? 500, text));
          });
        },
      );
      asked.on('timeout', () => asked.destroy(new Error('timeout')));
      asked.on('error', reject);
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });

  const acknowledged: string[] = [];
  let failed = 0;
  const unread = new Set<string>();
  let lastMs = performance.now();
  let longestGapMs = 0;
  const over = new AbortController();
  const run = `${LABEL}-${Date.now().toString(36)}`;
  const writeAndRead = async (n: number): Promise<void> => {
    const name = `${run}-${String(n)}`;
    await ask('POST', PATH, { metadata: { name, labels: { app: run } }, data: { n: String(n) } });
    acknowledged.push(name);
    longestGapMs = Math.max(longestGapMs, performance.now() - lastMs);
    lastMs = performance.now();
    try {
      await ask('GET', `${PATH}/${name}`);
    } catch (error) {
      // No answer says nothing; that it is not there is a loss, even where it is there again later.
      if (error instanceof Denied && error.status === 404) unread.add(name);
    }
  };
  const work = (async () => {
    for (let n = 0; !over.signal.aborted; n++) {
      const began = performance.now();
      try {
        await writeAndRead(n);
      } catch {
        // Nothing was promised.
        failed += 1;
      }
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, EVERY_MS - (performance.now() - began))));
    }
  })();
  return {
    acknowledged: () => acknowledged.length,
    stop: async () => {
      over.abort();
      await work;
      longestGapMs = Math.max(longestGapMs, performance.now() - lastMs);
      const { items } = JSON.parse(await ask('GET', `${PATH}?labelSelector=app%3D${run}`)) as {
        items: { metadata: { name: string } }[];
      };
      const there = new Set(items.map(({ metadata }) => metadata.name));
      return {
        acknowledged: acknowledged.length,
        failed,
        lost: acknowledged.filter((name) => unread.has(name) || !there.has(name)),
        longestGapMs: Math.round(longestGapMs),
      };
    },
  };
}
