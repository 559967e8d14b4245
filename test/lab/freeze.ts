import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostSettings } from './host-settings.ts';
import { PATIENCE_MS, waitUntil } from './wait-until.ts';

const CGROUPS = '/sys/fs/cgroup';
const unified = existsSync(join(CGROUPS, 'cgroup.controllers'));

async function freezer(name: string, state: 'frozen' | 'thawed'): Promise<void> {
  hostSettings(name);
  const dir = join(CGROUPS, unified ? '' : 'freezer', 'kbuild-lab', name);
  const file = join(dir, unified ? 'cgroup.freeze' : 'freezer.state');
  const words = unified ? { frozen: '1', thawed: '0' } : { frozen: 'FROZEN', thawed: 'THAWED' };
  await writeFile(file, words[state]);
  await waitUntil(`${name}: ${state}`, PATIENCE_MS, async () => (await readFile(file, 'utf8')).trim() === words[state]);
}

/** Stops every process of a host where it stands, as a hypervisor does that pauses it. Its kernel still acknowledges what is sent. */
export const freeze = (name: string): Promise<void> => freezer(name, 'frozen');

/** Lets a frozen host go on. */
export const thaw = (name: string): Promise<void> => freezer(name, 'thawed');
