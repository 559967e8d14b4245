/** What one observation costs a host: the processes that it starts, and their CPU beside that of a loop of processes. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { framedScript, readFrames } from '../../../src/cluster/fleet/framed-script.ts';
import { linuxProbes } from '../../../src/cluster/fleet/linux.ts';
import { watchedOn } from '../../../src/commands/every.phases.ts';
import { linuxHosts } from '../../../src/inventory/hosts.ts';
import { loadInventory } from '../../../src/library.ts';
import { containerd } from '../../../src/runtime/containerd.value.ts';
import { fresh } from '../fresh.ts';
import { kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok } from '../ok.ts';
import { attempt } from '../run.ts';
import { insideArguments } from '../ssh.ts';

/** Processes of one observation, without the questions to the cluster: 51 and 50 on 2026-11-28, and a few more. */
const MOST = { fpcp1: 55, fpw1: 54 } as const;
const HOSTS = ['fpcp1', 'fpw1'] as const;

/** CPU of one observation beside that of 100 processes which do nothing: 2.6 and 2.0 on 2026-11-28, with room for other machines. */
const MOST_CPU = 4.5;

let file: string;
beforeAll(async () => {
  const made = await fresh('few-processes', HOSTS);
  file = made.file;
  ok(await kbuild(...made.up));
});
afterAll(() => lab.down(HOSTS));

/** The script of all probes of a host, as `kbuild` sends it. */
async function observation(name: string): Promise<string> {
  const { inventory } = await loadInventory({ file });
  const host = linuxHosts(inventory).find((one) => one.name === name)!;
  const probes = Object.entries(linuxProbes(inventory, host, watchedOn(inventory)(host)));
  const commands = Object.fromEntries(probes.map(([fact, { command }]) => [fact, command]));
  // In one batch, however slow the machine is: each further one takes two processes.
  const { script } = framedScript(commands, 'NONCE', { probe: 60, batch: 600 });
  return `set -eu\n{\n${script}\n} </dev/null\n`;
}

/** The processes that a script starts on a host, and what it prints. Threads are none. */
async function traced(name: string, script: string) {
  const trace = join(mkdtempSync(join(tmpdir(), 'kbuild-trace-')), 'trace');
  const options = ['-f', '-qq', '-o', trace, '-e', 'trace=clone,clone3,fork,vfork'];
  const program = ['nsenter', ...insideArguments(name, 'exec /bin/sh -s')];
  const { stdout, stderr } = await attempt('strace', [...options, ...program], { input: script });
  const calls = readFileSync(trace, 'utf8')
    .split('\n')
    .filter((line) => /\b(?:clone3?|v?fork)\(/.test(line) && !line.includes('CLONE_THREAD'));
  // One is nsenter's own.
  return { processes: calls.length - 1, answers: readFrames(stdout, stderr, 'NONCE') };
}

/** Seconds of CPU that a script takes on a host ten times, with all that it starts. */
async function cpuOf(name: string, script: string): Promise<number> {
  const path = '/run/kbuild-few-processes.sh';
  await lab.inside(name, `cat >${path}`, script);
  const times = `TIMEFORMAT='%U %S'; time (for i in 1 2 3 4 5 6 7 8 9 10; do sh ${path} >/dev/null 2>&1; done)`;
  const { stderr } = await lab.inside(name, times);
  await lab.inside(name, `rm ${path}`);
  const [user = Number.NaN, system = Number.NaN] = stderr.trim().split(' ').map(Number);
  return user + system;
}

test.each(HOSTS)('one observation of %s starts few processes, and answers every probe', async (name) => {
  const { processes, answers } = await traced(name, await observation(name));
  console.log(`one observation of ${name}: ${String(processes)} processes`);
  expect(
    Object.entries(answers).flatMap(([fact, answer]) => ('failed' in answer ? [`${fact}: ${answer.failed}`] : [])),
  ).toEqual([]);
  expect(Object.keys(answers).length).toBeGreaterThan(80);
  // containerd's own dump of it costs more than any other program.
  const { runtimeConfig = { failed: 'no answer' } } = answers;
  const text = 'failed' in runtimeConfig ? runtimeConfig.failed : runtimeConfig.stdout;
  expect(text).toMatch(/^# Written by kbuild/);
  const { parse } = containerd.probes.config;
  const dumped = (await lab.inside(name, 'containerd config dump')).stdout;
  expect(parse(text, { middleMs: 0 })).toEqual(parse(dumped, { middleMs: 0 }));
  expect(processes).toBeLessThanOrEqual(MOST[name]);
});

test.each(HOSTS)('one observation of %s takes at most the CPU of 450 processes that do nothing', async (name) => {
  const floor = await cpuOf(name, `i=0\nwhile [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done\n`);
  const cpu = await cpuOf(name, await observation(name));
  console.log(
    `one observation of ${name}: ${(cpu * 100).toFixed(0)} ms CPU, 100 processes ${(floor * 100).toFixed(0)} ms`,
  );
  expect(cpu / floor).toBeLessThan(MOST_CPU);
});
