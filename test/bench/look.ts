/** What a look at a cluster costs beside the least that a program on ssh2 does for one: 1 control plane, 2 workers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { bootFresh } from '../lab/fresh.ts';
import { hostSettings } from '../lab/host-settings.ts';
import { inventory, type LabInventory } from '../lab/inventory.ts';
import { down } from '../lab/lab.ts';
import { paths } from '../lab/paths.ts';
import type { Bound } from './bounds.ts';
import { measure, middle, type Row } from './measure.ts';
import type { Programs } from './programs.ts';

const HOSTS = ['lookcp1', 'lookw1', 'lookw2'];
const TIMES = 7;

/** Milliseconds that a packet takes each way in the rows with a delay. */
const ONE_WAY_MS = 15;
const PORT = 2310;

/** 5: the cluster is not healthy, 6: checks find something; what was looked at is the same. */
const FINE = [0, 5, 6];

/** Programs in turns; the middle of each. */
async function inTurns(
  folder: string,
  say: (row: Row) => void,
  programs: Readonly<Record<string, readonly string[]>>,
): Promise<ReadonlyMap<string, Row>> {
  const rows = Object.entries(programs).map(([who, command]) => ({ who, command, measured: [] as Row[] }));
  for (let i = 0; i < TIMES; i++)
    for (const { who, command, measured } of rows) {
      measured.push(await measure({ folder, enter: ['env'] }, who, HOSTS.length, command, { statuses: FINE }));
      say(measured.at(-1)!);
    }
  return new Map(rows.map(({ who, measured }) => [who, middle(measured)]));
}

const over = (rows: ReadonlyMap<string, Row>, who: string, floor: string, limit: number): Bound => {
  const [mine, least] = [rows.get(who)!, rows.get(floor)!];
  const beside = `${mine.wall.toFixed(2)} s beside ${least.wall.toFixed(2)} s, the middle of ${String(TIMES)} each`;
  return { name: `${who} over the floor`, measured: mine.wall / least.wall, unit: '×', limit, fine: 'at most', beside };
};

/** Measures bare hosts, makes a cluster of them, and measures that, without and with a delay. */
export async function look(folder: string, programs: Programs, say: (row: Row) => void): Promise<readonly Bound[]> {
  const proxies: ChildProcess[] = [];
  try {
    await bootFresh(HOSTS);
    const file = join(folder, 'look.yaml');
    const delayed = join(folder, 'look-delayed.yaml');
    const plain: LabInventory = { ...(await inventory(HOSTS)), name: 'look' };
    writeFileSync(file, stringify(plain, { aliasDuplicateObjects: false }));
    const places = HOSTS.map((name) => hostSettings(name).address);
    const kbuild = (command: string, ...more: readonly string[]) => ['node', programs.whole, command, ...more];
    const floor = ['node', programs.own('look-floor'), paths.identityFile, ...places];

    const bare = await inTurns(folder, say, { 'floor, bare hosts': floor, 'plan, bare hosts': kbuild('plan', file) });
    const up = kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'look.conf'));
    say(await measure({ folder, enter: ['env'] }, 'up, 1 + 2', HOSTS.length, up));

    const plan = kbuild('plan', file);
    const rows = await inTurns(folder, say, {
      'floor, cluster': floor,
      status: kbuild('status', file),
      'status --no-hosts': kbuild('status', '--no-hosts', file),
      'plan, unchanged cluster': plan,
    });

    // A proxy before the sshd of each host.
    const keys = readFileSync(paths.knownHostsFile, 'utf8').split('\n');
    const known: string[] = [];
    for (const [i, { address }] of HOSTS.map(hostSettings).entries()) {
      const args = [String(PORT + i), '22', String(ONE_WAY_MS), address];
      const proxy = spawn('node', [programs.own('delay-proxy'), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
      proxies.push(proxy);
      await once(proxy.stdout, 'data');
      const own = keys.filter((line) => line.split(/[ ,]/).includes(address)).map((line) => line.replace(/^\S+/, ''));
      known.push(...own.map((rest) => `[127.0.0.1]:${String(PORT + i)}${rest}`));
    }
    writeFileSync(`${delayed}.known_hosts`, `${known.join('\n')}\n`);
    const ssh = { ...(plain['ssh'] as object), knownHostsFile: `${delayed}.known_hosts` };
    const hosts = plain.hosts.map((host, i) => ({
      ...host,
      ...{ address: '127.0.0.1', ssh: { port: PORT + i }, internalAddress: host.internalAddress ?? host.address },
    }));
    writeFileSync(delayed, stringify({ ...plain, ssh, hosts }, { aliasDuplicateObjects: false }));
    const slow = await inTurns(folder, say, { 'plan, 30 ms': kbuild('plan', delayed), 'plan, no delay': plan });
    const trip = (2 * ONE_WAY_MS) / 1000;

    return [
      over(rows, 'status', 'floor, cluster', 1.5),
      over(rows, 'status --no-hosts', 'floor, cluster', 1),
      over(rows, 'plan, unchanged cluster', 'floor, cluster', 2),
      over(bare, 'plan, bare hosts', 'floor, bare hosts', 2),
      {
        name: 'round trips of plan of a cluster, 30 ms each',
        measured: (slow.get('plan, 30 ms')!.wall - slow.get('plan, no delay')!.wall) / trip + 1,
        ...{ unit: '', limit: 9, fine: 'at most' },
      },
    ];
  } finally {
    for (const proxy of proxies) proxy.kill();
    await down(HOSTS);
  }
}
