/**
 * What may come between while workers are upgraded, one thing after another on one cluster: the reason is named, no other worker is
 * touched, and the same command goes on.
 */
import { homedir } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fresh, type Fresh } from '../fresh.ts';
import { kbuild, PROGRAM, start, type Ran, type Running } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { apply, happened, inside, kubelets, pinned, withoutRegistry } from '../midway.ts';
import { GATEWAY } from '../network-plan.ts';
import { ok, unchanged } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { onTerminal, type OnTerminal } from '../pseudo-terminal.ts';
import { leftoversOf } from '../soak-run.ts';
import { leftOnNodes, versionsOf, nameFreshVersion } from '../upgraded.ts';
import { KUBERNETES } from '../versions.ts';

const CP = 'uwcp1';
const WORKERS = ['uww1', 'uww2', 'uww3'];
const HOSTS = [CP, ...WORKERS];
const [w1, w2, w3] = WORKERS as [string, string, string];
const [OLD, NEW] = KUBERNETES;
const [old, updated] = [`v${OLD.version}`, `v${NEW.version}`];
const HALF_AN_HOUR = 30 * 60_000;
const QUESTION = 'Go on with the others?';
const WEBHOOK = 'keeps-pods.example.com';
const REMOVED_FLAG = '--pod-infra-container-image';
let own: Fresh;

const args = (...flags: readonly string[]): readonly string[] => ['upgrade', ...own.up.slice(1), ...flags];
const upgrade = (...flags: readonly string[]): Promise<Ran> => kbuild(...args(...flags));
const startUpgrade = (): Running => start(args('--json'));
const onATerminal = (): OnTerminal =>
  onTerminal(
    [process.execPath, PROGRAM, ...args('--pause-after-canary')],
    { HOME: homedir(), XDG_STATE_HOME: own.state },
    { columns: 200, rows: 50 },
  );

/** The inventory names this version from now on. */
const wanted = (version: string): Promise<void> => nameFreshVersion(own, 'workers', HOSTS, version);

beforeAll(async () => {
  own = await fresh('workers', HOSTS);
  await wanted(OLD.version);
  ok(await kbuild(...own.up));
  await apply(
    CP,
    WORKERS.map((worker) => pinned(`held-${worker}`, worker)),
  );
  await kubectl(CP, 'wait deployment --all --for=condition=Available --timeout=300s');
  // As kubeadm 1.34 wrote it, and only kubeadm 1.35 took it away; this kubelet has read its flags before.
  await inside(w2, `sed -i 's|"$| ${REMOVED_FLAG}=registry.k8s.io/pause:3.10"|' /var/lib/kubelet/kubeadm-flags.env`);
  await wanted(NEW.version);
});
afterAll(() => lab.down(HOSTS));

test('a webhook that refuses evictions: it is named, and the workers take pods again', async () => {
  await apply(CP, [
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
  const running = startUpgrade();
  await happened(running, 'changing', CP, 'etcd-minimum');
  // Until the end: everything was downloaded before.
  await withoutRegistry(HOSTS);
  const { code, stderr } = await running.ended;
  expect(code, stderr).toBe(5);
  for (const worker of WORKERS) expect(stderr).toMatch(new RegExp(`${worker}: drained [^]*${WEBHOOK}`));
  expect((await versionsOf(CP))['apiServer']).toEqual([updated]);
  expect(await kubelets(CP)).toEqual({ [CP]: updated, [w1]: old, [w2]: old, [w3]: old });
  expect((await leftOnNodes(CP)).filter((one) => !one.endsWith('kbuild.dev/old-version'))).toEqual([]);
  await kubectl(CP, 'delete validatingwebhookconfiguration keeps-pods');
});

test('a pod with an hour to end: it is named when the time of the drain is over', async () => {
  const hour = { terminationGracePeriodSeconds: 3600 };
  await apply(CP, [pinned('slow', w1, hour, { lifecycle: { preStop: { sleep: { seconds: 3600 } } } })]);
  await kubectl(CP, 'rollout status deployment/slow --timeout=300s');
  const { code, stderr } = await upgrade('--workers-only', '--hosts', w1, '--drain-timeout', '15s');
  expect(code, stderr).toBe(5);
  expect(stderr).toMatch(/default\/slow-\S+ \(terminating since /);
  expect(await leftOnNodes(CP)).not.toContain(`${w1} is cordoned`);
  await kubectl(CP, 'delete deployment slow --wait=false');
  await kubectl(CP, 'delete pod -l app=slow --force --grace-period=0');
});

test('a worker that dies when it is drained: it is named, and no other worker is touched', async () => {
  const running = startUpgrade();
  await happened(running, 'changed', w1, 'drained');
  await lab.kill([w1]);
  const { code, stderr } = await running.ended;
  expect(code, stderr).not.toBe(0);
  expect(stderr).toContain(w1);
  expect(await kubelets(CP)).toMatchObject({ [w2]: old, [w3]: old });
  expect((await leftOnNodes(CP)).filter((one) => one.endsWith(' is cordoned'))).toEqual([`${w1} is cordoned`]);
  await lab.start([w1]);
  await withoutRegistry([w1]);
});

test('a pause after the first worker, and no as the answer: the rest stays as it is, and is named', async () => {
  const terminal = onATerminal();
  await terminal.shows(QUESTION, HALF_AN_HOUR);
  // Another run may work meanwhile.
  for (const host of HOSTS) expect(await inside(host, 'flock -n /run/kbuild/lock echo free'), host).toBe('free');
  terminal.type('n\n');
  expect(await terminal.ended, terminal.shown()).toBe(0);
  expect(terminal.shown()).toContain(`still with an older kubelet: ${w2}, ${w3}.`);
  expect(await kubelets(CP)).toMatchObject({ [w1]: updated, [w2]: old, [w3]: old });
  expect(await leftOnNodes(CP)).toEqual([`${w2} kbuild.dev/old-version`, `${w3} kbuild.dev/old-version`]);
});

test('an operator’s cordon that comes in the middle stays, and a flag that the new kubelet refuses goes', async () => {
  // Its pod could not come back while the node is cordoned.
  await kubectl(CP, `delete deployment held-${w3}`);
  const terminal = onATerminal();
  await terminal.shows(QUESTION, HALF_AN_HOUR);
  expect(await kubelets(CP)).toMatchObject({ [w2]: updated, [w3]: old });
  await kubectl(CP, `cordon ${w3}`);
  terminal.type('y\n');
  expect(await terminal.ended, terminal.shown()).toBe(0);
  expect(await leftOnNodes(CP)).toEqual([`${w3} is cordoned`]);
  expect(await inside(w2, 'cat /var/lib/kubelet/kubeadm-flags.env')).not.toContain(REMOVED_FLAG);
});

test('everything has the new version, and nothing is left', async () => {
  const version = [updated];
  expect(await versionsOf(CP)).toEqual({
    ...{ kubelet: version, apiServer: version, controllerManager: version, scheduler: version, kubeProxy: version },
    etcd: [`${NEW.etcd}-0`],
  });
  unchanged(await upgrade());
  expect(await leftoversOf(HOSTS)).toEqual([]);
});
