import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from 'node:events';
import { LabError } from './errors.ts';
import { paths } from './paths.ts';

/**
 * Runs `action` while this process holds the lab's lock of that name; others wait. The kernel frees it when the holder dies,
 * however it dies: the lock belongs to a child that lives as long as its stdin.
 */
export async function withLock<T>(name: string, action: () => Promise<T>): Promise<T> {
  await mkdir(paths.locks, { recursive: true });
  const child = spawn('flock', [join(paths.locks, name), 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true, // a Ctrl-C for us must not free it before we are done
  });
  try {
    await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(() => Promise.reject(new LabError(`cannot take the lock ${name}`))),
    ]);
    return await action();
  } finally {
    child.stdin.end();
  }
}
