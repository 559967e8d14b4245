/**
 * What may come between in the middle of an upgrade of three control planes and three workers, one thing after another on one
 * cluster: kbuild waits or ends with the reason, touches nothing else, and the same command goes on. All the while a client writes.
 */
import { homedir } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../../src/engine/event.ts';
import { startWriter } from '../api-writer.ts';
import { badRepository, type BadRepository } from '../bad-repository.ts';
import { kbuild, PROGRAM, start, type Ran, type Running } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { GATEWAY, PACKAGES_URL, REGISTRY_PORT } from '../network-plan.ts';
import { ok } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { onTerminal, type OnTerminal } from '../pseudo-terminal.ts';
import { reported } from '../reported.ts';
import { leftoversOf } from '../soak-run.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { leftOnNodes, nameVersion, upgradeArguments, versionsOf } from '../upgraded.ts';
import { KUBERNETES } from '../versions.ts';
import { waitUntil } from '../wait-until.ts';

const CONTROL_PLANES = ['uicp1', 'uicp2', 'uicp3'];
const WORKERS = ['uiw1', 'uiw2', 'uiw3'];
const HOSTS = [...CONTROL_PLANES, ...WORKERS];
const [cp1, cp2, cp3] = CONTROL_PLANES as [string, string, string];
const [w1, w2, w3] = WORKERS as [string, string, string];
const [OLD, NEW] = KUBERNETES;
const TEN_MINUTES = 10 * 60_000;
const HALF_AN_HOUR = 3 * TEN_MINUTES;
const WEBHOOK = 'keeps-pods.example.com';
const REMOVED_FLAG = '--pod-infra-container-image';

let cluster: Stacked;
let writer: ReturnType<typeof startWriter>;
let repository: BadRepository;
/** The run that goes on over several tests. */
let running: Running;

const inside = async (host: string, command: string): Promise<string> =>
  (await lab.inside(host, command)).stdout.trim();
const startUpgrade = (): Running => start(upgradeArguments(cluster));
const upgrade = (...flags: readonly string[]): Promise<Ran> => kbuild(...upgradeArguments(cluster), ...flags);
const onATerminal = (): OnTerminal =>
  onTerminal(
    [
      ...[process.execPath, PROGRAM, 'upgrade', cluster.file, '--yes', '--kubeconfig', cluster.kubeconfig],
      '--pause-after-canary',
    ],
    { HOME: homedir(), XDG_STATE_HOME: process.env['XDG_STATE_HOME']! },
    { columns: 200, rows: 50 },
  );

/** Returns the summary of an event of the running upgrade, as soon as it is reported. */
async function happened(kind: Event['kind'], host: string, step: string, about = ''): Promise<string> {
  const event = await reported(
    running,
    `${kind} ${host} ${step} ${about}`,
    HALF_AN_HOUR,
    (one) =>
      one.kind === kind && 'step' in one && one.host === host && one.step === step && one.summary.includes(about),
  );
  return 'summary' in event ? event.summary : '';
}

/** The processes of etcd and of the API server: they change with each restart. */
const processesOf = (host: string): Promise<string> => inside(host, "pgrep -x 'etcd|kube-apiserver' | sort | xargs");

const isReady = async (host: string): Promise<boolean> => (await nodes(cp1))[host] === true;
async function stopKubelet(host: string): Promise<void> {
  await inside(host, 'systemctl stop kubelet');
  await waitUntil(`${host} not to be Ready`, TEN_MINUTES, async () => !(await isReady(host)));
}

/** The registry refuses these hosts from now on. */
const withoutRegistry = async (hosts: readonly string[]): Promise<void> => {
  const reject = `iptables -w -I OUTPUT -p tcp -d ${GATEWAY} --dport ${String(REGISTRY_PORT)} -j REJECT`;
  await Promise.all(hosts.map((host) => inside(host, reject)));
};

const addressOf = (host: string): string => lab.hostSettings(host).address;
/** The version of the API server to which the endpoint leads. */
const versionAtEndpoint = async (): Promise<string> => {
  const answer = await inside(w1, `curl -sk https://${cluster.balancer.endpoint}/version`);
  return (JSON.parse(answer) as { gitVersion: string }).gitVersion;
};

/** The kubelets' versions, by node. */
async function kubelets(): Promise<Readonly<Record<string, string>>> {
  const { items } = JSON.parse(await kubectl(cp1, 'get nodes -o json')) as {
    items: { metadata: { name: string }; status: { nodeInfo: { kubeletVersion: string } } }[];
  };
  return Object.fromEntries(items.map(({ metadata, status }) => [metadata.name, status.nodeInfo.kubeletVersion]));
}
const [old, updated] = [`v${OLD.version}`, `v${NEW.version}`];

const apply = (objects: readonly object[]): Promise<string> =>
  kubectl(cp1, 'apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));

/** A Deployment whose only pod can run on this worker alone. */
const pinned = (name: string, worker: string, pod: object = {}, container: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        nodeSelector: { 'kubernetes.io/hostname': worker },
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'pause', image: `registry.k8s.io/pause:${NEW.pause}`, ...container }],
        ...pod,
      },
    },
  },
});

/** kubeadm's copies of etcd's data on a host. */
const copiesOn = (host: string): Promise<string> =>
  inside(host, 'ls -1d /etc/kubernetes/tmp/kubeadm-backup-etcd-* | xargs');

/** kubeadm's `cp -r` of etcd's data stops in the middle on this host, when a part of it is there. */
const COPY_THAT_STOPS = `cat >/usr/local/bin/cp <<'END'
#!/bin/sh
case "$*" in
  *kubeadm-backup-etcd-*)
    for to; do :; done
    mkdir -p "$to/etcd/member"
    /bin/cp -r /var/lib/etcd/member/snap "$to/etcd/member/"
    touch /run/copying
    exec sleep infinity
    ;;
esac
exec /bin/cp "$@"
END
chmod +x /usr/local/bin/cp`;

beforeAll(async () => {
  repository = await badRepository();
  cluster = await stacked('midway', 7615, HOSTS);
  await nameVersion(cluster, HOSTS, OLD.version);
  ok(await cluster.up());
  await apply(WORKERS.map((worker) => pinned(`held-${worker}`, worker)));
  await kubectl(cp1, 'wait deployment --all --for=condition=Available --timeout=300s');
  // As kubeadm 1.34 wrote it, and only kubeadm 1.35 took it away; this kubelet has read its flags before.
  await inside(w2, `sed -i 's|"$| ${REMOVED_FLAG}=registry.k8s.io/pause:3.10"|' /var/lib/kubelet/kubeadm-flags.env`);
  writer = startWriter(cluster.kubeconfig);
});
afterAll(async () => {
  await repository.close();
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('a repository that has kubeadm and lacks the kubelet: it is named, and nothing is installed or restarted', async () => {
  const processes = await Promise.all(CONTROL_PLANES.map(processesOf));
  repository.tamper = (path, content) => (path.includes(`/kubelet_${NEW.version}`) ? 'missing' : content);
  const { kubernetes } = (await lab.inventory(HOSTS)) as unknown as {
    readonly kubernetes: { readonly repository: { readonly url: string } };
  };
  const url = kubernetes.repository.url.replace(PACKAGES_URL, repository.url);
  await cluster.name(HOSTS, {
    kubernetes: {
      ...kubernetes,
      ...{ version: NEW.version, endpoint: cluster.balancer.endpoint },
      repository: { ...kubernetes.repository, url },
    },
  });
  const { code, stderr } = await upgrade();
  expect(code, stderr).not.toBe(0);
  expect(stderr).toContain(`kubelet_${NEW.version}`);
  for (const host of HOSTS)
    expect(await inside(host, "dpkg-query -W -f '${Version}\\n' kubeadm kubelet | sort -u"), host).toMatch(
      new RegExp(`^${OLD.version.replaceAll('.', String.raw`\.`)}-[^\n]*$`),
    );
  expect(await Promise.all(CONTROL_PLANES.map(processesOf))).toEqual(processes);
  await nameVersion(cluster, HOSTS, NEW.version);
});

describe('on the control planes', () => {
  let processes: string;

  test('one that is not Ready before the run: it is named and waited for, and none is restarted until it is back', async () => {
    await stopKubelet(cp3);
    const before = await Promise.all(CONTROL_PLANES.map(processesOf));
    running = startUpgrade();
    const waits = await happened('settling', cp1, 'control-planes-ready');
    expect(waits).toContain(`wait until ${cp3} serves again (found ${cp3}: its node: `);
    expect(await Promise.all(CONTROL_PLANES.map(processesOf))).toEqual(before);
    await inside(cp3, 'systemctl start kubelet');
    await happened('changing', cp1, 'etcd-minimum');
    // Until the end: everything was downloaded before.
    await withoutRegistry(HOSTS);
  });

  test('an endpoint that leads to an old API server, and that moves while kubeadm works: the run goes on', async () => {
    await happened('changing', cp1, 'control-plane-upgraded');
    cluster.balancer.setBackends([addressOf(cp3)]);
    const replaced = `ls /etc/kubernetes/tmp/kubeadm-backup-manifests-*/kube-apiserver.yaml 2>/dev/null; true`;
    await waitUntil(`the new API server of ${cp1}`, TEN_MINUTES, async () => (await inside(cp1, replaced)) !== '');
    cluster.balancer.setBackends([addressOf(cp2)]);
    await happened('changed', cp1, 'kubelet-upgraded');
    processes = await processesOf(cp2);
    await inside(cp3, 'mv /etc/kubernetes/manifests/etcd.yaml /root/');
  });

  test('an etcd member that dies in the middle: it is named, and no other member is restarted until it is back', async () => {
    const waits = await happened('settling', cp2, 'control-planes-ready');
    expect(waits).toContain(`wait until ${cp3} serves again (found ${cp3}: its API server: `);
    expect(await processesOf(cp2)).toBe(processes);
    expect(await membersOf(cluster)).toEqual([cp1, cp2, `${cp3} down`]);
    // The first one is through meanwhile, and the endpoint leads to an older API server than its kubelet.
    expect(await versionAtEndpoint()).toBe(old);
    expect(await kubelets()).toMatchObject({ [cp1]: updated, [cp2]: old });
    expect(await isReady(cp1)).toBe(true);
    await inside(cp2, COPY_THAT_STOPS);
    await inside(cp3, 'mv /root/etcd.yaml /etc/kubernetes/manifests/');
  });

  test('kubeadm killed while it copies etcd’s data: the run says so, and etcd runs on with its data', async () => {
    await waitUntil(`half a copy on ${cp2}`, HALF_AN_HOUR, async () => (await inside(cp2, 'ls /run/copying')) !== '');
    await inside(cp2, "systemctl kill -s KILL 'kbuild-job-kubeadm-upgrade*'; rm /usr/local/bin/cp");
    const { code, stderr } = await running.ended;
    expect(code, stderr).not.toBe(0);
    expect(stderr).toContain(cp2);
    expect(await processesOf(cp2)).toBe(processes);
    expect(await membersOf(cluster)).toEqual(CONTROL_PLANES);
    expect(await copiesOn(cp2)).not.toBe('');
  });

  test('one that is not Ready in the middle: it is named and waited for, and the next one is not touched', async () => {
    cluster.balancer.setBackends(CONTROL_PLANES.map(addressOf));
    await stopKubelet(cp3);
    running = startUpgrade();
    const waits = await happened('settling', cp2, 'control-planes-ready');
    expect(waits).toContain(`wait until ${cp3} serves again (found ${cp3}: its node: `);
    expect(await processesOf(cp2)).toBe(processes);
    await apply([
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'keeps-pods' },
        webhooks: [
          {
            name: WEBHOOK,
            // Nothing listens there.
            clientConfig: { url: `https://${GATEWAY}:9/` },
            rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] }],
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
            ...{ failurePolicy: 'Fail', sideEffects: 'None', admissionReviewVersions: ['v1'], timeoutSeconds: 5 },
          },
        ],
      },
    ]);
    const half = await copiesOn(cp2);
    await inside(cp3, 'systemctl start kubelet');
    await happened('changed', cp2, 'control-plane-upgraded');
    // The copy that was cut off is neither kept as a backup, nor did it get into etcd's folder.
    expect(await inside(cp2, `ls -d ${half} 2>/dev/null; true`)).toBe('');
    expect(await copiesOn(cp2)).not.toBe('');
    expect(await inside(cp2, 'ls /var/lib/etcd')).toBe('member');
  });
});

describe('on the workers', () => {
  test('a webhook that refuses evictions: it is named, and the workers take pods again', async () => {
    const { code, stderr } = await running.ended;
    expect(code, stderr).toBe(5);
    for (const worker of WORKERS) expect(stderr).toMatch(new RegExp(`${worker}: drained [^]*${WEBHOOK}`));
    const versions = await versionsOf(cp1);
    expect(versions['apiServer']).toEqual([updated]);
    expect(versions['etcd']).toEqual([`${NEW.etcd}-0`]);
    const found = await kubelets();
    expect(WORKERS.map((worker) => found[worker])).toEqual([old, old, old]);
    expect((await leftOnNodes(cp1)).filter((one) => !one.endsWith('kbuild.dev/old-version'))).toEqual([]);
    await kubectl(cp1, 'delete validatingwebhookconfiguration keeps-pods');
  });

  test('a pod with an hour to end: it is named when the time of the drain is over', async () => {
    const hour = { terminationGracePeriodSeconds: 3600 };
    await apply([pinned('slow', w1, hour, { lifecycle: { preStop: { sleep: { seconds: 3600 } } } })]);
    await kubectl(cp1, 'rollout status deployment/slow --timeout=300s');
    const { code, stderr } = await upgrade('--workers-only', '--hosts', w1, '--drain-timeout', '15s');
    expect(code, stderr).toBe(5);
    expect(stderr).toMatch(/default\/slow-\S+ \(terminating since /);
    expect(await leftOnNodes(cp1)).not.toContain(`${w1} is cordoned`);
    await kubectl(cp1, 'delete deployment slow --wait=false');
    await kubectl(cp1, 'delete pod -l app=slow --force --grace-period=0');
  });

  test('a worker that dies when it is drained: it is named, and no other worker is touched', async () => {
    running = startUpgrade();
    await happened('changed', w1, 'drained');
    await lab.kill([w1]);
    const { code, stderr } = await running.ended;
    expect(code, stderr).not.toBe(0);
    expect(stderr).toContain(w1);
    expect(await kubelets()).toMatchObject({ [w2]: old, [w3]: old });
    const left = await leftOnNodes(cp1);
    expect(left).toContain(`${w1} is cordoned`);
    expect(left.filter((one) => one.endsWith(' is cordoned'))).toEqual([`${w1} is cordoned`]);
    await lab.start([w1]);
    await withoutRegistry([w1]);
  });

  test('a pause after the first worker, and no as the answer: the rest stays as it is, and is named', async () => {
    const terminal = onATerminal();
    await terminal.shows('Go on with the others?', HALF_AN_HOUR);
    // Another run may work meanwhile.
    for (const host of HOSTS) expect(await inside(host, 'flock -n /run/kbuild/lock echo free'), host).toBe('free');
    terminal.type('n\n');
    expect(await terminal.ended, terminal.shown()).toBe(0);
    expect(terminal.shown()).toContain(`still with an older kubelet: ${w2}, ${w3}.`);
    expect(await kubelets()).toMatchObject({ [w1]: updated, [w2]: old, [w3]: old });
    expect(await leftOnNodes(cp1)).toEqual([`${w2} kbuild.dev/old-version`, `${w3} kbuild.dev/old-version`]);
  });

  test('an operator’s cordon that comes in the middle stays, and a flag that the new kubelet refuses goes', async () => {
    // Its pod could not come back while the node is cordoned.
    await kubectl(cp1, `delete deployment held-${w3}`);
    const terminal = onATerminal();
    await terminal.shows('Go on with the others?', HALF_AN_HOUR);
    expect(await kubelets()).toMatchObject({ [w2]: updated, [w3]: old });
    await kubectl(cp1, `cordon ${w3}`);
    terminal.type('y\n');
    expect(await terminal.ended, terminal.shown()).toBe(0);
    expect(await leftOnNodes(cp1)).toEqual([`${w3} is cordoned`]);
    expect(await inside(w2, 'cat /var/lib/kubelet/kubeadm-flags.env')).not.toContain(REMOVED_FLAG);
  });
});

test('everything has the new version, nothing is left, and no acknowledged write is lost', async () => {
  const { acknowledged, lost, longestGapMs } = await writer.stop();
  console.log(`${String(acknowledged)} writes acknowledged, longest gap ${String(longestGapMs)} ms`);
  expect(lost).toEqual([]);
  const version = [updated];
  expect(await versionsOf(cp1)).toEqual({
    ...{ kubelet: version, apiServer: version, controllerManager: version, scheduler: version, kubeProxy: version },
    etcd: [`${NEW.etcd}-0`],
  });
  expect(ok(await cluster.run('upgrade')).stdout).toBe('nothing to do\n');
  expect(await leftoversOf(HOSTS)).toEqual([]);
});
