/** Jobs of a host: they outlive a connection, kbuild and a power cut, run once, take turns, and leave nothing. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../src/shell/secret.ts';
import { sh } from '../../../src/shell/sh.ts';
import * as lab from '../lab.ts';
import { PATIENCE_MS, waitUntil } from '../wait-until.ts';
import { kbuilds } from './kbuilds.ts';

const NAME = 'jobs-w1';
const { connect, closeAll } = kbuilds();
const kbuild = (user?: 'root' | 'ops') => connect(NAME, user);

const inside = async (command: string) => (await lab.inside(NAME, command)).stdout.trim();
const units = () => inside("systemctl list-units --all --plain --no-legend 'kbuild-job-*'");
const folders = () => inside('find /run/kbuild/jobs -mindepth 2 -maxdepth 2');
const exists = async (path: string) => (await inside(`test -e ${path} && echo yes || :`)) === 'yes';

beforeAll(() => lab.up([NAME]));
afterAll(async () => {
  await closeAll();
  await lab.down([NAME]);
});

test('a job returns its output, sees its files 0600, and leaves nothing', async () => {
  const remote = await kbuild();
  const output = await remote.job(
    'look',
    sh`cat token; stat -c '%a %U' token script . ; pwd; umask; echo "$HOME $KBUILD_JOB"; echo noise >&2`,
    { token: Secret.of("it's secret\n") },
  );
  expect(output).toBe(
    `it's secret\n600 root\n600 root\n700 root\n/run/kbuild/jobs/${remote.runId}/look-1/work\n0022\n/root kbuild-job-look-1-${remote.runId}\n`,
  );
  expect(await units()).toBe('');
  expect(await folders()).toBe('');
});

test('a user with sudo runs jobs as root', async () => {
  expect(await (await kbuild('ops')).job('who', sh`id -un`)).toBe('root\n');
});

test('a failed job says how it ended, with its stderr, and its unit vanishes', async () => {
  const remote = await kbuild();
  await expect(remote.job('bad', sh`echo out; echo broken >&2; exit 3`)).rejects.toMatchObject({
    status: 3,
    stdout: 'out\n',
    stderr: 'broken\n',
  });
  await expect(remote.job('bad', sh`kill -KILL $$`)).rejects.toMatchObject({ status: 137 });
  expect(await units()).toBe('');
  expect(await folders()).toBe('');
});

test('a job that fails at once says so each time', async () => {
  const remote = await kbuild();
  for (let i = 0; i < 30; i++)
    await expect(remote.job('quick', sh`echo why >&2; exit 3`)).rejects.toMatchObject({ status: 3, stderr: 'why\n' });
});

test('a job whose unit is killed is noticed soon', async () => {
  const remote = await kbuild();
  const began = performance.now();
  await remote.job('ends', sh`true`);
  const ordinary = performance.now() - began;
  // Whether systemd waits for processes that it has killed depends on which of them it buries first.
  for (const turn of [1, 2, 3, 4]) {
    const path = `/root/shot-${String(turn)}`;
    const failure = remote.job('shot', sh`sleep 600 & touch ${path}; wait`).catch((error: unknown) => error);
    await waitUntil('the job runs', PATIENCE_MS, () => exists(path));
    const killed = performance.now();
    await inside("systemctl kill -s KILL 'kbuild-job-shot-*'");
    expect(await failure).toMatchObject({ status: 'SIGKILL' });
    // A job that was not noticed had been asked for after 30 s.
    expect(performance.now() - killed).toBeLessThan(20_000 + 5 * ordinary);
  }
  expect(await units()).toBe('');
});

test('a job outlives the connection, is waited for on a new one, and runs once', async () => {
  const remote = await kbuild();
  const done = remote.job(
    'long',
    sh`echo begun >>/root/long; until [ -e /root/go-on ]; do sleep 0.1; done; echo finished`,
  );
  await waitUntil('the job runs', PATIENCE_MS, () => exists('/root/long'));
  await remote.cut();
  await waitUntil('the job is followed', PATIENCE_MS, () => remote.transport.connections === 2);
  await inside('touch /root/go-on');
  expect(await done).toBe('finished\n');
  expect(await inside('cat /root/long')).toBe('begun');
});

test('the job of a kbuild that died is waited for, its result is not believed, its secrets go', async () => {
  const dead = await kbuild();
  const abandoned = dead.job('work', sh`touch /root/working; until [ -e /root/stop ]; do sleep 0.1; done`, {
    key: Secret.of('k'),
  });
  abandoned.catch(() => undefined);
  await waitUntil('the job runs', PATIENCE_MS, () => exists('/root/working'));
  const key = `/run/kbuild/jobs/${dead.runId}/work-1/work/key`;
  expect(await exists(key)).toBe(true);
  await dead.close();

  const next = await kbuild();
  const mine = next.job('work', sh`echo mine`);
  await waitUntil('the next run waits', PATIENCE_MS, () => next.followed.length === 1);
  expect(next.followed[0]).toContain(`kbuild-job-work-1-${dead.runId}`);
  await inside('touch /root/stop');
  expect(await mine).toBe('mine\n');
  expect(await exists(key)).toBe(false);
  expect(await folders()).toBe('');
  await expect(abandoned).rejects.toThrow();
});

test('what a job waits for is reported once while it waits, also if the connection is lost meanwhile', async () => {
  const remote = await kbuild();
  const done = remote.job(
    'patient',
    sh`echo first; echo 'waiting: a lock  of %s'; until [ -e /root/patient ]; do sleep 0.1; done; echo last`,
  );
  await waitUntil('it is told', PATIENCE_MS, () => remote.waits.length === 1);
  await remote.cut();
  await waitUntil('the job is followed', PATIENCE_MS, () => remote.transport.connections === 2);
  await inside('touch /root/patient');
  expect(await done).toBe('first\nwaiting: a lock  of %s\nlast\n');
  expect(remote.waits).toEqual(['a lock  of %s']);
  await waitUntil(
    'nothing reads its output any more',
    PATIENCE_MS,
    async () => (await inside('pgrep tail || :')) === '',
  );
});

test('what earlier runs left is neither believed nor in the way, whatever became of it', async () => {
  await inside(
    `cd /run/kbuild/jobs; mkdir -p dead/mine-1/work newer/state /root/precious; touch /root/precious/file
     echo 'success exited 0' >dead/mine-1/status; echo 'not mine' >dead/mine-1/output
     echo '{"schemaVersion": 99}' >newer/state/job.json; head -c 4096 /dev/urandom >torn; ln -s /root/precious link`,
  );
  const remote = await kbuild();
  expect(await remote.job('mine', sh`echo mine`)).toBe('mine\n');
  expect(await inside('ls /run/kbuild/jobs; ls /root/precious')).toBe('file');
});

test.each(['', 'succ', 'success exited 0 and more'])('a result that reads "%s" is no success', async (written) => {
  const remote = await kbuild();
  const result = remote.job('torn', sh`touch /root/torn; until [ -e /root/end ]; do sleep 0.1; done`);
  const failure = result.catch((error: unknown) => error);
  await waitUntil('the job runs', PATIENCE_MS, () => exists('/root/torn'));
  await inside(`printf '%s\\n' '${written}' >/run/torn
    printf 'cp /run/torn "$1/status"\\n' >/run/kbuild/jobs/${remote.runId}/torn-1/end; touch /root/end`);
  expect(await failure).toMatchObject({ status: 'unreadable' });
  await inside('rm /root/torn /root/end');
});

test('two jobs at once on one host take turns', async () => {
  const body = sh`echo in >>/root/turns; sleep 0.3; echo out >>/root/turns`;
  const [one, two] = [await kbuild(), await kbuild()];
  await Promise.all([one.job('a', body), one.job('b', body), two.job('a', body)]);
  expect((await inside('cat /root/turns')).split('\n')).toEqual(['in', 'out', 'in', 'out', 'in', 'out']);
});

test('a result is kept until its run has read it, however soon the next job begins', async () => {
  const [slow, next] = [await kbuild(), await kbuild()];
  const first = slow.job('first', sh`echo result; touch /root/first; until [ -e /root/end-first ]; do sleep 0.1; done`);
  await waitUntil('the job runs', PATIENCE_MS, () => exists('/root/first'));
  const follower = await inside("pgrep -x -a tail | sed 's/.*--pid=//; s/ .*//'");
  await inside(`kill -STOP ${follower}; touch /root/end-first`);
  const second = next.job('second', sh`echo after`);
  await waitUntil('the second job waits', PATIENCE_MS, async () => (await inside("pgrep -f '^flock -w' || :")) !== '');
  await inside(`kill -CONT ${follower}`);
  expect(await first).toBe('result\n');
  expect(await second).toBe('after\n');
  expect(await folders()).toBe('');
});

test('a job of which nothing is left is noticed, and nothing on the host reports about it any more', async () => {
  const remote = await kbuild();
  const failure = remote.job('lost', sh`touch /root/lost; sleep 600`).catch((error: unknown) => error);
  await waitUntil('the job runs', PATIENCE_MS, () => exists('/root/lost'));
  await inside(`rm -rf /run/kbuild/jobs/${remote.runId}; systemctl kill -s KILL 'kbuild-job-lost-*'`);
  expect(await failure).toMatchObject({ status: 'vanished' });
  await remote.close();
  const reports = async () => inside("pgrep -x -a 'tail|sed|sleep' || :");
  await waitUntil('nothing reports', PATIENCE_MS, async () => (await reports()) === '');
});

test('a host that lost its power during a job is distinguished from a job that never began', async () => {
  const remote = await kbuild();
  const failure = remote.job('doomed', sh`touch /run/doomed; sleep 600`).catch((error: unknown) => error);
  await waitUntil('the job runs', PATIENCE_MS, () => exists('/run/doomed'));
  await lab.kill([NAME]);
  await lab.start([NAME]);
  expect(await failure).toMatchObject({ status: 'vanished' });
});

test('a disk that fills in the middle of a write keeps the old file, and nothing of the new one', async () => {
  const remote = await kbuild();
  await inside('mkdir -p /root/small && mount -t tmpfs -o size=64k tmpfs /root/small && echo old >/root/small/file');
  await expect(remote.write('/root/small/file', 'x'.repeat(200_000))).rejects.toThrow(/No space left on device/);
  expect(await inside('cat /root/small/file; ls -A /root/small')).toBe('old\nfile');
  await inside('umount /root/small');
});

test('a job that downloads says how many bytes it has, while they grow', async () => {
  const remote = await kbuild();
  await remote.job(
    'loads',
    sh`mkdir -p /root/loads; echo /root/loads >downloads; sleep 2
       for i in 1 2 3 4 5 6; do head -c 1000000 /dev/zero >/root/loads/$i; sleep 2; done; rm -r /root/loads`,
  );
  expect(remote.loads.length).toBeGreaterThan(0);
  expect(remote.loads.at(-1)).toBeGreaterThanOrEqual(1_000_000);
  expect(remote.loads).toEqual([...remote.loads].sort((a, b) => a - b));
  const quiet = await kbuild();
  await quiet.job('says-nothing', sh`sleep 7`);
  expect(quiet.loads).toEqual([]);
});

test('waiting is quick: an empty job takes little more than a unit of systemd and four commands', async () => {
  const remote = await kbuild();
  await remote.job('warm', sh`true`);
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const started = performance.now();
    await work();
    return performance.now() - started;
  };
  const [jobs, floors]: [number[], number[]] = [[], []];
  for (let i = 0; i < 5; i++) {
    jobs.push(await timed(() => remote.job('empty', sh`true`)));
    floors.push(
      await timed(async () => {
        await remote.run(sh`systemd-run --quiet --wait true`);
        for (let command = 0; command < 4; command++) await remote.run(sh`true`);
      }),
    );
  }
  console.log(`an empty job ${Math.min(...jobs).toFixed(0)} ms, its floor ${Math.min(...floors).toFixed(0)} ms`);
  // A look a second would be ten times the floor.
  expect(Math.min(...jobs)).toBeLessThan(5 * Math.min(...floors));
});

test('restart returns when a new boot id answers', async () => {
  const remote = await kbuild();
  const bootId = () => remote.run(sh`cat /proc/sys/kernel/random/boot_id`);
  const before = await bootId();
  await remote.restart();
  expect(await bootId()).not.toBe(before);
});
