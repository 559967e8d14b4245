import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { fetchHttps } from '../inventory/fetch-https.ts';
import { sha256OfFile } from '../shell/file-hash.ts';

async function responseOf(url: string): Promise<Response> {
  const response = await fetchHttps(url).catch((error: unknown) => {
    throw new Error(`${url} cannot be fetched from here: ${String((error as Error).cause ?? error)}`);
  });
  if (!response.ok) throw new Error(`${url} cannot be fetched from here: status ${String(response.status)}`);
  return response;
}

/** The first SHA-256 (lower-case hex) in the file at `url`. Throws an Error if the file has none or cannot be fetched. */
export async function sumAt(url: string): Promise<string> {
  const sum = /[0-9a-f]{64}/i.exec(await (await responseOf(url)).text())?.[0];
  if (sum === undefined) throw new Error(`no SHA-256 at ${url}`);
  return sum.toLowerCase();
}

/**
 * Fetches a file to this machine, verifies its SHA-256, passes its path to `use`, then removes it. Throws an Error on a
 * mismatch.
 */
export async function fetched<T>(url: string, sha256: string, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'kbuild-'));
  try {
    const file = join(folder, 'file');
    const { body } = await responseOf(url);
    await pipeline(Readable.fromWeb(body as ReadableStream), createWriteStream(file, { mode: 0o600 }));
    const found = await sha256OfFile(file);
    if (found !== sha256) throw new Error(`checksum mismatch: ${url} has SHA-256 ${found}, and ${sha256} was expected`);
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
