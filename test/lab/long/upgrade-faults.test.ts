/**
 * Everything that may stop an upgrade, one after another on one cluster: each run fails with its reason and breaks nothing, and
 * the same command ends the upgrade when nothing stops it any more.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fresh, type Fresh } from '../fresh.ts';
import { cutPower, powerOn, answering } from '../host-power.ts';
import { kbuild, start, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { leftoversOf } from '../soak-run.ts';
import { leftOnNodes, startWorkload, versionsOf, nameFreshVersion } from '../upgraded.ts';
import { KUBERNETES } from '../versions.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['ufcp1', 'ufw1', 'ufw2'];
const [cp, first, second] = HOSTS as [string, string, string];
const [OLD, NEW] = KUBERNETES;
const MINUTES_MS = 10 * 60_000;
const KURED_LOCK = 'weave.works/kured-node-lock';
const BACKUPS = '/etc/kubernetes/tmp/kubeadm-backup-manifests-*';
let own: Fresh;

const inside = async (host: string, command: string): Promise<string> =>
  (await lab.inside(host, command)).stdout.trim();

const args = (): readonly string[] => {
  const [, ...operands] = own.up;
  return ['upgrade', ...operands, '--drain-timeout', '15s'];
};
const upgrade = (): Promise<Ran> => kbuild(...args());

/** The inventory names this version from now on, and these settings of the hosts besides. */
const wanted = (version: string): Promise<void> => nameFreshVersion(own, 'faults', HOSTS, version);

/** The kubelets' versions, by node. */
async function kubelets(): Promise<Readonly<Record<string, string>>> {
  const { items } = JSON.parse(await kubectl(cp, 'get nodes -o json')) as {
    items: { metadata: { name: string }; status: { nodeInfo: { kubeletVersion: string } } }[];
  };
  return Object.fromEntries(items.map(({ metadata, status }) => [metadata.name, status.nodeInfo.kubeletVersion]));
}

const apply = (objects: readonly object[]): Promise<string> =>
  kubectl(cp, 'apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));

/** Returns when kubeadm, in this run, has put the new manifest of a component in the place of the old one. */
async function replaced(component: string, before: string): Promise<void> {
  await waitUntil(`the new manifest of ${component}`, MINUTES_MS, async () => {
    const found = await inside(cp, `ls ${BACKUPS}/${component}.yaml 2>/dev/null; true`);
    return found !== '' && found !== before;
  });
}
const backupsOf = (component: string): Promise<string> =>
  inside(cp, `ls ${BACKUPS}/${component}.yaml 2>/dev/null; true`);

beforeAll(async () => {
  own = await fresh('faults', HOSTS);
  await wanted(OLD.version);
  ok(await kbuild(...own.up));
  await startWorkload(cp);
  // An operator's: it stays.
  await kubectl(cp, `cordon ${cp}`);
  await wanted(NEW.version);
});
afterAll(() => lab.down(HOSTS));

describe('before anything restarts', () => {
  test('a version that the repository does not have ends the run, and no host has changed', async () => {
    await wanted('1.37.99');
    const { code, stderr } = await upgrade();
    expect(code, stderr).not.toBe(0);
    expect(stderr).toContain('1.37.99');
    expect((await versionsOf(cp))['apiServer']).toEqual([`v${OLD.version}`]);
    await wanted(NEW.version);
  });
});

describe('on the control plane', () => {
  test('no room for kubeadm’s backup: the run says so, and the old version serves on', async () => {
    await inside(cp, 'mkdir -p /etc/kubernetes/tmp; mount -t tmpfs -o size=64k tmpfs /etc/kubernetes/tmp');
    const { code, stderr } = await upgrade();
    await inside(cp, 'umount /etc/kubernetes/tmp');
    expect(code, stderr).not.toBe(0);
    expect(stderr).toMatch(/no space left on device/i);
    expect((await versionsOf(cp))['apiServer']).toEqual([`v${OLD.version}`]);
  });

  test.each(['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'])(
    'kubeadm killed between the renames of %s: the next run puts the manifest back and goes on',
    async (component) => {
      const before = await backupsOf(component);
      const running = start(args());
      await replaced(component, before);
      await inside(cp, `pkill -KILL -x kubeadm; rm -f /etc/kubernetes/manifests/${component}.yaml`);
      const { code, stderr } = await running.ended;
      expect(code, stderr).not.toBe(0);
      expect(await inside(cp, `ls /etc/kubernetes/manifests/${component}.yaml 2>/dev/null; true`)).toBe('');
    },
  );

  test('its power cut in the middle, and kbuild killed: nothing is lost when it boots', async () => {
    // The scheduler is the last one that is still old: kubeadm replaces it alone.
    const before = await backupsOf('kube-scheduler');
    const running = start(args());
    await replaced('kube-scheduler', before);
    await cutPower(cp);
    running.kill('SIGKILL');
    await running.ended;
    await powerOn(cp);
    await answering(cp);
  });
});

describe('on the workers', () => {
  test('a kubelet that does not start keeps the other worker as it is', async () => {
    await inside(
      first,
      `mkdir -p /etc/systemd/system/kubelet.service.d
printf '[Service]\\nExecStartPre=/bin/sh -c "! kubelet --version | grep -q ${NEW.version}"\\n' >/etc/systemd/system/kubelet.service.d/99-broken.conf
systemctl daemon-reload`,
    );
    const { code, stderr } = await upgrade();
    expect(code, stderr).not.toBe(0);
    expect((await versionsOf(cp))['apiServer']).toEqual([`v${NEW.version}`]);
    expect((await kubelets())[second]).toBe(`v${OLD.version}`);
    expect(await leftOnNodes(cp)).not.toContain(`${second} is cordoned`);
  });

  test('up in the middle changes no kubelet and no manifest', async () => {
    const manifests = await inside(cp, 'sha256sum /etc/kubernetes/manifests/*');
    const { stderr } = await kbuild(...own.up, '--timeout', '60s');
    await inside(first, 'rm /etc/systemd/system/kubelet.service.d/99-broken.conf; systemctl daemon-reload');
    expect(stderr).toContain(`the kubelets of ${first}, ${second} are older than Kubernetes ${NEW.version}`);
    expect((await kubelets())[second]).toBe(`v${OLD.version}`);
    expect(await inside(cp, 'sha256sum /etc/kubernetes/manifests/*')).toBe(manifests);
  });

  const labels = { app: 'web' };
  const budget = (name: string, spec: object) => ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'default' },
    spec: { selector: { matchLabels: labels }, ...spec },
  });

  test('kured that reboots a node is waited for, and named when that takes too long', async () => {
    const selected = { 'example.com/none': 'none' };
    await apply([
      {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: {
          name: 'kured',
          namespace: 'kube-system',
          annotations: { [KURED_LOCK]: `{"nodeID":"${first}","created":"${new Date().toISOString()}","TTL":0}` },
        },
        spec: {
          selector: { matchLabels: { name: 'kured' } },
          template: {
            metadata: { labels: { name: 'kured' } },
            spec: {
              nodeSelector: selected,
              containers: [{ name: 'kured', image: `registry.k8s.io/pause:${NEW.pause}` }],
            },
          },
        },
      },
    ]);
    const { code, stderr } = await upgrade();
    expect(code, stderr).toBe(5);
    expect(stderr).toContain(`kured reboots ${first}`);
    expect((await kubelets())[second]).toBe(`v${OLD.version}`);
    await kubectl(cp, `-n kube-system annotate daemonset kured ${KURED_LOCK}-`);
  });

  test('a budget that allows nothing ends the drain, and the node takes pods again', async () => {
    await apply([budget('web', { minAvailable: 2 })]);
    const { code, stderr } = await upgrade();
    expect(code, stderr).toBe(5);
    expect(stderr).toContain('PodDisruptionBudget web');
    expect(await leftOnNodes(cp)).not.toContain(`${second} is cordoned`);
    await apply([budget('web', { minAvailable: 1 })]);
  });

  test('two budgets on one pod end the drain', async () => {
    await apply([budget('web-too', { minAvailable: 0 })]);
    const { code, stderr } = await upgrade();
    expect(code, stderr).toBe(5);
    expect(stderr).toContain('more than one PodDisruptionBudget');
    await kubectl(cp, 'delete pdb web-too');
  });

  test('a pod that never ends is named', async () => {
    await apply([
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'stuck', namespace: 'default', finalizers: ['example.com/never'], ownerReferences: [] },
        spec: {
          nodeName: second,
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'pause', image: `registry.k8s.io/pause:${NEW.pause}` }],
        },
      },
    ]);
    await kubectl(cp, 'wait --for=condition=Ready pod/stuck --timeout=60s');
    const { code, stderr } = await kbuild(...args(), '--force');
    expect(code, stderr).toBe(5);
    expect(stderr).toContain('default/stuck');
    await kubectl(cp, `patch pod stuck --type merge -p '{"metadata":{"finalizers":null}}'`);
  });
});

test('the same command ends the upgrade when nothing stops it', async () => {
  ok(await upgrade());
  const version = [`v${NEW.version}`];
  expect(await versionsOf(cp)).toEqual({
    ...{ kubelet: version, apiServer: version, controllerManager: version, scheduler: version, kubeProxy: version },
    etcd: [`${NEW.etcd}-0`],
  });
  // The operator's cordon, and nothing of ours.
  expect(await leftOnNodes(cp)).toEqual([`${cp} is cordoned`]);
  const notes = await kubectl(cp, '-n kube-system get daemonset kured -o jsonpath={.metadata.annotations}');
  expect(Object.keys(JSON.parse(notes) as object)).not.toContain(KURED_LOCK);
  unchanged(await upgrade());
  expect(await leftoversOf(HOSTS)).toEqual([]);
});
