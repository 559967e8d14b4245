import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inside } from '../lab/lab.ts';
import type { Bound } from './bounds.ts';
import { type BenchFleet, SYSTEM } from './fleet.ts';
import { measure, middle, quickest, type Row } from './measure.ts';
import { addresses, plan, type Bench } from './sweep.ts';

/** Starts a program of the bench in the fleet's network; returns when it is ready. */
async function background({ fleet, programs }: Bench, name: string, ...args: readonly string[]): Promise<ChildProcess> {
  const [enter, ...words] = fleet.enter;
  const child = spawn(enter!, [...words, 'node', programs.own(name), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

/** A proxy before every host's sshd. */
const delayed = (bench: Bench, port: number, oneWayMs: number): Promise<ChildProcess> =>
  background(bench, 'delay-proxy', String(port), String(bench.fleet.port), String(oneWayMs));

/** Round trips that `plan` costs a host: what 500 ms more for each cost it. TCP's own is not delayed: one more. */
export async function roundTrips(bench: Bench): Promise<readonly Bound[]> {
  const walls: number[] = [];
  for (const [port, oneWayMs] of [
    [2301, 0],
    [2302, 250],
  ] as const) {
    const proxy = await delayed(bench, port, oneWayMs);
    const rows: Row[] = [];
    for (let i = 0; i < 3; i++)
      rows.push(await plan(bench, `plan, ${String(2 * oneWayMs)} ms`, addresses(bench.fleet, 1), bench.asChecks, port));
    proxy.kill();
    walls.push(quickest(rows).wall);
    bench.say(quickest(rows));
  }
  const measured = (walls[1]! - walls[0]!) / 0.5 + 1;
  return [{ name: 'round trips of plan', measured, unit: '', limit: 10, fine: 'at most' }];
}

/** Memory of a process that holds 500 connections. */
export async function held(bench: Bench): Promise<readonly Bound[]> {
  const { fleet, programs } = bench;
  const args = [fleet.identityFile, fleet.knownHostsFile, String(fleet.port), ...addresses(fleet, 500)];
  const row = await measure(fleet, '500 connections held', 500, ['node', programs.own('held'), ...args]);
  bench.say(row);
  return [
    { name: 'memory at 500 held connections', measured: Number(row.stdout), unit: 'MiB', limit: 114, fine: 'at most' },
  ];
}

/** Seconds after which a host that does not answer is given up. */
const CONNECT_S = 10;

/** One of 50 hosts swallows every packet. */
export async function blackHole(bench: Bench): Promise<readonly Bound[]> {
  const { fleet } = bench;
  const lost = fleet.address(24);
  const all = await plan(bench, 'plan, none of 50 black-holed', addresses(fleet, 50), bench.asChecks);
  bench.say(all);
  await inside(SYSTEM, `iptables -I INPUT -d ${lost} -p tcp --dport ${String(fleet.port)} -j DROP`);
  try {
    const row = await plan(
      bench,
      'plan, one of 50 black-holed',
      addresses(fleet, 50),
      bench.asChecks,
      fleet.port,
      [3, 6],
    );
    bench.say(row);
    const log = readFileSync(join(fleet.folder, `inventory-50-${String(fleet.port)}.yaml.log`), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    // The log is appended to by every run: the last one counts.
    const run = log.slice(log.findLastIndex(({ kind }) => kind === 'connecting'));
    const named = run.findIndex(({ kind, host }) => kind === 'unreachable' && host === 'h24');
    const before = run.slice(0, named).filter(({ command }) => command === 'the 25 checks');
    return [
      {
        name: 'one of 50 black-holed: time beyond the 10 s to connect, over a plan of 50',
        measured: (row.wall - CONNECT_S) / all.wall,
        unit: '×',
        limit: 1.3,
        fine: 'at most',
        beside: `${row.wall.toFixed(2)} s, ${all.wall.toFixed(2)} s without it`,
      },
      {
        name: 'one of 50 black-holed: others done before',
        measured: before.length,
        unit: '',
        limit: 49,
        fine: 'at least',
      },
    ];
  } finally {
    await inside(SYSTEM, `iptables -D INPUT -d ${lost} -p tcp --dport ${String(fleet.port)} -j DROP`);
  }
}

/** Thousands of hosts, played by one server: what kbuild itself costs a host must not grow with their number. */
export async function many(bench: Bench, counts: readonly number[]): Promise<readonly Bound[]> {
  const { fleet } = bench;
  const at = (name: string) => join(fleet.folder, name);
  const server = await background(
    bench,
    'server',
    '2400',
    at('host'),
    at('login.pub'),
    bench.asChecks['KBUILD_BENCH_RECORDED']!,
  );
  const { KBUILD_BENCH_SYSTEM } = bench.asProbes;
  const rows: Row[] = [];
  try {
    for (const count of counts) {
      const env = { KBUILD_BENCH_SYSTEM: KBUILD_BENCH_SYSTEM! };
      const row = await plan(bench, 'plan, simulated hosts', addresses(fleet, count), env, 2400);
      bench.say(row);
      rows.push(row);
    }
  } finally {
    server.kill();
  }
  const perHost = ({ wall, hosts }: Row): number => wall / hosts;
  return [
    {
      name: `time a host, ${String(counts.at(-1))} hosts over ${String(counts[0])}`,
      measured: perHost(rows.at(-1)!) / perHost(rows[0]!),
      unit: '×',
      limit: 1.15,
      fine: 'at most',
    },
    ...rows
      .filter(({ hosts }) => hosts === 5000)
      .flatMap(({ wall, memory }): readonly Bound[] => [
        { name: 'plan of 5000 simulated hosts', measured: wall, unit: 's', limit: 50, fine: 'at most' },
        { name: 'memory of that plan', measured: memory, unit: 'MiB', limit: 1024, fine: 'at most' },
      ]),
  ];
}

/** The same with OpenSSH and what the host has, login and all. */
const plainCopy = (fleet: BenchFleet, from: string): string =>
  `ssh -F none -o BatchMode=yes -o UserKnownHostsFile=${fleet.knownHostsFile} -i ${fleet.identityFile} -p 2303 root@${fleet.address(0)} 'cat >/run/bench/plain && sha256sum /run/bench/plain && rm /run/bench/plain' <${from}`;

/** 100 MB to a host that is 20 ms away. */
export async function push(bench: Bench): Promise<readonly Bound[]> {
  const { fleet, programs } = bench;
  const from = join(fleet.folder, 'bundle');
  writeFileSync(from, randomBytes(100_000_000));
  const proxy = await delayed(bench, 2303, 10);
  const speeds: number[] = [];
  const plainSpeeds: number[] = [];
  try {
    for (let i = 0; i < 3; i++) {
      const plain = await measure(fleet, '100 MB at 20 ms, ssh', 1, ['sh', '-c', plainCopy(fleet, from)]);
      bench.say(plain);
      plainSpeeds.push(100 / plain.wall);
      const args = [fleet.identityFile, fleet.knownHostsFile, '2303', fleet.address(0), from, '/run/bench/bundle'];
      const row = await measure(fleet, '100 MB at 20 ms', 1, ['node', programs.own('push'), ...args]);
      bench.say(row);
      speeds.push(Number(row.stdout));
    }
  } finally {
    proxy.kill();
  }
  const hash = (await inside(SYSTEM, 'sha256sum /run/bench/bundle; rm /run/bench/bundle')).stdout.split(' ')[0];
  if (hash !== createHash('sha256').update(readFileSync(from)).digest('hex'))
    throw new Error('the file arrived changed');
  execFileSync('rm', [from]);
  const median = (some: readonly number[]): number => some.toSorted((a, b) => a - b)[1]!;
  const [mine, plain] = [median(speeds), median(plainSpeeds)];
  return [
    {
      name: '100 MB at 20 ms, verified by hash, over `ssh HOST "cat; sha256sum"`',
      measured: mine / plain,
      unit: '×',
      limit: 0.5,
      fine: 'at least',
      beside: `${mine.toFixed(0)} MB/s beside ${plain.toFixed(0)} MB/s`,
    },
  ];
}

/**
 * The CPU of a start beside that of a node that does nothing, in turns. A bare node takes 24 ms: `validate` at 8 times
 * that is done in less than 250 ms on a machine that does nothing else.
 */
export async function start({ fleet, programs, say }: Bench): Promise<readonly Bound[]> {
  const kbuild = [process.execPath, programs.kbuild];
  const inventory = fileURLToPath(new URL('../../inventories/stacked-kube-vip.yaml', import.meta.url));
  const commands = {
    'bare node': [process.execPath, '-e', '0'],
    'kbuild --version': [...kbuild, '--version'],
    'kbuild validate': [...kbuild, 'validate', inventory],
  };
  const rows = new Map<string, Row[]>(Object.keys(commands).map((who) => [who, []]));
  for (let i = 0; i < 11; i++)
    for (const [who, command] of Object.entries(commands)) rows.get(who)!.push(await measure(fleet, who, 0, command));
  const [bare, version, validate] = [...rows.values()].map(middle) as [Row, Row, Row];
  for (const row of [bare, version, validate]) say(row);
  const ms = (seconds: number): string => `${(seconds * 1000).toFixed(0)} ms`;
  return [
    {
      name: 'CPU of `--version` over a bare node',
      measured: (version.cpu - bare.cpu) * 1000,
      unit: 'ms',
      limit: 60,
      fine: 'at most',
      beside: `${ms(version.cpu)}, and ${ms(bare.cpu)}`,
    },
    {
      name: 'CPU of `validate` over that of a bare node',
      measured: validate.cpu / bare.cpu,
      unit: '×',
      limit: 8,
      fine: 'at most',
      beside: `${ms(validate.cpu)}, and ${ms(bare.cpu)}`,
    },
  ];
}
