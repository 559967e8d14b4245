/** An argument of the API server and a kubelet setting, edited on a live cluster: what the plan says of it, what is shown meanwhile, and the last line. What runs without them is named. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { fresh } from '../fresh.ts';
import { kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['edcp1', 'edw1'];
const [cp, w] = HOSTS as [string, string];
let args: readonly string[];
let file: string;

beforeAll(async () => {
  ({ up: args, file } = await fresh('edited', HOSTS));
  ok(await kbuild(...args));
});

afterAll(() => lab.down(HOSTS));

/** The settings of the inventory that are edited. */
interface Plain {
  readonly kubelet?: { readonly config?: object };
  readonly kubeadm?: { readonly cluster?: object };
}

const edit = (): void => {
  const plain = parse(readFileSync(file, 'utf8')) as Plain;
  const { kubelet, kubeadm } = plain;
  const edited = {
    ...plain,
    kubelet: { ...kubelet, config: { ...kubelet?.config, maxPods: 90 } },
    kubeadm: {
      ...kubeadm,
      cluster: { ...kubeadm?.cluster, apiServer: { extraArgs: [{ name: 'event-ttl', value: '2h0m0s' }] } },
    },
  };
  writeFileSync(file, stringify(edited, { aliasDuplicateObjects: false }));
};

test('plan says what restarts and shows old and new; nothing is changed', async () => {
  edit();
  const { stdout, stderr, code } = await kbuild('plan', file, '--diff', '--detailed-exitcode');
  expect(code, stderr).toBe(10);
  console.log(stdout);
  expect(stdout).toMatch(/\nRestarts\n/);
  expect(stdout).toContain(`  API server of ${cp}, about 70 s\n`);
  expect(stdout).toContain(`  kubelet of ${cp}, ${w}, one after another, about 10 s each\n`);
  expect(stdout).toMatch(
    /\nkubeadm\.cluster\.apiServer\n\+ extraArgs:\n\+ {3}- name: event-ttl\n\+ {5}value: 2h0m0s\n/,
  );
  expect(stdout).toMatch(/\/var\/lib\/kubelet\/config\.yaml\n[^]*\+ maxPods: 90\n/);
  const { restarts } = JSON.parse(ok(await kbuild('plan', file, '--json')).stdout) as { readonly restarts: object[] };
  expect(restarts).toContainEqual({ what: 'API server', hosts: [cp], aboutMs: 70_000, atOnce: 1 });
});

test('up shows what is waited for while it restarts, and ends with what was changed', async () => {
  const ran = ok(await kbuild(...args, '-v'));
  console.log(ran.stderr);
  expect(ran.stderr).toMatch(
    new RegExp(`${cp}: waiting: kube-apiserver of ${cp} restarts with its new manifest \\(\\d+ s of at most`),
  );
  expect(ran.stderr).toMatch(new RegExp(`${w}: \\$ job kubelet-settings-\\d+: .* …\n`));
  expect(ran.stderr).toMatch(new RegExp(`${w}: \\$ job kubelet-settings-\\d+: .*: ended after [\\d.]+ s\n`));
  expect(ran.stderr.trimEnd().split('\n').at(-1)).toMatch(
    /^done: [3-9] changes on 2 hosts in .*\((?:.*, )?settings, kubelets\)$/,
  );
});

test('afterwards the plan is empty', async () => {
  const { stdout, stderr, code } = await kbuild('plan', file, '--detailed-exitcode');
  expect(stdout, stderr).toBe('nothing to do\n');
  expect(code).toBe(0);
});

test('what runs is observed: an argument that was taken out of a manifest by hand comes back', async () => {
  const manifest = '/etc/kubernetes/manifests/kube-apiserver.yaml';
  await lab.inside(cp, `sed -i /event-ttl/d ${manifest}`);
  await waitUntil('the plan names it', 180_000, async () => {
    const { stdout } = await kbuild('plan', file);
    return stdout.includes(`(found kube-apiserver of ${cp} without --event-ttl)`);
  });
  ok(await kbuild(...args));
  expect((await lab.inside(cp, `cat ${manifest}`)).stdout).toContain('--event-ttl=2h0m0s');
  unchanged(await kbuild(...args));
});

test('a setting over which a flag of the host wins is named, and the last line says what to change', async () => {
  const path = '/etc/default/kubelet';
  await lab.inside(w, `echo KUBELET_EXTRA_ARGS=--max-pods=20 >${path} && systemctl restart kubelet`);
  const named = `maxPods without effect: the kubelet runs with 20, because ${path} has --max-pods: remove it there`;
  await waitUntil('the plan names it', 60_000, async () => (await kbuild('plan', file)).stdout.includes(named));
  const started = await lab.inside(w, 'systemctl show -p ExecMainPID kubelet');
  const failed = await kbuild(...args);
  expect(failed.code, failed.stderr).toBe(5);
  expect((await lab.inside(w, 'systemctl show -p ExecMainPID kubelet')).stdout).toBe(started.stdout);
  expect(failed.stderr).toContain(named);
  expect(failed.stderr).toContain(
    '\nfirst change the named setting of kubelet.config, then run the same command again\n',
  );
  expect(failed.stderr).not.toContain('to go on from here');
  await lab.inside(w, `rm ${path} && systemctl restart kubelet`);
  await waitUntil('it runs with the setting', 60_000, async () => {
    return !(await kbuild('plan', file)).stdout.includes('without effect');
  });
  unchanged(await kbuild(...args));
});

test('a node that is not Ready is waited for, which is no change: exit 0, and up asks nothing', async () => {
  await lab.inside(w, 'systemctl kill --signal=STOP kubelet');
  await waitUntil('the node is not Ready', 180_000, async () => {
    const all = await lab.inside(cp, `kubectl --kubeconfig /etc/kubernetes/admin.conf get node ${w} --no-headers`);
    return all.stdout.includes('NotReady');
  });
  const { stdout, stderr, code } = await kbuild('plan', file, '--detailed-exitcode');
  const document = JSON.parse((await kbuild('plan', file, '--json')).stdout) as {
    readonly changes: readonly object[];
    readonly waits: readonly { readonly host: string }[];
  };
  await lab.inside(w, 'systemctl kill --signal=CONT kubelet');
  expect(stdout, stderr).toContain('nothing to change: the above is waited for');
  expect(code).toBe(0);
  expect(document.changes).toEqual([]);
  expect(document.waits.map(({ host }) => host)).toContain(w);
  // Without --yes and without a terminal: there is nothing to agree to.
  unchanged(await kbuild(...args.filter((word) => word !== '--yes')));
});

test('-q says only what went wrong, --no-color and NO_COLOR nothing in colours', async () => {
  const quiet = ok(await kbuild(...args, '-q'));
  expect([quiet.stdout, quiet.stderr]).toEqual(['nothing to do\n', '']);
  expect(ok(await kbuild('plan', file, '--no-color')).stderr).not.toContain('\u001B');
});
