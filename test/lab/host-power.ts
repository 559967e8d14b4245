import { spawn } from 'node:child_process';
import { existsSync, openSync, closeSync, readFileSync } from 'node:fs';
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LabError } from './errors.ts';
import { initOf, processesOf, supervisorOf } from './host-processes.ts';
import { hostSettings } from './host-settings.ts';
import { hostDir } from './paths.ts';
import { signal } from './process-id.ts';
import { sshBanner } from './ssh-banner.ts';
import { machineOf, VIRTUAL_MACHINE, VIRTUAL_MACHINE_BOOT_MS } from './virtual-machine.ts';
import { PATIENCE_MS, waitUntil } from './wait-until.ts';

const SCRIPTS = join(import.meta.dirname, 'host');

/** Switches a host on, unless it is on. What is left of a host whose supervisor has died is ended first. */
export async function powerOn(name: string): Promise<void> {
  if (supervisorOf(name) !== undefined) return;
  await cutPower(name);
  const dir = hostDir(name);
  // Copies: an edit of the checkout must not change a script that is being read.
  await rm(join(dir, 'scripts'), { recursive: true, force: true });
  await cp(SCRIPTS, join(dir, 'scripts'), { recursive: true });
  await writeFile(join(dir, 'power'), 'on\n');
  const console = openSync(join(dir, 'console.log'), 'a');
  const child = spawn(join(dir, 'scripts/supervise.sh'), [dir], {
    detached: true,
    stdio: ['ignore', console, console],
    cwd: '/',
  });
  closeSync(console);
  child.unref();
  await waitUntil(`${name}: supervisor`, PATIENCE_MS, () => supervisorOf(name) ?? child.exitCode !== null);
}

/** Takes the power away: everything in the host ends at once, its disk stays as it is. Returns when nothing of it runs. */
export async function cutPower(name: string): Promise<void> {
  await writeFile(join(hostDir(name), 'power'), 'off\n');
  await waitUntil(`${name}: power off`, PATIENCE_MS, () => {
    // SIGKILL to nspawn would leave the host running; its init takes all of it along.
    const init = initOf(name) ?? machineOf(name);
    if (init !== undefined) signal(init, 'SIGKILL');
    else if (supervisorOf(name) === undefined) for (const process of processesOf(name)) signal(process, 'SIGKILL');
    return supervisorOf(name) === undefined && processesOf(name).length === 0;
  });
}

/** Returns when the host's sshd answers, or at once where a partition keeps it from us. Throws LabError with the console's end. */
export async function answering(name: string): Promise<void> {
  if (existsSync(join(hostDir(name), 'partitioned'))) return;
  const { address, os } = hostSettings(name);
  const deadlineMs = os === VIRTUAL_MACHINE ? VIRTUAL_MACHINE_BOOT_MS : PATIENCE_MS;
  try {
    await waitUntil(`${name}: sshd`, deadlineMs, async () => {
      if (await sshBanner(address, 500)) return true;
      if (supervisorOf(name) === undefined) throw new LabError(`${name}: did not boot`);
      return false;
    });
  } catch (error) {
    const console = readFileSync(join(hostDir(name), 'console.log'), 'utf8')
      .split('\n')
      .slice(-15)
      .join('\n');
    throw new LabError(`${(error as Error).message}\n${console}`);
  }
}
