/**
 * What takes too long ends, and says what it waited for: a job with a repository that only trickles, a run at its
 * --timeout, a drain that a PodDisruptionBudget blocks. The tests build on each other.
 */
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { badRepository, type BadRepository } from '../bad-repository.ts';
import { fresh, type Fresh } from '../fresh.ts';
import { eventsOf, kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';

const [cp, worker] = ['zdcp1', 'zdw1'] as const;
const HOSTS = [cp, worker];
const kubectl = async (args: string, input?: string): Promise<string> =>
  (await lab.inside(cp, `kubectl --kubeconfig /etc/kubernetes/admin.conf ${args}`, input)).stdout;
let here: Fresh;
let repository: BadRepository;

beforeAll(async () => {
  here = await fresh('zdead', HOSTS);
  repository = await badRepository();
});
afterAll(async () => {
  await repository.close();
  await lab.down(HOSTS);
});

test('a job whose repository sends a byte every two seconds is reported every 30 s and ends at its deadline; the error names what it waited for', async () => {
  const plain = await lab.inventory([worker]);
  const runtime = plain['runtime'] as { readonly repository: object };
  const ours = { ...runtime.repository, url: `${repository.url}/containerd`, key: `${repository.url}/containerd/gpg` };
  const file = `${here.file}.trickle.yaml`;
  const hosts = (await lab.inventory(HOSTS)).hosts;
  writeFileSync(
    file,
    stringify(
      { ...plain, name: 'zdead', hosts, runtime: { ...runtime, repository: ours } },
      { aliasDuplicateObjects: false },
    ),
  );
  repository.tamper = (path, content) => (path.endsWith('.deb') ? 'trickle' : content);
  process.env['KBUILD_JOB_DEADLINE'] = '75s';
  const ran = await kbuild('up', file, '--yes', '--phase', 'prepare,runtime', '--json');
  delete process.env['KBUILD_JOB_DEADLINE'];
  const waits = eventsOf(ran).flatMap((event) => (event.kind === 'job-waits' ? [event.summary] : []));
  console.log(`${ran.seconds.toFixed(0)} s: ${waits.join('\n')}\n${ran.stderr}`);
  expect(
    waits.filter((text) => /^packages since \d+ s: apt-get install .*containerd\.io/.test(text)).length,
  ).toBeGreaterThan(0);
  expect(ran.code, ran.stderr).toBe(4);
  // Hosts that failed alike are one failure.
  expect(ran.stderr).toMatch(new RegExp(`✖ (?:${cp}, ${worker}|${worker}, ${cp}): status timeout: `));
  expect(ran.stderr).toMatch(
    /the job packages was ended after 1\.3 min, its deadline; it last waited: packages since \d+ s: apt-get install .*connected to 10\.77\.0\.1:\d+; \d+ kB in 30 s/,
  );
});

test('a run ends at its --timeout, counted from its start, and says where it stands; the same command finishes it', async () => {
  const late = await kbuild(...here.up, '--timeout', '25s');
  console.log(`${late.seconds.toFixed(0)} s\n${late.stderr.trim().split('\n').slice(-8).join('\n')}`);
  expect(late.code, late.stderr).toBe(5);
  expect(late.stderr).toContain('the run did not end within 25 s (--timeout)');
  expect(late.stderr).toMatch(/changes made so far|nothing was changed yet/);
  expect(late.stderr).not.toMatch(/EBADF|connection was closed|is a bug/);
  expect(late.seconds).toBeLessThan(90);
  timed('the same command', await kbuild(...here.up));
  unchanged(await kbuild(...here.up));
});

test('a drain that a budget blocks names the node, the pod and the budget, and the node takes pods again', async () => {
  const labels = { app: 'kept' };
  const image = (
    await lab.inside(worker, `grep -o '[^"]*/pause:[0-9.]*' /etc/containerd/config.toml | head -n 1`)
  ).stdout.trim();
  const objects = [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'kept' },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            nodeSelector: { 'kubernetes.io/hostname': worker },
            containers: [{ name: 'pause', image }],
          },
        },
      },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'keep' },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    },
  ];
  await kubectl('apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  await kubectl('rollout status deployment/kept --timeout 120s');
  const ran = await kbuild('remove', worker, '--yes', '--drain-timeout', '45s', '-i', here.file);
  console.log(ran.stderr);
  expect(ran.code, ran.stderr).toBe(4);
  const kept = String.raw`default/kept-\S+ \(kept by PodDisruptionBudget keep, which allows no disruption \(\d healthy, 1 needed\)\)`;
  expect(ran.stderr).toMatch(new RegExp(`${worker}: waiting: pods leave ${worker} since \\d+ s: .*${kept}`));
  expect(ran.stderr).toMatch(new RegExp(`✖ ${worker}: status 1: drain ${worker}\n.*${kept}`));
  expect(ran.stderr).toContain(`kbuild remove ${worker} --no-drain`);
  expect(await kubectl(`get node ${worker} -o jsonpath='{.spec.unschedulable}'`)).toBe('');
});

test('a drain that fails leaves the cordon of an operator, and --no-drain removes the host', async () => {
  await kubectl(`cordon ${worker}`);
  const ran = await kbuild('remove', worker, '--yes', '--drain-timeout', '5s', '-i', here.file);
  expect(ran.code, ran.stderr).toBe(4);
  expect(await kubectl(`get node ${worker} -o jsonpath='{.spec.unschedulable}'`)).toBe('true');
  ok(await kbuild('remove', worker, '--yes', '--no-drain', '-i', here.file));
  expect((await kubectl('get nodes -o name')).trim()).toBe(`node/${cp}`);
});
