/** Ctrl-C on a terminal, once and twice, and a worker that fails: where it stands is said, the same command ends the job. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readFileSync, writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsOf, inventoryFile, kbuild, PROGRAM, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { nodes } from '../pods.ts';
import { CTRL_C, onTerminal, type OnTerminal } from '../pseudo-terminal.ts';
import { attempt } from '../run.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['incp1', 'inw1', 'inw2'];
const [cp, w1, w2] = HOSTS as [string, string, string];
const MINUTES_MS = 5 * 60_000;

let args: readonly string[];
let state: string;

const inside = async (host: string, command: string): Promise<string> =>
  (await lab.inside(host, command)).stdout.trim();
const jobs = (host: string): Promise<string> =>
  inside(host, "systemctl list-units --plain --no-legend --state=active,activating,deactivating 'kbuild-job-*'");
const job = (host: string, name: string): Promise<void> =>
  waitUntil(`${name} on ${host}`, MINUTES_MS, async () => (await jobs(host)).includes(`kbuild-job-${name}`)).then(
    () => undefined,
  );
const lockIsFree = (host: string): Promise<string> => inside(host, 'flock -n /run/kbuild/lock echo free');
const up = (...flags: readonly string[]): Promise<Ran> => kbuild(...args, ...flags);
const upOnTerminal = (): OnTerminal =>
  onTerminal([process.execPath, PROGRAM, ...args], { HOME: homedir(), XDG_STATE_HOME: state });

beforeAll(async () => {
  await lab.up(HOSTS);
  await lab.reset(HOSTS);
  const inventory = await lab.inventory(HOSTS);
  const { folder, file } = inventoryFile({});
  state = join(folder, 'state');
  process.env['XDG_STATE_HOME'] = state;
  const kubeadm = inventory['kubeadm'] as { readonly join: object };
  const quick = { ...kubeadm, join: { ...kubeadm.join, timeouts: { kubeletHealthCheck: '20s' } } };
  writeFileSync(
    file,
    stringify({ ...inventory, name: 'interrupted', kubeadm: quick }, { aliasDuplicateObjects: false }),
  );
  args = ['up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf')];
});

afterAll(() => lab.down(HOSTS));

test('Ctrl-C once: what is under way is finished, the locks are freed, where it stands is said', async () => {
  const terminal = upOnTerminal();
  await job(w1, 'packages');
  terminal.type(CTRL_C);
  expect(await terminal.ended, terminal.shown()).toBe(130);
  expect(terminal.shown()).toMatch(/interrupted: what is under way is finished[^]*under way: [^]*in(?:cp1|w1|w2): /);
  expect(terminal.shown()).toMatch(/changes made so far: [1-9]\d*\r?\n→ run the same command again/);
  for (const host of HOSTS) {
    expect(await jobs(host), host).toBe('');
    expect(await inside(host, 'dpkg --audit'), host).toBe('');
    expect(await lockIsFree(host), host).toBe('free');
  }
});

test('Ctrl-C twice: it ends at once, and the job goes on', async () => {
  const terminal = upOnTerminal();
  await job(cp, 'kubeadm-init');
  terminal.type(CTRL_C);
  await terminal.shows('press again to stop at once', MINUTES_MS);
  const pressed = performance.now();
  terminal.type(CTRL_C);
  expect(await terminal.ended, terminal.shown()).toBe(130);
  expect((performance.now() - pressed) / 1000).toBeLessThan(10);
  expect(terminal.shown()).toMatch(/stopped at once; [^]*under way: [^]*incp1: [^]*run the same command again/);
  expect(await jobs(cp)).toContain('kubeadm-init');
});

test('a worker that fails leaves the run, the others are finished by the same command', async () => {
  const broken = '/run/systemd/system/kubelet.service.d/99-broken.conf';
  await inside(
    w2,
    `mkdir -p $(dirname ${broken}); printf '[Service]\\nExecStartPre=/bin/false\\n' >${broken}; systemctl daemon-reload`,
  );
  const ran = await up('--json');
  expect(ran.code, ran.stderr).toBe(4);
  const inits = eventsOf(ran).filter((event) => event.kind === 'changing' && event.step === 'kubeadm-init');
  expect(inits, 'the init that went on is not begun again').toEqual([]);
  expect(ran.stderr).toMatch(/last words of kubelet/);
  expect(await nodes(cp)).toMatchObject({ [cp]: true, [w1]: true });
  await inside(w2, `rm ${broken}; systemctl daemon-reload`);
});

test('mended, the same command touches that worker alone, though nobody reads what it says', async () => {
  const log = join(state, 'last.log');
  const line = '"$@" --json | head -n 1 >/dev/null; exit ${PIPESTATUS[0]}';
  const { code } = await attempt('bash', ['-c', line, 'bash', process.execPath, PROGRAM, ...args, '--log-file', log]);
  const said = readFileSync(log, 'utf8');
  expect(code, said.slice(-2000)).toBe(0);
  const touched = eventsOf({ stdout: said }).flatMap((event) => (event.kind === 'changed' ? [event.host] : []));
  expect(new Set(touched)).toEqual(new Set([w2]));
  expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true, [w2]: true });
  expect((await up()).stdout).toContain('nothing to do');
});
