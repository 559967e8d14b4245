/**
 * Every certificate of a cluster has ended while its hosts were off: kubelets do not start, etcd and the API are away, no kubeconfig is
 * accepted. `certs recover` brings it back over SSH, also when it is killed in the middle.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answering, cutPower, powerOn } from '../host-power.ts';
import { eventsOf, kbuild, start } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['excp1', 'excp2', 'exw1'];
const LATER = 'exw2';
const CONTROL_PLANES = HOSTS.slice(0, 2);
const MINUTES_MS = 20 * 60_000;
const LIFE = '10m0s';
let cluster: Stacked;

interface Shown {
  readonly certificates: readonly { readonly name: string; readonly expires: string; readonly renewedBy: string }[];
}
const ends = async (): Promise<readonly number[]> => {
  const { certificates } = JSON.parse((await cluster.run('certs', '--json')).stdout) as Shown;
  return certificates
    .filter(({ renewedBy }) => renewedBy === 'kbuild' || renewedBy === 'kubelet')
    .map(({ expires }) => Date.parse(expires));
};

beforeAll(async () => {
  await lab.up([...HOSTS, LATER]);
  const { kubeadm } = (await lab.inventory(HOSTS)) as unknown as { readonly kubeadm: object };
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
  await lab.down([...HOSTS, LATER]);
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

test('`certs recover` that is killed in the middle goes on when it is run again, and the data is there', async () => {
  const began = performance.now();
  const first = start(['certs', 'recover', cluster.file, '--yes', '--json', '--kubeconfig', cluster.kubeconfig]);
  await waitUntil('the first control plane has new certificates', MINUTES_MS, () =>
    first.printed().includes('"step":"control-plane-certificates"'),
  );
  first.kill('SIGKILL');
  await first.ended;
  const ran = ok(await kbuild('certs', 'recover', cluster.file, '--yes', '--json', '--kubeconfig', cluster.kubeconfig));
  console.log(
    `a cluster of 3 hosts whose every certificate had ended: back after ${((performance.now() - began) / 1000).toFixed(0)} s, with a kill in the middle; the second run took ${ran.seconds.toFixed(0)} s`,
  );
  expect(eventsOf(ran).some((event) => event.kind === 'changed' && event.host === 'exw1')).toBe(true);
  expect(await nodes(CONTROL_PLANES[0]!)).toEqual(Object.fromEntries(HOSTS.map((host) => [host, true])));
  expect(await kubectl(CONTROL_PLANES[1]!, 'get configmap kept -o jsonpath={.data.data}')).toBe('here');
  expect(Math.min(...(await ends()))).toBeGreaterThan(Date.now());
  for (const host of HOSTS)
    expect(
      (await lab.inside(host, 'ls /etc/kubernetes/bootstrap-kubelet.conf /run/kbuild/signing 2>/dev/null')).stdout,
    ).toBe('');
  expect(await kubectl(CONTROL_PLANES[0]!, '-n kube-system get secrets -o name')).not.toContain('bootstrap-token');
});

test('then nothing is left to do, and a worker can join', async () => {
  expect(ok(await cluster.up()).stdout).toBe('nothing to do\n');
  await cluster.name([...HOSTS, LATER]);
  ok(await cluster.up());
  expect((await nodes(CONTROL_PLANES[0]!))[LATER]).toBe(true);
});
