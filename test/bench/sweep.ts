import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ansible } from './ansible.ts';
import type { Bound } from './bounds.ts';
import type { BenchFleet } from './fleet.ts';
import { benchInventory } from './inventory.ts';
import { measure, middle, type Row } from './measure.ts';
import type { Programs } from './programs.ts';

/** What the sweep measures with. */
export interface Bench {
  readonly fleet: BenchFleet;
  readonly programs: Programs;
  /** The 25 checks, and kbuild's own script, as files. */
  readonly checks: string;
  readonly probes: string;
  /** Environment of kbuild: with the probes, or with the 25 checks instead. */
  readonly asProbes: Readonly<Record<string, string>>;
  readonly asChecks: Readonly<Record<string, string>>;
  readonly ansible: Ansible | undefined;
  readonly say: (row: Row) => void;
}

/** 6: the checks of a bench on one machine may find something; the plan is there all the same. */
const PLANNED = [0, 6];

/** Addresses of the first hosts of the fleet. */
export const addresses = (fleet: BenchFleet, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => fleet.address(index));

/** `kbuild plan` of some hosts; `port` is where they are reached. */
export async function plan(
  { fleet, programs }: Bench,
  who: string,
  hosts: readonly string[],
  env: Readonly<Record<string, string>>,
  port = fleet.port,
  statuses: readonly number[] = PLANNED,
): Promise<Row & { readonly stdout: string }> {
  const file = join(fleet.folder, `inventory-${String(hosts.length)}-${String(port)}.yaml`);
  // A line a host, as a user has it: the pattern that the others use costs nothing to look up.
  const knownHostsFile = `${file}.known_hosts`;
  const key = readFileSync(join(fleet.folder, 'host.pub'), 'utf8');
  writeFileSync(knownHostsFile, hosts.map((one) => `[${one}]:${String(port)} ${key}`).join(''));
  writeFileSync(file, await benchInventory({ ...fleet, port, knownHostsFile }, hosts));
  const command = ['node', programs.kbuild, 'plan', file, '--log-file', `${file}.log`];
  return measure(fleet, who, hosts.length, command, { env, statuses });
}

/** All contestants with the 25 checks on `count` hosts, in turns; the middle of `times` for the two that are compared. */
export async function sweep(bench: Bench, count: number, times: number): Promise<readonly Row[]> {
  const { fleet, programs, checks, ansible, say } = bench;
  const hosts = addresses(fleet, count);
  const floors: Row[] = [];
  const plans: Row[] = [];
  for (let i = 0; i < times; i++) {
    const floor = ['node', programs.own('floor'), String(fleet.port), fleet.identityFile, checks, ...hosts];
    floors.push(await measure(fleet, 'floor', count, floor));
    plans.push(await plan(bench, 'kbuild plan', hosts, bench.asChecks));
    say(floors.at(-1)!);
    say(plans.at(-1)!);
  }
  const rows = [middle(floors), middle(plans)];
  const ssh = `-F none -o BatchMode=yes -o UserKnownHostsFile=${fleet.knownHostsFile} -i ${fleet.identityFile} -p ${String(fleet.port)}`;
  const xargs = `printf '%s\\n' ${hosts.join(' ')} | xargs -P20 -I{} sh -c 'ssh ${ssh} root@{} /bin/sh -s <${checks} >/dev/null 2>&1'`;
  rows.push(await measure(fleet, 'xargs ssh', count, ['sh', '-c', xargs]));
  say(rows.at(-1)!);
  if (ansible !== undefined && count <= 50) {
    rows.push(await measure(fleet, 'ansible, 25 tasks', count, ansible.command('tasks', hosts), { env: ansible.env }));
    say(rows.at(-1)!);
    rows.push(await measure(fleet, 'ansible, 1 task', count, ansible.command('one', hosts), { env: ansible.env }));
    say(rows.at(-1)!);
  }
  return rows;
}

/** kbuild's own script instead of the 25 checks, beside the floor that runs the same, and one whose script is empty. */
export async function sweepProbes(bench: Bench, count: number): Promise<readonly Row[]> {
  const { fleet, programs, probes, say } = bench;
  const hosts = addresses(fleet, count);
  const nothing = join(fleet.folder, 'nothing');
  writeFileSync(nothing, '');
  const floor = (script: string) => [
    'node',
    programs.own('floor'),
    String(fleet.port),
    fleet.identityFile,
    script,
    ...hosts,
  ];
  const rows = [
    await measure(fleet, 'floor, empty script', count, floor(nothing)),
    await measure(fleet, 'floor, probes', count, floor(probes)),
    await plan(bench, 'kbuild plan, probes', hosts, bench.asProbes),
  ];
  rows.forEach(say);
  return rows;
}

/** What the sweeps promise, each beside what a contestant took in the same run: another machine is quicker or slower at both. */
export function sweepBounds(rows: readonly Row[]): readonly Bound[] {
  const row = (who: string, hosts: number) => rows.find((one) => one.who === who && one.hosts === hosts);
  const compared = (
    [mine, theirs]: readonly [string, string],
    name: string,
    what: 'wall' | 'cpu',
    limit: number,
    sizes = [50, 200, 500],
  ): readonly Bound[] =>
    sizes.flatMap((hosts) => {
      const [a, b] = [row(mine, hosts), row(theirs, hosts)];
      if (a === undefined || b === undefined) return [];
      const beside = `${a[what].toFixed(2)} s beside ${b[what].toFixed(2)} s`;
      return [
        {
          name: `${name}, ${String(hosts)} hosts`,
          measured: a[what] / b[what],
          unit: '×',
          limit,
          fine: 'at most',
          beside,
        },
      ];
    });
  const [plans, withProbes] = [
    ['kbuild plan', 'floor'],
    ['kbuild plan, probes', 'floor, probes'],
  ] as const;
  return [
    ...compared(plans, 'plan over the floor', 'wall', 1.3),
    ...compared(['kbuild plan', 'xargs ssh'], 'plan over xargs -P20 ssh', 'wall', 1),
    ...compared(withProbes, 'plan with its own probes over the floor with them', 'wall', 1.3),
    ...compared(
      ['kbuild plan, probes', 'floor, empty script'],
      'plan with its own probes over the floor with an empty script',
      'wall',
      2,
      [200],
    ),
    ...compared(plans, 'CPU of plan over that of the floor', 'cpu', 1.6, [50]),
  ];
}
