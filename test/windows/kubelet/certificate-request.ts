import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A private key with the request to certify it for a node, both PEM. */
export async function certificateRequest(node: string): Promise<{ readonly key: string; readonly request: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'kbuild-csr-'));
  try {
    const subject = `/O=system:nodes/CN=system:node:${node}`;
    const files = ['-keyout', 'key', '-out', 'request', '-subj', subject];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    await promisify(execFile)('openssl', ['req', '-new', ...curve, ...files], { cwd: folder });
    const [key, request] = await Promise.all(['key', 'request'].map((name) => readFile(join(folder, name), 'utf8')));
    return { key: key!, request: request! };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
