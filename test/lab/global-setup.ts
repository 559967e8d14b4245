import { spawnSync } from 'node:child_process';

/** The process of tests that has built the program: vitest calls each project's set-up in a module of its own. */
const BUILT_BY = 'KBUILD_BUILT_BY';

/** Scenarios run the built program: build it, so that what they test is what is in the checkout. Once a run of tests. */
export function setup(): void {
  // `npm test` has built it, and other parts use it now.
  if (process.env['KBUILD_IS_BUILT'] === '1') return;
  if (process.env[BUILT_BY] === String(process.pid)) return;
  process.env[BUILT_BY] = String(process.pid);
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('npm run build failed');
}
