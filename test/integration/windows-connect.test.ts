import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import type { Event } from '../../src/engine/event.ts';
import { lockHosts, whoHolds } from '../../src/engine/lock.ts';
import { NotConverged } from '../../src/errors.ts';
import type { Host, Inventory } from '../../src/inventory/inventory.ts';
import { masker } from '../../src/report/mask.ts';
import { reportFailures } from '../../src/session/carry-out.ts';
import { connect, type Connected } from '../../src/session/connect.ts';
import { type Context, processContext } from '../../src/session/context.ts';
import { writeBundle } from '../../src/session/end-report.ts';
import type { Run } from '../../src/session/run.ts';
import { inventory as inventoryOf } from '../fakes/inventory.ts';
import { fakeSshServer } from '../fakes/ssh-server.ts';
import { filesOf } from '../windows/host/machine.ts';
import { type SimulatedWindowsHost, startWindowsHost, type WindowsHostOptions } from '../windows/host/server.ts';
import { startSshd } from './sshd.ts';

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function started(options: Partial<WindowsHostOptions> = {}): Promise<SimulatedWindowsHost> {
  const host = await startWindowsHost({ name: 'win1', ...options });
  closing.push(() => host.close());
  return host;
}

const context: Context = {
  ...processContext({ inventoryOnStdin: false, version: '0.1.0' }),
  canAsk: false,
  err: () => undefined,
};

async function connectedTo(...hosts: readonly Host[]): Promise<{
  readonly connected: Connected;
  readonly inventory: Inventory;
  readonly events: readonly Event[];
}> {
  const events: Event[] = [];
  const inventory = inventoryOf({ hosts });
  const connected = await connect(
    context,
    inventory,
    {},
    {
      runId: 'run-1',
      emit: (event) => void events.push(event),
      log: () => undefined,
      onSecret: () => undefined,
      signal: new AbortController().signal,
    },
  );
  closing.push(() => connected.close());
  return { connected, inventory, events };
}

test('a Windows host is observed by one script on one connection', async () => {
  const host = await started();
  const { connected } = await connectedTo(host.host);
  const [seen] = connected.observations.fleet().hosts;
  expect(seen).toMatchObject({ os: 'windows', host: { name: 'win1' } });
  expect(host.began).toEqual(['windows/observe.ps1']);
  expect(host.connections()).toBe(1);
});

test('it is locked with the others, and the lock tells who has it', async () => {
  const { connected } = await connectedTo((await started()).host);
  const lock = await lockHosts(connected.remotes, { who: 'ann@desk', pid: 1, since: 'now', command: 'kbuild up' });
  expect(await whoHolds(connected.remotes[0]!)).toBe('ann@desk (pid 1) since now: kbuild up');
  await lock.release();
});

test(
  'behind a bastion it is reached through it, files too; a host key that changed is refused',
  { tags: ['linux', 'ssh', 'sshd'] },
  async () => {
    const bastion = await startSshd();
    closing.push(() => bastion.stop());
    const { address, ssh } = bastion.host;
    const host = await started();
    const behind = { ...host.host, ssh: { ...host.host.ssh, bastions: [{ ...ssh, address }] } };
    const { connected } = await connectedTo(behind);
    await connected.on(behind).write(String.raw`C:\k\x`, 'text');
    expect(await connected.on(behind).read(String.raw`C:\k\x`)).toBe('text');
    expect(bastion.connectionProcesses()).toHaveLength(1);
    const { hostKey } = await started();
    expect((await refusal({ ...behind, ssh: { ...behind.ssh, hostKeys: [hostKey] } })).message).toMatch(/host key/);
  },
);

test('it is in the support bundle', async () => {
  const host = await started();
  filesOf(host.machine).put(String.raw`C:\var\log\kubelet\kubelet.log`, 'first\r\nlast\r\n');
  const { connected, inventory } = await connectedTo(host.host);
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-test-'));
  const bundle = join(folder, 'bundle.tar.gz');
  await writeBundle(
    { connected, context, inventory, logPath: '/dev/null', mask: masker(inventory), startedMs: context.nowMs() },
    bundle,
  );
  const text = gunzipSync(readFileSync(bundle)).toString('utf8');
  expect(text).toContain('hosts/win1.txt');
  expect(text).toContain('== kubelet\n-- C:\\var\\log\\kubelet\\kubelet.log\nfirst\nlast\n');
});

test('what its programs said last stands in the report of a failure', async () => {
  const host = await started();
  filesOf(host.machine).put(String.raw`C:\var\log\kubelet\kubelet.log`, 'E1121 failed to run Kubelet: no pipe\r\n');
  const { connected } = await connectedTo(host.host);
  const said: string[] = [];
  const run = {
    connected,
    context: { ...context, err: (text: string) => void said.push(text) },
    log: () => undefined,
    note: () => undefined,
  };
  const failure = new NotConverged('win1', 'node-ready', ['wait until win1 is Ready']);
  await reportFailures(run as unknown as Run, new Map([['win1', failure]]));
  expect(said.join('')).toContain('the end of the log of kubelet:');
  expect(said.join('')).toContain('failed to run Kubelet: no pipe');
});

/** Why the only host of an inventory could not be used. */
async function refusal(host: Host): Promise<{ readonly message: string; readonly remedy?: string | undefined }> {
  const { connected } = await connectedTo(host);
  const [missing] = connected.observations.fleet().unreachable;
  expect(missing).toBeDefined();
  const { message, remedy } = missing!.error as Error & { readonly remedy?: string };
  return { message, remedy };
}

test('a login that is no administrator is told', async () => {
  const host = await started();
  host.machine.administrator = false;
  expect(await refusal(host.host)).toMatchObject({
    message: 'win1: Administrator is no administrator there',
    remedy: expect.stringContaining('administrators_authorized_keys') as string,
  });
});

test('ConstrainedLanguage is told', async () => {
  const host = await started();
  host.machine.languageMode = 'ConstrainedLanguage';
  expect((await refusal(host.host)).message).toContain('PowerShell runs in ConstrainedLanguage');
});

test('a Linux host that the inventory calls a Windows host is told', async () => {
  const host = await started({ software: 'OpenSSH_9.2p1 Debian-2+deb12u3' });
  expect(await refusal(host.host)).toMatchObject({
    message: 'win1: the inventory says "os: windows", but its SSH server is OpenSSH_9.2p1',
    remedy: expect.stringContaining('remove "os: windows"') as string,
  });
  expect(host.began).toEqual([]);
});

test('a server of another make, without PowerShell behind it, is told', async () => {
  const server = await fakeSshServer(({ channel }) => {
    channel.stderr.write('sh: 1: powershell.exe: not found\n');
    channel.exit(127);
    channel.end();
  });
  closing.push(() => server.stop());
  const { host } = await started();
  const error = await refusal({ ...host, address: server.host.address, ssh: server.host.ssh });
  expect(error.message).toBe('win1: there is no powershell.exe: sh: 1: powershell.exe: not found');
  expect(error.remedy).toContain('is this a Windows host?');
});

test('a Windows host that the inventory calls a Linux host is told', async () => {
  const { host } = await started();
  const { windows, ...rest } = host;
  expect(windows).toBeDefined();
  expect(
    await refusal({ ...rest, os: 'linux', sysctls: {}, installFrom: 'distribution', packages: [], trustedCas: [] }),
  ).toMatchObject({
    message: 'win1: it is a Windows host: its SSH server is OpenSSH_for_Windows_9.5',
    remedy: 'say "os: windows" and "role: worker" for it',
  });
});
