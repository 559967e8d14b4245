/**
 * What was begun is finished as it was begun, one thing after another on one cluster of two control planes: a version that is set back after kubeadm failed in
 * its preflight checks, `kubeadm upgrade apply` that is cut off right after it noted the version, a snapshot that is restored onto that, one control plane
 * by --hosts and then the rest, and a control plane that joins in the end and reads logs of a kubelet.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { start, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { apply, inside } from '../midway.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { nameVersion, versionsOf } from '../upgraded.ts';
import { ETCD_BETWEEN, KUBERNETES } from '../versions.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['bgcp1', 'bgcp2'];
const [cp1, cp2] = HOSTS as [string, string];
const LATER = 'bgcp3';
const [OLD, NEW] = KUBERNETES;
const TEN_MINUTES = 10 * 60_000;
const BINDING = 'kubeadm:apiserver-kubelet-client';
const MARKER = '/var/lib/kbuild/marker.json';

let cluster: Stacked;

const upgrade = (...flags: readonly string[]): Promise<Ran> => cluster.run('upgrade', '--yes', ...flags);
const ONLY_CP1 = ['--control-plane-only', '--hosts', cp1];
const wants = (version: string): Promise<void> => nameVersion(cluster, HOSTS, version);

const markerOf = async (host: string): Promise<object | undefined> => {
  const text = await inside(host, `cat ${MARKER} 2>/dev/null; true`);
  return text === '' ? undefined : (JSON.parse(text) as object);
};
const kubeadmOf = (host: string): Promise<string> => inside(host, 'kubeadm version -o short');
const notedVersion = async (): Promise<string> =>
  /kubernetesVersion: v(\S+)/.exec(await kubectl(cp2, '-n kube-system get configmap kubeadm-config -o yaml'))?.[1] ??
  '';
const hasBinding = async (): Promise<boolean> =>
  (await kubectl(cp2, `get clusterrolebinding ${BINDING} --ignore-not-found -o name`)).trim() !== '';

/** kubeadm's `upgrade apply` stops when it has noted the version, before it writes the kubelet's configuration and the rules. */
const STOPS_AFTER_UPLOAD = `rm -f /run/noted; cat >/usr/local/bin/kubeadm <<'END'
#!/bin/sh
case "$*" in
  'upgrade apply --config '*)
    /usr/bin/kubeadm "$@" --skip-phases addon,upload-config/kubelet,kubeconfig,kubelet-config,bootstrap-token,post-upgrade || exit $?
    touch /run/noted
    exec sleep infinity
    ;;
esac
exec /usr/bin/kubeadm "$@"
END
chmod +x /usr/local/bin/kubeadm`;

/** Upgrades the first control plane, and cuts kubeadm off when it has noted the version. */
async function cutAfterUpload(): Promise<void> {
  await inside(cp1, STOPS_AFTER_UPLOAD);
  const running = start(['upgrade', cluster.file, '--yes', '--json', '--kubeconfig', cluster.kubeconfig, ...ONLY_CP1]);
  await waitUntil('kubeadm has noted the version', TEN_MINUTES, async () => {
    return (await inside(cp1, 'ls /run/noted 2>/dev/null; true')) !== '';
  });
  await inside(cp1, "systemctl kill -s KILL 'kbuild-job-kubeadm-upgrade*'; rm /usr/local/bin/kubeadm");
  const { code, stderr } = await running.ended;
  expect(code, stderr).not.toBe(0);
  expect(await notedVersion()).toBe(NEW.version);
  expect(await markerOf(cp1)).toMatchObject({ action: 'upgrade', stage: 'begun', about: NEW.version, how: 'apply' });
}

beforeAll(async () => {
  cluster = await stacked('begun', 7617, HOSTS);
  await wants(OLD.version);
  timed('2 control planes', await cluster.up());
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, LATER]);
});

test('kubeadm that fails in its preflight checks leaves no marker, and a version that is set back brings the older kubeadm back', async () => {
  await apply(cp1, [
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'no-jobs', namespace: 'kube-system' },
      spec: { hard: { 'count/jobs.batch': '0' } },
    },
  ]);
  await waitUntil('the quota', TEN_MINUTES, async () =>
    (await kubectl(cp1, '-n kube-system get quota no-jobs -o yaml')).includes('used:'),
  );
  await wants(NEW.version);
  const failed = await upgrade();
  expect(failed.code, failed.stderr).toBe(4);
  expect(failed.stderr).toContain('CreateJob');
  expect(await markerOf(cp1)).toBeUndefined();
  expect(await kubeadmOf(cp1)).toBe(`v${NEW.version}`);
  // As a power cut in the preflight checks leaves it.
  const marker = JSON.stringify({ ...{ cluster: 'begun', action: 'upgrade', job: 'x', stage: 'begun' }, about: NEW.version, how: 'apply' }); // prettier-ignore
  await inside(cp1, `printf '%s\\n' '${marker}' >${MARKER}`);

  await wants(OLD.version);
  const back = timed('set back', await upgrade());
  expect(back.stderr).toContain(`take back the upgrade of ${cp1} to ${NEW.version}, which has changed nothing there`);
  expect(await markerOf(cp1)).toBeUndefined();
  expect(await kubeadmOf(cp1)).toBe(`v${OLD.version}`);
  expect((await versionsOf(cp1))['etcd']).toEqual([ETCD_BETWEEN.tag]);
  expect((await versionsOf(cp1))['apiServer']).toEqual([`v${OLD.version}`]);
  unchanged(await upgrade());
  await kubectl(cp1, '-n kube-system delete quota no-jobs');
});

test('apply that is cut off after it noted the version keeps other versions and new control planes away', async () => {
  // As a cluster has it that comes from 1.35.
  await kubectl(cp1, `delete clusterrolebinding ${BINDING}`);
  timed('snapshot', await cluster.run('etcd', 'snapshot', 'save', join(cluster.file, '..', 'before.db')));
  await wants(NEW.version);
  await cutAfterUpload();
  expect(await hasBinding()).toBe(false);

  await wants(OLD.version);
  const other = await upgrade();
  expect(other.code, other.stderr).toBe(7);
  await lab.up([LATER]);
  await nameVersion(cluster, [...HOSTS, LATER], NEW.version);
  const grown = await cluster.up();
  expect(grown.code, grown.stderr).toBe(7);
  expect(grown.stderr).toContain('no control plane joins in the middle of an upgrade');
  await wants(NEW.version);
});

test('a snapshot is restored onto it: the manifest that was away comes back, and the upgrade is still to be finished', async () => {
  // kubeadm replaces it last, so that an old one beside the new API server is what a kill leaves.
  await inside(cp1, 'rm /etc/kubernetes/manifests/kube-scheduler.yaml');
  const snapshot = join(cluster.file, '..', 'before.db');
  const restored = timed('restore', await cluster.run('etcd', 'snapshot', 'restore', snapshot, '--yes'));
  expect(restored.stderr).toContain('put back /etc/kubernetes/manifests/kube-scheduler.yaml');
  expect(await membersOf(cluster)).toEqual(HOSTS);
  expect(await notedVersion()).toBe(OLD.version);
  expect(await markerOf(cp1)).toMatchObject({ action: 'upgrade', about: NEW.version, how: 'apply' });
});

test('apply is repeated as apply on one control plane alone, and the addons wait for the last one', async () => {
  await cutAfterUpload();
  expect(await hasBinding()).toBe(false);
  const alone = timed(`upgrade ${ONLY_CP1.join(' ')}`, await upgrade(...ONLY_CP1));
  expect(alone.stderr).toContain(
    `the addons of Kubernetes ${NEW.version} are upgraded when every control plane has it`,
  );
  expect(await hasBinding()).toBe(true);
  expect(await markerOf(cp1)).toBeUndefined();
  expect((await versionsOf(cp2))['apiServer']).toEqual([`v${OLD.version}`, `v${NEW.version}`]);
  unchanged(await upgrade(...ONLY_CP1));
});

test('the rest follows without --hosts, and what kubeadm leaves is made where it is missing', async () => {
  await kubectl(cp1, `delete clusterrolebinding ${BINDING}`);
  const rest = timed('upgrade', await upgrade());
  expect(rest.stderr).toContain(`found no clusterrolebinding/${BINDING}`);
  expect(await hasBinding()).toBe(true);
  const version = [`v${NEW.version}`];
  expect(await versionsOf(cp1)).toEqual({
    ...{ kubelet: version, apiServer: version, controllerManager: version, scheduler: version, kubeProxy: version },
    etcd: [`${NEW.etcd}-0`],
  });
  unchanged(await upgrade());
});

test('a control plane that joins afterwards reads logs from the kubelets of the others', async () => {
  await nameVersion(cluster, [...HOSTS, LATER], NEW.version);
  timed('a third control plane', ok(await cluster.up()));
  const { address } = lab.hostSettings(LATER);
  const logs = `-n kube-system logs --tail 1 --server https://${address}:6443 etcd-${cp1}`;
  expect((await kubectl(LATER, logs)).trim()).not.toBe('');
  const subject = 'openssl x509 -noout -subject -in /etc/kubernetes/pki/apiserver-kubelet-client.crt';
  expect(await inside(LATER, subject)).not.toContain('kubeadm:cluster-admins');
});
