import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from './flock.ts';
import { GATEWAY } from './network-plan.ts';
import { labDir } from './paths.ts';
import { run } from './run.ts';

const dir = join(labDir, 'tls');

/** A private certificate authority and the certificate of the lab's servers. No host trusts it by itself. */
export const tls = {
  ca: join(dir, 'ca.crt'),
  certificate: join(dir, 'server.crt'),
  key: join(dir, 'server.key'),
} as const;

/** Makes authority and certificate unless they are there. They outlive `down`. */
export async function ensureTls(): Promise<void> {
  await withLock('tls', async () => {
    if (existsSync(dir)) return;
    const fresh = `${dir}.new`;
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { recursive: true, mode: 0o700 });
    const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '3650'];
    const ca = ['-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=kbuild lab CA'];
    const server = [
      '-keyout',
      'server.key',
      '-out',
      'server.crt',
      '-subj',
      '/CN=kbuild lab',
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
    ];
    const extensions = [`subjectAltName=IP:${GATEWAY}`, 'basicConstraints=critical,CA:FALSE'];
    await run('openssl', [...request, ...ca], { cwd: fresh });
    await run('openssl', [...request, ...server, ...extensions.flatMap((value) => ['-addext', value])], { cwd: fresh });
    await rename(fresh, dir);
  });
}
