import { BRIDGES } from './network-plan.ts';
import { attempt, run } from './run.ts';
import { withLock } from './flock.ts';

const TAG = ['-m', 'comment', '--comment', 'kbuild-lab'] as const;

/** Hosts of a network reach each other and this machine's address in it; nothing leads out, and nothing in. First rule first. */
const RULES: readonly (readonly string[])[] = [
  ...BRIDGES.map(({ name }) => ['FORWARD', '-i', name, '-o', name, ...TAG, '-j', 'ACCEPT']),
  ['FORWARD', '-i', 'kblab+', ...TAG, '-j', 'REJECT'],
  ['FORWARD', '-o', 'kblab+', ...TAG, '-j', 'DROP'],
  ['INPUT', '-i', 'kblab+', '-d', '10.77.0.0/16', ...TAG, '-j', 'ACCEPT'],
  ['INPUT', '-i', 'kblab+', ...TAG, '-j', 'REJECT'],
];

const iptables = (args: readonly string[]): Promise<{ readonly code: number }> =>
  attempt('iptables', ['-w', '10', ...args]);

/** Makes the bridges and the rules around them, where they are missing. */
export async function networkUp(): Promise<void> {
  await withLock('network', async () => {
    for (const { name, address, mac } of BRIDGES) {
      if ((await attempt('ip', ['link', 'show', name])).code !== 0)
        await run('ip', ['link', 'add', name, 'type', 'bridge']);
      // Without an address of its own a bridge takes the lowest of its ports', and changes it with each host that boots: what others know by ARP is then wrong.
      await run('ip', ['link', 'set', name, 'address', mac]);
      await run('ip', ['address', 'replace', address, 'dev', name]);
      await run('ip', ['link', 'set', name, 'up']);
    }
    const present = await Promise.all(RULES.map(async (rule) => (await iptables(['-C', ...rule])).code === 0));
    if (present.every(Boolean)) return;
    await removeRules();
    for (const [chain, ...rule] of RULES.toReversed()) await run('iptables', ['-w', '10', '-I', chain!, ...rule]);
  });
}

/** Removes bridges, rules and what partitions have left. */
export async function networkDown(): Promise<void> {
  await withLock('network', async () => {
    for (const { name } of BRIDGES) await attempt('ip', ['link', 'delete', name]);
    await removeRules();
    await attempt('nft', ['delete', 'table', 'bridge', 'kblab']);
  });
}

async function removeRules(): Promise<void> {
  for (const rule of RULES) while ((await iptables(['-D', ...rule])).code === 0);
}
