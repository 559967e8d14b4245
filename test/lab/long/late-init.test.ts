/** A host that restarts in the last phases of `kubeadm init`: what they make is there in the end, though workers wait to join meanwhile. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as lab from '../lab.ts';
import { expectSettled } from '../lives-on.ts';
import { ok } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['licp1', 'liw1'];
const [cp] = HOSTS as [string, string];
const MINUTES_MS = 60_000;
let cluster: Stacked;

/** A kubeadm that is stopped when it has come to the add-ons, the first time that it inits. To skip their phase would disable them for good. */
const STOPPED_AT_ADDONS = `#!/bin/sh
if [ "$1" != init ] || [ -e /var/tmp/late ]; then exec /usr/bin/kubeadm "$@"; fi
/usr/bin/kubeadm "$@" &
until grep -qs kubelet-client-current /etc/kubernetes/kubelet.conf; do sleep 0.01; done
kill -STOP $!
touch /var/tmp/late
sync
wait
`;

beforeAll(async () => {
  cluster = await stacked('lateinit', 7937, HOSTS);
  const { code, stderr } = await lab.inside(
    cp,
    `printf %s '${STOPPED_AT_ADDONS}' >/usr/local/bin/kubeadm && chmod 755 /usr/local/bin/kubeadm`,
  );
  expect(code, stderr).toBe(0);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('an init whose host restarts before the add-ons is done again, and the worker joins a cluster that has them', async () => {
  const running = cluster.startUp();
  await waitUntil(
    'kubeadm is at the add-ons',
    10 * MINUTES_MS,
    async () => (await lab.inside(cp, 'test -e /var/tmp/late')).code === 0,
  );
  await lab.reboot([cp]);
  const first = await running.ended;
  // On a busy machine the host may take longer to come back than kbuild waits for a host that shuts down.
  const last = first.code === 0 ? first : ok(await cluster.up());
  expect(first.stdout + first.stderr + last.stdout + last.stderr).toContain('undo a half-finished init of lateinit');
  const addons = await kubectl(cp, '-n kube-system get daemonsets,deployments -o name');
  expect(addons.trim().split('\n').toSorted()).toEqual(['daemonset.apps/kube-proxy', 'deployment.apps/coredns']);
  await expectSettled(cluster, HOSTS);
});
