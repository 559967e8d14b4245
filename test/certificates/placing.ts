/** For scripts that put certificates in their places: a folder of Kubernetes, programs, and a runtime that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** What a script did. */
interface Placed {
  readonly status: number | null;
  readonly stderr: string;
  /** In their order: `place FILE`, below /etc/kubernetes, and `end CONTAINER`. */
  readonly log: readonly string[];
}

/** Makes the folder: `kubernetes` with these files, `job`, where the script runs, and `bin` with its programs. */
export function placesIn(files: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-place-'));
  for (const name of ['bin', 'job', 'kubernetes/pki/etcd']) mkdirSync(join(folder, name), { recursive: true });
  for (const file of files) writeFileSync(join(folder, 'kubernetes', file), 'old');
  program(folder, 'sync', '');
  program(
    folder,
    'mv',
    `for last; do :; done; echo "place \${last#${folder}/kubernetes/}" >>${folder}/log; exec /bin/mv "$@"`,
  );
  return folder;
}

/** Puts a program of this text before all others. */
export function program(folder: string, name: string, text: string): void {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, 'bin', name), 0o755);
}

/** The script, whose function `await` waits for nothing. */
export const withoutWaiting = (text: string): string => {
  const quiet = text.replace(/^await\(\) \{\n[^]*?^\}$/m, 'await() { :; }');
  if (quiet === text) throw new Error('the script has no function await');
  return quiet;
};

/** Runs a script with these functions; a component's container is `old-NAME`. `signal`: what happens when one is ended. */
export function placed(folder: string, text: string, functions: string, signal: string): Placed {
  const ended = `runtime_signal() { echo "end $2" >>${folder}/log; ${signal} }`;
  const { uid, gid } = userInfo();
  const here = text
    .replaceAll('/etc/kubernetes', `${folder}/kubernetes`)
    .replaceAll('-o root -g root', `-o ${String(uid)} -g ${String(gid)}`);
  const { status, stderr } = spawnSync('sh', ['-eu', '-c', `${functions}\n${ended}\n${here}`], {
    cwd: join(folder, 'job'),
    encoding: 'utf8',
    env: { PATH: `${folder}/bin:${process.env['PATH'] ?? ''}` },
  });
  return { status, stderr, log: readFileSync(join(folder, 'log'), 'utf8').trim().split('\n') };
}
