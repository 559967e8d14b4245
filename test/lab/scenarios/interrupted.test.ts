/**
 * Ctrl-C on a terminal, once and twice: where it stands is said, and the same command ends the job. And what others change
 * while the operator reads the plan.
 */
import { homedir } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fresh } from '../fresh.ts';
import { eventsOf, kbuild, PROGRAM, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { unchanged } from '../ok.ts';
import { CTRL_C, onTerminal, type OnTerminal } from '../pseudo-terminal.ts';
import { PATIENCE_MS, waitUntil } from '../wait-until.ts';

const HOSTS = ['incp1'];
const [cp] = HOSTS as [string];
const MINUTES_MS = 5 * 60_000;

let args: readonly string[];
let state: string;

const inside = async (host: string, command: string): Promise<string> =>
  (await lab.inside(host, command)).stdout.trim();
const jobs = (host: string): Promise<string> =>
  inside(host, "systemctl list-units --plain --no-legend --state=active,activating,deactivating 'kbuild-job-*'");
const job = (host: string, name: string): Promise<void> =>
  waitUntil(`${name} on ${host}`, PATIENCE_MS, async () => (await jobs(host)).includes(`kbuild-job-${name}`)).then(
    () => undefined,
  );
const lockIsFree = (host: string): Promise<string> => inside(host, 'flock -n /run/kbuild/lock echo free');
const up = (...flags: readonly string[]): Promise<Ran> => kbuild(...args, ...flags);
const upOnTerminal = (env: Readonly<Record<string, string>> = {}): OnTerminal =>
  onTerminal([process.execPath, PROGRAM, ...args], { HOME: homedir(), XDG_STATE_HOME: state, ...env });

beforeAll(async () => {
  const made = await fresh('interrupted', HOSTS);
  state = made.state;
  args = [...made.up, '--phase', 'prepare,runtime,packages'];
});

afterAll(() => lab.down(HOSTS));

/** What a terminal shows, without colours and with one blank where lines are wrapped. */
const words = (terminal: OnTerminal): string =>
  terminal
    .shown()
    .replaceAll(/\u001B\[[\d;]*m/g, '')
    .replaceAll(/\s+/g, ' ');

test('Ctrl-C once: what is under way is finished, the locks are freed, where it stands is said', async () => {
  const terminal = upOnTerminal();
  await job(cp, 'packages');
  terminal.type(CTRL_C);
  expect(await terminal.ended, terminal.shown()).toBe(130);
  expect(words(terminal)).toMatch(/interrupted: what is under way is finished.*under way: .*incp1: /);
  expect(words(terminal)).toMatch(
    /→ run the same command again.* interrupted: [1-9]\d* changes? on \d hosts? in [^:]*$/,
  );
  for (const host of HOSTS) {
    expect(await jobs(host), host).toBe('');
    expect(await inside(host, 'dpkg --audit'), host).toBe('');
    expect(await lockIsFree(host), host).toBe('free');
  }
});

test('Ctrl-C twice: it ends at once, and the job goes on', async () => {
  const terminal = upOnTerminal();
  await job(cp, 'packages');
  terminal.type(CTRL_C);
  await terminal.shows('press again', MINUTES_MS);
  terminal.type(CTRL_C);
  expect(await terminal.ended, terminal.shown()).toBe(130);
  expect(words(terminal)).toMatch(/stopped at once; .*under way: .*incp1: .*run the same command again/);
  // It did not wait for the job.
  expect(await jobs(cp)).toContain('packages');
});

test('the same command ends the job, on a terminal that can only print: plain lines', async () => {
  const terminal = upOnTerminal({ TERM: 'dumb' });
  expect(await terminal.ended, terminal.shown()).toBe(0);
  expect(terminal.shown()).not.toContain('\u001B');
  expect(terminal.shown()).toMatch(/^\d\d:\d\d:\d\d == /m);
  unchanged(await up());
});

const [MODULES, SYSCTLS] = ['/etc/modules-load.d/kbuild.conf', '/etc/sysctl.d/99-zz-kbuild.conf'] as const;

test('a host is observed once, before the plan, if no run has held its lock since', async () => {
  await inside(cp, `rm ${MODULES}`);
  const ran = await up('--json');
  expect(ran.code, ran.stderr).toBe(0);
  expect(eventsOf(ran).filter(({ kind }) => kind === 'observed')).toHaveLength(1);
  expect((await lab.inside(cp, `test -e ${MODULES}`)).code).toBe(0);
});

test('what another run did while the operator read the plan is observed under the lock, and changes beyond the plan need another confirmation', async () => {
  await inside(cp, `rm ${MODULES}`);
  const asking = args.filter((argument) => argument !== '--yes');
  const terminal = onTerminal([process.execPath, PROGRAM, ...asking], { HOME: homedir(), XDG_STATE_HOME: state });
  await terminal.shows('Carry out this plan?', MINUTES_MS);
  const other = await up();
  expect(other.code, other.stderr).toBe(0);
  await inside(cp, `rm ${SYSCTLS}`);
  terminal.type('y\r');
  await terminal.shows('Carry out these too?', MINUTES_MS);
  expect(terminal.shown()).toContain('the plan grew meanwhile');
  terminal.type('y\r');
  expect(await terminal.ended, terminal.shown()).toBe(0);
  expect((await lab.inside(cp, `test -e ${MODULES} && test -e ${SYSCTLS}`)).code).toBe(0);
});
