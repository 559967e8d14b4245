import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from './flock.ts';
import { hostNames, hostSettings } from './host-settings.ts';
import { portOf } from './network-plan.ts';
import { hostDir } from './paths.ts';
import { attempt, run } from './run.ts';

/** What is cut: `all`, or `hosts` only, so that SSH from this machine still reaches the host on eth0. */
export type Cut = 'all' | 'hosts';

/** The file in a host's folder that keeps its links down, also over a reboot. */
const MARK = { all: 'partitioned', hosts: 'partitioned-from-hosts' } as const;

/** Cuts each of the hosts off from every other host, and from this machine too unless `cut` is `hosts`. Connections hang, as in life. */
export async function isolate(names: readonly string[], cut: Cut): Promise<void> {
  for (const name of names) {
    hostSettings(name);
    await writeFile(join(hostDir(name), MARK[cut]), '');
  }
  await applyPartitions();
}

/** Takes the cuts back, of all hosts or of these. */
export async function rejoin(names: readonly string[] = hostNames()): Promise<void> {
  for (const name of names)
    for (const file of Object.values(MARK)) await rm(join(hostDir(name), file), { force: true });
  await applyPartitions();
}

/** Whether and how a host is cut off. */
export function cutOf(name: string): Cut | undefined {
  return (['all', 'hosts'] as const).find((cut) => existsSync(join(hostDir(name), MARK[cut])));
}

/** Makes links and bridge rules what the marks say. */
export async function applyPartitions(): Promise<void> {
  await withLock('partitions', async () => {
    const hosts = hostNames().map((name) => ({ ...hostSettings(name), cut: cutOf(name) }));
    for (const { octet, cut } of hosts) {
      for (const nic of [0, 1] as const)
        await attempt('ip', ['link', 'set', portOf(octet, nic), cut === 'all' ? 'down' : 'up']);
    }
    const ports = hosts
      .filter(({ cut }) => cut === 'hosts')
      .flatMap(({ octet }) => [`"${portOf(octet, 0)}"`, `"${portOf(octet, 1)}"`]);
    // Bridged frames only: what this machine sends and gets is not forwarded.
    const drop =
      ports.length === 0 ? '' : `iifname { ${ports.join(', ')} } drop; oifname { ${ports.join(', ')} } drop;`;
    const chain = `chain forward { type filter hook forward priority 0; ${drop}\n}\n`;
    await run('nft', ['-f', '-'], {
      input: `table bridge kblab\ndelete table bridge kblab\ntable bridge kblab {\n${chain}}\n`,
    });
  });
}
