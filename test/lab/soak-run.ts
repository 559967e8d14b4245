/** One run of the soak: a cluster built from fresh hosts by a kbuild that is killed at random moments. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { kbuild, start } from './kbuild.ts';
import * as lab from './lab.ts';
import { nodes } from './pods.ts';

/** How a soak run went. */
export interface SoakResult {
  readonly seed: number;
  /** Seconds after its start at which kbuild was killed, one a kill. */
  readonly kills: readonly number[];
  /** Seconds of the whole run. */
  readonly seconds: number;
  /** What was wrong in the end; empty when all was well. */
  readonly problems: readonly string[];
}

/** A small seeded generator (mulberry32): the same seed, the same moments. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Seconds within which a build of three fresh hosts is killed: about what it takes when nobody kills it. */
const KILL_WITHIN_S = 75;
/** A build that nobody kills must end within this many milliseconds. */
const BUILD_MS = 600_000;

async function problemsOf(hosts: readonly string[], file: string): Promise<readonly string[]> {
  const found: string[] = [];
  const ready = await nodes(hosts[0]!);
  for (const host of hosts) if (ready[host] !== true) found.push(`${host} is not Ready`);
  const again = await kbuild('plan', file, '--detailed-exitcode');
  if (again.code !== 0)
    found.push(`the plan afterwards is not empty (exit ${String(again.code)}): ${again.stdout}${again.stderr}`);
  const probe = `dpkg --audit; ls /var/lib/kbuild/marker.json 2>/dev/null; find /run/kbuild -name '*.yaml' 2>/dev/null`;
  for (const host of hosts) {
    const { stdout } = await lab.ssh(host, probe);
    if (stdout.trim() !== '') found.push(`${host} has leftovers: ${stdout.trim()}`);
  }
  return found;
}

/** Resets the hosts, builds with one to three kills at moments that the seed decides, and looks at what came of it. */
export async function soakRun(
  seed: number,
  hosts: readonly string[],
  say: (text: string) => void,
): Promise<SoakResult> {
  const next = random(seed);
  const folder = join(lab.labDir, 'soak');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${hosts[0]!}.yaml`);
  await lab.up(hosts);
  await lab.reset(hosts);
  const inventory = { ...(await lab.inventory(hosts)), name: 'soak' };
  writeFileSync(file, stringify(inventory, { aliasDuplicateObjects: false }));
  const up = ['up', file, '--yes', '--kubeconfig', join(folder, `${hosts[0]!}.kubeconfig`)];

  const started = performance.now();
  const kills: number[] = [];
  const planned = 1 + Math.floor(next() * 3);
  let ended = false;
  for (let i = 0; i < planned && !ended; i++) {
    const after = next() * KILL_WITHIN_S;
    const { code } = await start(up, { killAfterMs: after * 1000 }).ended;
    ended = code !== null;
    if (!ended) kills.push(Number(after.toFixed(1)));
    say(
      `seed ${String(seed)}: ${ended ? `ended by itself with ${String(code)}` : `killed after ${after.toFixed(1)} s`}`,
    );
  }
  const last = await start(up, { killAfterMs: BUILD_MS }).ended;
  const problems = last.code === 0 ? await problemsOf(hosts, file) : [`exit ${String(last.code)}:\n${last.stderr}`];
  return { seed, kills, seconds: Math.round((performance.now() - started) / 1000), problems };
}
