import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { encodedRunner, MAX_COMMAND_LINE } from '../../src/shell/powershell.ts';
import { Secret } from '../../src/shell/secret.ts';
import { windowsRemote, type WindowsRemote, type WindowsRemoteOptions } from '../../src/ssh/windows.ts';
import { powershell, scriptFile } from '../../src/templates.ts';
import { dialSsh } from '../fakes/dial-ssh.ts';
import { filesOf, type Machine } from '../windows/host/machine.ts';
import { type SimulatedWindowsHost, startWindowsHost, type WindowsHostOptions } from '../windows/host/server.ts';

const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function connected(
  options: Partial<WindowsHostOptions> = {},
  more: Partial<WindowsRemoteOptions> = {},
): Promise<{ readonly host: SimulatedWindowsHost; readonly machine: Machine; readonly remote: WindowsRemote }> {
  const host = await startWindowsHost({ name: 'win1', ...options });
  const remote = windowsRemote(host.host, await dialSsh(host.host, { policy: 'strict' }), { runId: 'run-1', ...more });
  ends.push(async () => {
    await remote.close();
    await host.close();
  });
  return { host, machine: host.machine, remote };
}

const question = powershell('windows/uptime.ps1');

test('a job that says more than a MiB has its result whole', async () => {
  const { machine, remote } = await connected();
  filesOf(machine).put('C:\\big.log', 'x'.repeat(2_000_000));
  const sections = [{ title: 'log', kind: 'file', name: 'C:\\big.log', lines: 1 }];
  const said = JSON.parse(await remote.job('look', powershell('windows/gather.ps1', { Sections: sections }))) as {
    readonly text: string;
  }[];
  expect(said[0]!.text).toHaveLength(2_000_000);
});

test('a task that waits for its turn is not started twice when the connection is lost', async () => {
  const soon = (ms: number, signal?: AbortSignal): Promise<void> => delay(Math.min(ms, 20), undefined, { signal });
  const { host, machine, remote } = await connected({}, { pause: soon });
  machine.extra.set('scheduler', 'queues');
  const running = remote.job('look', question);
  await expect.poll(() => [...machine.tasks.values()].map(({ state }) => state)).toEqual(['Queued']);
  const task = [...machine.tasks.values()][0];
  host.dropAll();
  await expect.poll(() => host.began.filter((name) => name === 'windows/job-start.ps1').length).toBe(2);
  machine.extra.delete('scheduler');
  expect(JSON.parse(await running)).toMatch(/^\d+$/);
  expect(task?.lastResult).toBe(0);
  expect(host.began.filter((name) => name === 'windows/uptime.ps1')).toHaveLength(1);
});

test('a task that never has its turn leaves no payload and no task', async () => {
  const { machine, remote } = await connected();
  machine.extra.set('scheduler', 'queues');
  await expect(remote.job('look', question, { token: Secret.of('canary') })).rejects.toThrow(
    'the Task Scheduler does not start the job',
  );
  expect([...machine.files.keys()]).toEqual([]);
  expect(machine.tasks.size).toBe(0);
});

test('a job that vanished says how its task ended', async () => {
  const { remote } = await connected({ faults: ({ kind }) => (kind === 'job' ? 'killed' : undefined) });
  await expect(remote.job('look', question)).rejects.toThrow(
    'the job is not there any more (its task ended with 0x41306): was the host restarted?',
  );
});

test('a result of another run is kept for a minute: that run may not have read it', async () => {
  const { machine, remote } = await connected();
  const files = filesOf(machine);
  const result = (run: string): string => `C:\\ProgramData\\kbuild\\jobs\\${run}\\look-1\\status`;
  for (const run of ['new', 'old']) files.put(result(run), 'success 0');
  const old = machine.files.get(result('old').toLowerCase())!;
  machine.files.set(result('old').toLowerCase(), { ...old, modifiedMs: Date.now() - 61_000 });
  await remote.job('look', question);
  expect([files.exists(result('new')), files.exists(result('old'))]).toEqual([true, false]);
});

test('a policy that lets only signed files run does not stop a job', async () => {
  const { machine, remote } = await connected();
  machine.extra.set('executionPolicy', 'AllSigned');
  expect(JSON.parse(await remote.job('look', question))).toMatch(/^\d+$/);
});

test('a job that is late is ended by its host, and says what gives it more time', async () => {
  const hangs = { faults: ({ kind }: { kind: string }) => (kind === 'job' ? ('hangs' as const) : undefined) };
  const { machine, remote } = await connected(hangs, { jobDeadlineMs: 150 });
  await expect(remote.job('look', question)).rejects.toMatchObject({
    status: 'timeout',
    message: expect.stringContaining('the job look was ended after 0 min, its deadline') as string,
    remedy: expect.stringContaining('KBUILD_JOB_DEADLINE') as string,
  });
  expect([...machine.files.keys()]).toEqual([]);
});

test.each([
  ['ends-1', 'status 1'],
  ['null', undefined],
  ['utf-16', '0 results'],
] as const)('a script that answers with %s is told from one that answers', async (fault, problem) => {
  const { remote } = await connected({ faults: ({ name }) => (name === 'windows/uptime.ps1' ? fault : undefined) });
  if (problem === undefined) expect(await remote.run(question)).toBe('null');
  else await expect(remote.run(question)).rejects.toThrow(problem);
});

test('the task of a job runs no file, within the length of a command line, and takes no odd folder', () => {
  const runner = (folder: string): string => encodedRunner(scriptFile('windows/job-run.ps1'), folder, 1800);
  const line = runner('C:\\ProgramData\\kbuild\\jobs\\20261124-220000-abcdef\\install-kube-log-runner-12');
  expect(line).not.toContain('-File');
  expect(line.length).toBeLessThan(MAX_COMMAND_LINE);
  for (const odd of ["C:\\a'; calc #", 'C:\\a b', '\\a', 'C:\\$(calc)']) expect(() => runner(odd)).toThrow(TypeError);
});
