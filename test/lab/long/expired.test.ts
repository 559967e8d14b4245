/**
 * Every certificate of a cluster has ended while its hosts were off: kubelets do not start, etcd and the API are away, no kubeconfig is
 * accepted. `certs recover` brings it back over SSH, also when it is killed in the middle and before its end. Then hosts join. The tests build
 * on each other.
 */
import { X509Certificate } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { answering, cutPower, powerOn } from '../host-power.ts';
import { eventsOf, kbuild, start } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { happened } from '../midway.ts';
import { ok, timed } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['excp1', 'excp2', 'exw1'];
const LATER = ['excp3', 'exw2'];
const CONTROL_PLANES = HOSTS.slice(0, 2);
const MINUTES_MS = 20 * 60_000;
const LIFE = '10m0s';
let cluster: Stacked;
/** The lab's settings, without short lives. */
let kubeadm: object;

interface Shown {
  readonly certificates: readonly { readonly name: string; readonly expires: string; readonly renewedBy: string }[];
}
const ends = async (): Promise<readonly number[]> => {
  const { certificates } = JSON.parse((await cluster.run('certs', '--json')).stdout) as Shown;
  return certificates
    .filter(({ renewedBy }) => renewedBy === 'kbuild' || renewedBy === 'kubelet')
    .map(({ expires }) => Date.parse(expires));
};

/** When the certificate in the administrator's kubeconfig on this machine ends. */
function administratorEnds(): number {
  const { users } = parse(readFileSync(cluster.kubeconfig, 'utf8')) as {
    readonly users: readonly { readonly user: { readonly 'client-certificate-data': string } }[];
  };
  return Date.parse(new X509Certificate(Buffer.from(users[0]!.user['client-certificate-data'], 'base64')).validTo);
}

beforeAll(async () => {
  await lab.up(HOSTS);
  ({ kubeadm } = (await lab.inventory(HOSTS)) as unknown as { readonly kubeadm: object });
  cluster = await stacked('expired', 7471, HOSTS, {
    kubeadm: {
      ...kubeadm,
      cluster: {
        certificateValidityPeriod: LIFE,
        controllerManager: { extraArgs: [{ name: 'cluster-signing-duration', value: LIFE }] },
      },
    },
  });
  ok(await cluster.up());
  await kubectl(CONTROL_PLANES[0]!, 'create configmap kept --from-literal=data=here');
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, ...LATER]);
});

test('hosts that were off until everything had ended have no API and no kubelet that starts', async () => {
  const last = Math.max(...(await ends()));
  await Promise.all(HOSTS.map((host) => cutPower(host)));
  await waitUntil('everything has ended', MINUTES_MS, () => Date.now() > last + 5_000);
  await Promise.all(HOSTS.map((host) => powerOn(host)));
  await Promise.all(HOSTS.map((host) => answering(host)));
  expect(Math.max(...(await ends()))).toBeLessThan(Date.now());
  const { code, stdout } = await cluster.run('certs');
  expect(code).toBe(5);
  expect(stdout).toContain('EXPIRED');
  for (const host of HOSTS)
    await waitUntil(
      `the kubelet of ${host} fails`,
      MINUTES_MS,
      async () =>
        (
          await lab.inside(host, 'journalctl -u kubelet -b --no-pager -o cat | grep -c "expired" || true')
        ).stdout.trim() !== '0',
    );
});

test('`certs recover` that is killed in the middle, and before it wrote the kubeconfig, goes on when it is run again', async () => {
  const ended = join(cluster.file, '..', 'ended.kubeconfig');
  copyFileSync(cluster.kubeconfig, ended);
  expect(administratorEnds()).toBeLessThan(Date.now());
  const recover = ['certs', 'recover', cluster.file, '--yes', '--json', '--kubeconfig', cluster.kubeconfig];
  const began = performance.now();
  const first = start(recover);
  await happened(first, 'changing', CONTROL_PLANES[0]!, 'control-plane-certificates');
  first.kill('SIGKILL');
  await first.ended;
  const second = start(recover);
  await happened(second, 'changed', 'exw1', 'kubelet-certificate');
  second.kill('SIGKILL');
  await second.ended;
  console.log(`both killed runs: ${((performance.now() - began) / 1000).toFixed(0)} s`);
  expect(administratorEnds()).toBeLessThan(Date.now());
  const last = timed('the run that was not killed', await kbuild(...recover));
  console.log(
    `a cluster of 3 hosts whose every certificate had ended: back after ${((performance.now() - began) / 1000).toFixed(0)} s, with two kills`,
  );
  // What the killed run has done is not done again.
  const changed = eventsOf(last).flatMap((event) => (event.kind === 'changed' ? [`${event.host} ${event.step}`] : []));
  expect(changed.filter((one) => one.includes('certificate'))).toEqual([]);
  expect(administratorEnds()).toBeGreaterThan(Date.now());
  // `up` writes it as well.
  copyFileSync(ended, cluster.kubeconfig);
  ok(await cluster.up());
  expect(administratorEnds()).toBeGreaterThan(Date.now());
  expect(await nodes(CONTROL_PLANES[0]!)).toEqual(Object.fromEntries(HOSTS.map((host) => [host, true])));
  expect(await kubectl(CONTROL_PLANES[1]!, 'get configmap kept -o jsonpath={.data.data}')).toBe('here');
  expect(Math.min(...(await ends()))).toBeGreaterThan(Date.now());
  for (const host of HOSTS)
    expect(
      (await lab.inside(host, 'ls /etc/kubernetes/bootstrap-kubelet.conf /run/kbuild/signing 2>/dev/null')).stdout,
    ).toBe('');
  expect(await kubectl(CONTROL_PLANES[0]!, '-n kube-system get secrets -o name')).not.toContain('bootstrap-token');
  await expectSettled(cluster, HOSTS);
});

test('afterwards a control plane and a worker can join', async () => {
  // From now on they live for a year.
  await cluster.name(HOSTS, { kubeadm });
  timed('other settings', await cluster.up());
  timed('all renewed', await cluster.run('certs', 'renew', '--all', '--yes', '--kubeconfig', cluster.kubeconfig));
  expect(administratorEnds()).toBeGreaterThan(Date.now() + 300 * 86_400_000);
  await expectJoins(cluster, HOSTS, LATER, { kubeadm });
});
