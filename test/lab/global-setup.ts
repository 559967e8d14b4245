import { spawnSync } from 'node:child_process';

/** Scenarios run the built program: build it, so that what they test is what is in the checkout. */
export function setup(): void {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('npm run build failed');
}
