/** One run of the soak: a cluster built from fresh hosts while kbuild, its connections and its hosts fail at random moments. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { aptRuns, watchApt } from './apt-alone.ts';
import { kbuild, start, type Ran, type Running } from './kbuild.ts';
import * as lab from './lab.ts';
import { isUnchanged } from './ok.ts';
import { nodes } from './pods.ts';
import { random } from './random.ts';
import { FAULTS } from './soak-faults.ts';

/** How a soak run went. */
export interface SoakResult {
  readonly seed: number;
  /** What was done, one a fault, in words. */
  readonly faults: readonly string[];
  /** Seconds of the whole run. */
  readonly seconds: number;
  /** What was wrong in the end; empty when all was well. */
  readonly problems: readonly string[];
}

/** Seconds within which a fault comes: about what a build takes when nothing happens to it. */
const WITHIN_S = 75;
/** A kbuild that is not killed must end within this many milliseconds, whatever happens to its hosts. */
const END_MS = 900_000;
const A_BUG = 1;

interface Planned {
  readonly kind: string;
  readonly host: string;
  /** Seconds after the start of kbuild, or after the fault before. */
  readonly afterS: number;
  readonly forS: number;
}

/** One to three faults that the seed decides, of these kinds or of all. */
export function plannedFaults(
  seed: number,
  hosts: readonly string[],
  kinds: readonly string[] = Object.keys(FAULTS),
): readonly Planned[] {
  const next = random(seed);
  const one = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!;
  return Array.from({ length: 1 + Math.floor(next() * 3) }, () => {
    const kind = one(kinds);
    return { kind, host: one(hosts), afterS: next() * WITHIN_S, forS: next() * FAULTS[kind]!.atMostS };
  });
}

const ofOneHost = ['cut', 'partition', 'freeze', 'reboot', 'power'];
const inWords = ({ kind, host, afterS, forS }: Planned): string =>
  [
    kind,
    ...(ofOneHost.includes(kind) ? [`of ${host}`] : []),
    `at ${afterS.toFixed(1)} s`,
    ...(forS === 0 ? [] : [`for ${forS.toFixed(0)} s`]),
  ].join(' ');

/** What must not be found on a host when all is done: torn packages, markers, secrets, running jobs, a lock that is held. */
const LEFTOVERS = `dpkg --audit
ls /var/lib/kbuild/marker.json 2>/dev/null
find /run/kbuild -name '*.yaml' -o -path '*/work/*' 2>/dev/null
systemctl list-units --plain --no-legend --state=active,activating,deactivating 'kbuild-job-*'
[ ! -e /run/kbuild/lock ] || flock -n /run/kbuild/lock true || echo 'the lock is held'`;

/** What is left on the hosts, the first of which is a control plane, when all is done; empty when all is well. */
export async function leftoversOf(hosts: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const host of hosts) {
    const { stdout } = await lab.ssh(host, LEFTOVERS);
    if (stdout.trim() !== '') found.push(`${host} has leftovers: ${stdout.trim()}`);
  }
  const tokens = await lab.ssh(hosts[0]!, 'kubeadm token list -o json --kubeconfig /etc/kubernetes/admin.conf');
  if (/"description":\s*"[^"]*kbuild/.test(tokens.stdout)) found.push(`a token is left: ${tokens.stdout}`);
  return found;
}

async function problemsOf(hosts: readonly string[], again: Ran): Promise<readonly string[]> {
  const found: string[] = [];
  const ready = await nodes(hosts[0]!);
  for (const host of hosts) if (ready[host] !== true) found.push(`${host} is not Ready`);
  if (!isUnchanged(again))
    found.push(`the run afterwards had something to do (exit ${String(again.code)}): ${again.stdout}${again.stderr}`);
  for (const host of hosts) {
    const { runs, together } = await aptRuns(host);
    if (!(runs > 0)) found.push(`${host}: apt-get was not watched`);
    if (together !== '') found.push(`${host}: apt-get beside another: ${together}`);
  }
  found.push(...(await leftoversOf(hosts)));
  return found;
}

/** What became of a planned fault. */
interface Injected {
  /** False when kbuild ended before the fault's moment. */
  readonly made: boolean;
  /** What kbuild came to, undefined while it runs. */
  readonly ran: Ran | undefined;
}

/**
 * Makes a fault, unless kbuild ends before its moment. Returns when the fault is over. A kbuild that ended while the fault
 * lasted cannot have seen its end: the caller starts another one, as after a kill.
 */
async function inject(fault: Planned, running: Running): Promise<Injected> {
  const moment = new AbortController();
  const wait = sleep(fault.afterS * 1000, undefined, { signal: moment.signal }).catch(() => undefined);
  const before = await Promise.race([running.ended, wait]);
  moment.abort();
  if (before !== undefined) return { made: false, ran: before };
  await FAULTS[fault.kind]!.make({ kbuild: running, host: fault.host }, fault.forS * 1000);
  if (fault.kind === 'kill') return { made: true, ran: await running.ended };
  return { made: true, ran: await Promise.race([running.ended, Promise.resolve(undefined)]) };
}

/**
 * Resets the hosts and builds, with the faults that the seed decides. When kbuild was killed, gave up, or ended while a
 * fault lasted, the same command again. The last command ends after all faults: it must succeed, and the one after it must
 * find nothing to do.
 */
export async function soakRun(
  seed: number,
  hosts: readonly string[],
  say: (text: string) => void,
  kinds?: readonly string[],
): Promise<SoakResult> {
  const folder = join(lab.labDir, 'soak');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${hosts[0]!}.yaml`);
  await lab.up(hosts);
  await lab.reset(hosts);
  await watchApt(hosts);
  const inventory = { ...(await lab.inventory(hosts)), name: 'soak' };
  writeFileSync(file, stringify(inventory, { aliasDuplicateObjects: false }));
  const up = ['up', file, '--yes', '--kubeconfig', join(folder, `${hosts[0]!}.kubeconfig`)];
  const tell = (text: string): void => say(`seed ${String(seed)}: ${text}`);

  const started = performance.now();
  const problems: string[] = [];
  const made: string[] = [];
  let running: Running | undefined;
  const ended = ({ code, stderr, seconds }: Ran): void => {
    running = undefined;
    tell(`ended with ${String(code)} after ${seconds.toFixed(0)} s`);
    if (code === A_BUG) problems.push(`a bug:\n${stderr}`);
    if (code !== 0 && code !== null) tell(stderr.trim().split('\n').slice(-12).join('\n'));
  };
  const whole = (): number => Math.round((performance.now() - started) / 1000);

  for (const fault of plannedFaults(seed, hosts, kinds)) {
    running ??= start(up, { killAfterMs: END_MS });
    const { made: wasMade, ran } = await inject(fault, running);
    if (wasMade) {
      made.push(inWords(fault));
      tell(inWords(fault));
    }
    if (ran !== undefined) ended(ran);
    if (ran?.code === 0) break;
  }
  let last = await (running ?? start(up, { killAfterMs: END_MS })).ended;
  if (running !== undefined && last.code !== 0) {
    ended(last);
    if (last.code === null) problems.push('kbuild hung');
    last = await start(up, { killAfterMs: END_MS }).ended;
  }
  if (last.code !== 0)
    return { seed, faults: made, seconds: whole(), problems: [`exit ${String(last.code)}:\n${last.stderr}`] };
  problems.push(...(await problemsOf(hosts, await kbuild(...up))));
  return { seed, faults: made, seconds: whole(), problems };
}
