/**
 * The main job, on one set of hosts, from bare to bare: plan, up, nothing to do, labels, drift, refusals, reset, up again.
 * Every host has two interfaces: SSH on one, Kubernetes on the other. The tests build on each other, in this order.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checked } from '../findings.ts';
import { eventsOf, inventoryFile, kbuild, start, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { leftByReset } from '../left-by-reset.ts';
import { ok, timed, unchanged, well } from '../ok.ts';
import { dial, kubectl, nodes, startEcho, stopEcho, type EchoPod } from '../pods.ts';
import { PATIENCE_MS, waitUntil } from '../wait-until.ts';

const [cp, w1, w2] = ['acp1', 'aw1', 'aw2'] as const;
const HOSTS = [cp, w1, w2];
/** Not of the cluster; its leftovers are. */
const stray = 'aw3';

interface PlanDocument {
  readonly changes: readonly {
    readonly phase: string;
    readonly host: string;
    readonly step: string;
    readonly summary: string;
  }[];
  readonly waits: readonly object[];
  readonly findings: readonly { readonly severity: string; readonly check: string; readonly message: string }[];
}

let folder: string;
let file: string;
let inventory: lab.LabInventory;
let kubeconfig: string;

const write = (changed: object): void => writeFileSync(file, stringify(changed, { aliasDuplicateObjects: false }));
const up = (...flags: readonly string[]): Promise<Ran> =>
  kbuild('up', file, '--yes', '--kubeconfig', kubeconfig, ...flags);
const plan = async (...flags: readonly string[]): Promise<PlanDocument> => {
  const { stdout, stderr } = await kbuild('plan', file, '--json', ...flags);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as PlanDocument;
};

beforeAll(async () => {
  await lab.up([...HOSTS, stray], { nics: 2 });
  await lab.reset([...HOSTS, stray]);
  inventory = { ...(await lab.inventory(HOSTS)), name: 'first' };
  ({ folder, file } = inventoryFile(inventory));
  kubeconfig = join(folder, 'first.kubeconfig');
});

afterAll(async () => {
  await lab.down([...HOSTS, stray]);
});

describe('from bare hosts', () => {
  let before: PlanDocument;

  test('check finds nothing that would stop it', async () => {
    ok(await kbuild('check', file));
  });

  test('plan lists every change', async () => {
    before = await plan();
    const hostsOf = (step: string) => before.changes.filter((change) => change.step === step).map(({ host }) => host);
    expect(hostsOf('kubeadm-init')).toEqual([cp]);
    expect(hostsOf('kubeadm-join')).toEqual([w1, w2]);
    expect((await kbuild('plan', file, '--detailed-exitcode')).code).toBe(10);
  });

  test('up --hosts of a worker does not found a cluster', async () => {
    const { code, stderr } = await up('--hosts', w1);
    expect(code, stderr).toBe(7);
    expect((await lab.inside(w1, 'ls /etc/apt/sources.list.d')).stdout).not.toContain('kbuild');
  });

  test('without a terminal and without --yes nothing is changed', async () => {
    const { code, stderr } = await kbuild('up', file);
    expect(code, stderr).toBe(2);
    expect((await lab.inside(cp, 'ls /etc/apt/sources.list.d')).stdout).not.toContain('kbuild');
  });

  test('up builds the cluster, and does nothing that was not in the plan', async () => {
    const ran = ok(await up('--json'));
    console.log(`up from bare hosts: ${ran.seconds.toFixed(1)} s`);
    const events = eventsOf(ran);
    const planned = new Set(before.changes.map(({ phase, host, step }) => `${phase}/${host}/${step}`));
    const done = events.flatMap((event) =>
      event.kind === 'changed' ? [`${event.phase}/${event.host}/${event.step}`] : [],
    );
    expect(done.filter((one) => !planned.has(one))).toEqual([]);
    expect(events.filter(({ kind }) => kind === 'unplanned')).toEqual([]);
    expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true, [w2]: true });
  });

  test('the kubeconfig is private and kubectl works with it', async () => {
    expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
    await lab.inside(cp, 'cat > /root/first.kubeconfig', readFileSync(kubeconfig, 'utf8'));
    const { stdout } = await lab.inside(
      cp,
      'kubectl --kubeconfig /root/first.kubeconfig get --raw /readyz; rm /root/first.kubeconfig',
    );
    expect(stdout).toContain('ok');
  });

  test('Kubernetes uses the second interface everywhere', async () => {
    const { hosts } = inventory;
    const shown = await kubectl(
      cp,
      `get nodes -o jsonpath='{range .items[*]}{.metadata.name}={.status.addresses[?(@.type=="InternalIP")].address}{"\\n"}{end}'`,
    );
    for (const { name, internalAddress } of hosts) expect(shown).toContain(`${name}=${internalAddress!}`);
    const { stdout } = await lab.inside(w1, 'bridge fdb show dev flannel.1');
    expect(stdout).toContain(hosts[0]!.internalAddress);
  });
});

describe('check --active tries the network from a pod on every node', () => {
  const active = async () => {
    const { findings, seconds } = await checked(inventory, '--active');
    const pods = findings.filter(({ check }) => check === 'pod-network');
    console.log(`check --active of a cluster of ${String(HOSTS.length)}: ${seconds.toFixed(1)} s`);
    return pods.map(({ severity, host, message }) => `${severity} ${host ?? ''}: ${message}`);
  };
  const namespaces = (): Promise<string> => kubectl(cp, 'get namespaces -l kbuild.dev/tries -o name');

  test('finds nothing in a healthy cluster, and leaves no namespace: not of its own, not of a run that was killed', async () => {
    const killed = start(['check', file, '--active']);
    await waitUntil('a namespace is there', PATIENCE_MS, async () => (await namespaces()) !== '');
    killed.kill('SIGKILL');
    await killed.ended;
    const metadata = { name: 'left', labels: { 'kbuild.dev/tries': 'pods' }, annotations: { 'kbuild.dev/until': '1' } };
    await kubectl(cp, 'create -f -', JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata }));
    expect(await active()).toEqual([]);
    await waitUntil('no namespace is left', PATIENCE_MS, async () => (await namespaces()) === '');
  });

  test("names the two nodes between which the overlay's packets are dropped", async () => {
    const rule = `INPUT -s ${lab.hostSettings(w2).internalAddress} -p udp --dport 8472 -j DROP`;
    await lab.inside(w1, `iptables -w -I ${rule}`);
    const found = await active();
    await lab.inside(w1, `iptables -w -D ${rule}`);
    // Where CoreDNS runs on one of the two, pods of the other one do not reach it either, and that is found too.
    const aboutDns = (text: string): boolean => text.includes(' do not reach cluster DNS ');
    expect(found.filter((text) => !aboutDns(text))).toEqual([
      `error ${w1}: pods on ${w1} do not reach those on ${w2}: no answer within 3 s`,
      `error ${w2}: pods on ${w2} do not reach those on ${w1}: no answer within 3 s`,
    ]);
    expect(found.filter(aboutDns).filter((text) => text.includes(cp))).toEqual([]);
    expect(await namespaces()).toBe('');
  });
});

test('a kubelet that is newer than the API server is reported', async () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'newer' } };
  await kubectl(cp, 'create -f -', JSON.stringify({ ...node, status: { nodeInfo: { kubeletVersion: 'v1.99.0' } } }));
  const { findings } = await checked(inventory);
  await kubectl(cp, 'delete node newer');
  const skewed = findings.filter(({ check }) => check === 'version-skew');
  expect(skewed.map(({ host, message }) => `${host!} ${message}`)).toEqual([
    expect.stringMatching(/^newer runs kubelet 1[.]99[.]0, newer than the API server/),
  ]);
});

describe('the network carries', () => {
  let pods: readonly EchoPod[];

  beforeAll(async () => {
    pods = await startEcho(cp, 'carry');
  });
  afterAll(() => stopEcho(cp, 'carry'));

  test('a pod on every node reaches every other, and itself', async () => {
    expect(pods.map(({ node }) => node).sort()).toEqual([...HOSTS].sort());
    for (const from of pods) {
      for (const to of pods) expect(await dial(cp, 'carry', from, to.ip), `${from.node} → ${to.node}`).toBe(to.name);
    }
  });

  test('a Service answers by its name from every node, also where its own pod asks (hairpin)', async () => {
    for (const from of pods) {
      const answers = new Set<string | undefined>();
      for (let i = 0; i < 12; i++) answers.add(await dial(cp, 'carry', from, 'echo.carry.svc.cluster.local', 80));
      expect(answers, from.node).not.toContain(undefined);
    }
  });

  test('a hostPort answers on every host', async () => {
    for (const { name, internalAddress } of inventory.hosts) {
      const pod = pods.find(({ node }) => node === name)!;
      expect(await dial(cp, 'carry', pods[0]!, internalAddress!, 18080), name).toBe(pod.name);
    }
  });
});

describe('a second time', () => {
  const stamp = `find /etc /usr /opt -xdev -newer /run/stamp -not -path '/etc/cni/*' 2>/dev/null | head`;
  const versions = `get deploy,ds,svc,cm,sa,nodes,clusterrole,clusterrolebinding -A -o jsonpath='{range .items[*]}{.kind}/{.metadata.name} {.metadata.managedFields[?(@.manager=="kbuild")].time}{"\\n"}{end}'`;

  test('up has nothing to do and touches nothing', async () => {
    for (const host of HOSTS) await lab.inside(host, 'touch /run/stamp');
    const objects = await kubectl(cp, versions);
    const units = await lab.inside(w1, 'systemctl show containerd kubelet -p ActiveEnterTimestamp,ExecMainPID');
    timed('up with nothing to do', unchanged(await up()));
    for (const host of HOSTS) expect((await lab.inside(host, stamp)).stdout, host).toBe('');
    expect(await kubectl(cp, versions)).toBe(objects);
    expect(await lab.inside(w1, 'systemctl show containerd kubelet -p ActiveEnterTimestamp,ExecMainPID')).toEqual(
      units,
    );
  });

  test('it is one connection and one command a host, two more on a control plane: which cluster, and its certificate', async () => {
    const count = async (host: string): Promise<number> =>
      Number((await lab.inside(host, "journalctl -u ssh --no-pager -q | grep -c 'Accepted publickey' || true")).stdout);
    interface Entry {
      readonly time: string;
      readonly kind?: string;
      readonly command?: string;
      readonly host: string;
    }
    let tries = 0;
    // What a busy API does not answer at once is asked again, and that is not what is counted here.
    const { before, after, entries } = await waitUntil('all is answered at once', PATIENCE_MS, async () => {
      const log = join(folder, `second-${String(++tries)}.log`);
      const before = await Promise.all(HOSTS.map(count));
      unchanged(await up('--log-file', log));
      const entries = readFileSync(log, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Entry);
      const looks = entries.filter(({ kind }) => kind === 'observed').length;
      const isOneLook = looks === 1 && entries.every(({ kind }) => kind !== 'locked');
      return isOneLook && { before, after: await Promise.all(HOSTS.map(count)), entries };
    });
    expect(after).toEqual(before.map((connections) => connections + 1));
    expect(entries.filter(({ time }) => !(Date.now() - Date.parse(time) < PATIENCE_MS))).toEqual([]);
    expect(
      entries
        .filter(({ command }) => command !== undefined)
        .map(({ host }) => host)
        .sort(),
    ).toEqual([cp, cp, cp, w1, w2].sort());
  });

  test('the plan is empty', async () => {
    await waitUntil('all is well at the first look', PATIENCE_MS, async () => {
      const { changes, waits } = await plan();
      expect(changes).toEqual([]);
      return waits.length === 0;
    });
    expect((await kbuild('plan', file, '--detailed-exitcode')).code).toBe(0);
  });

  test('status shows the cluster, for people and for programs', async () => {
    const status = JSON.parse((await well(() => kbuild('status', file, '--json'))).stdout) as {
      nodes: { name: string; ready: boolean }[];
      etcd: { members: { id: string; healthy: boolean }[] };
      certificates: unknown[];
      drift: unknown[];
    };
    expect(status.nodes.map(({ name, ready }) => [name, ready])).toEqual(HOSTS.map((name) => [name, true]));
    expect(status.etcd.members).toHaveLength(1);
    expect(status.etcd.members[0]).toMatchObject({ healthy: true, id: expect.stringMatching(/^[0-9a-f]+$/) as string });
    expect(status.certificates.length).toBeGreaterThan(10);
    expect(status.drift).toEqual([]);
    expect((await well(() => kbuild('status', file))).stdout).toContain('no drift');
  });
});

describe('what the inventory says, and no longer says', () => {
  test('labels, taints and files follow it both ways', async () => {
    const withLabels = inventory.hosts.map((host) =>
      host.name === w1
        ? { ...host, labels: { disk: 'ssd' }, taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] }
        : host,
    );
    await lab.inside(w2, 'echo mine > /etc/motd');
    write({
      ...inventory,
      hosts: withLabels,
      files: [
        { hosts: [w2], content: 'ours\n', path: '/etc/motd' },
        { hosts: [w2], content: 'hello\n', path: '/etc/greeting', mode: '0640' },
      ],
    });
    ok(await up());
    const node = JSON.parse(await kubectl(cp, `get node ${w1} -o json`)) as {
      metadata: { labels: Record<string, string> };
      spec: { taints?: { key: string }[] };
    };
    expect(node.metadata.labels['disk']).toBe('ssd');
    expect(node.spec.taints?.map(({ key }) => key)).toEqual(['dedicated']);
    expect((await lab.inside(w2, 'stat -c %a /etc/greeting; cat /etc/greeting')).stdout).toBe('640\nhello\n');
    expect((await plan()).changes).toEqual([]);

    write(inventory);
    ok(await up());
    const after = await kubectl(cp, `get node ${w1} -o json`);
    expect(after).not.toContain('"disk"');
    expect(after).not.toContain('dedicated');
    expect((await lab.inside(w2, 'ls /etc/greeting')).stdout).toBe('');
    expect((await lab.inside(w2, 'cat /etc/motd')).stdout).toBe('mine\n');
    expect((await plan()).changes).toEqual([]);
  });
});

describe('what is refused, and touches nothing', () => {
  const refusedBy = async (changed: object, text: RegExp): Promise<void> => {
    write(changed);
    for (const host of HOSTS) await lab.inside(host, 'touch /run/stamp');
    const { code, stderr } = await up();
    expect(stderr).toMatch(text);
    expect(code).toBe(7);
    for (const host of HOSTS)
      expect(
        (await lab.inside(host, 'find /etc /var/lib/kbuild -newer /run/stamp -not -path "/etc/cni/*" 2>/dev/null'))
          .stdout,
      ).toBe('');
    write(inventory);
  };

  test('an older version of Kubernetes', async () => {
    const kubernetes = inventory['kubernetes'] as object;
    await refusedBy({ ...inventory, kubernetes: { ...kubernetes, version: '1.35.8' } }, /Kubernetes has no way back/);
  });

  test('a cluster of another name', async () => {
    await refusedBy({ ...inventory, name: 'second' }, /first/);
  });

  test('leftovers of unknown origin, and another CA: named, and reset --hosts is the way to go', async () => {
    const all = { ...inventory, hosts: [...inventory.hosts, ...(await lab.inventory([stray])).hosts] };
    const fake = `mkdir -p /etc/kubernetes/pki; cd /etc/kubernetes
      openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=other -keyout pki/ca.key -out pki/ca.crt -days 9 2>/dev/null`;
    await lab.inside(stray, 'mkdir -p /etc/kubernetes; echo x > /etc/kubernetes/kubelet.conf');
    await refusedBy(all, new RegExp(`${stray}.*leftovers[\\s\\S]*reset --hosts`));
    await lab.inside(stray, fake);
    await refusedBy(all, /belongs to another cluster \(CA/);

    write(all);
    expect((await kbuild('reset', file, '--hosts', stray, '--yes-destroy', 'wrong')).code).toBe(2);
    ok(await kbuild('reset', file, '--hosts', stray, '--yes-destroy', stray));
    expect((await lab.inside(stray, 'ls /etc/kubernetes/kubelet.conf /etc/kubernetes/pki/ca.crt')).stdout).toBe('');
    write(inventory);
  });

  test('another pod subnet', async () => {
    await refusedBy({ ...inventory, network: { plugin: 'flannel', podSubnet: '10.200.0.0/16' } }, /podSubnet/);
  });
});

describe('the lock of the cluster', () => {
  const MALLORY = 'by mallory@elsewhere (pid 9) since 2026-01-01T00:00:00Z: kbuild up';
  const holder = () =>
    kubectl(cp, "-n kube-system get lease kbuild --ignore-not-found -o jsonpath='{.spec.holderIdentity}'");
  const heldBy = async (holderIdentity: string, secondsAgo: number): Promise<void> => {
    const renewTime = new Date(Date.now() - secondsAgo * 1000).toISOString().replace('Z', '000Z');
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'kbuild', namespace: 'kube-system' },
      spec: { holderIdentity, leaseDurationSeconds: 45, renewTime },
    };
    await kubectl(cp, 'apply -f -', JSON.stringify(lease));
  };
  const modules = '/etc/modules-load.d/kbuild.conf';
  const unlock = async (...flags: readonly string[]) => ok(await kbuild('unlock', file, ...flags)).stdout;

  test('a run that builds it from other hosts, and renews its Lease, is refused; unlock shows and frees', async () => {
    await lab.inside(w1, `rm ${modules}`);
    await heldBy(MALLORY, 1);
    const running = start(['up', file, '--yes', '--kubeconfig', kubeconfig]);
    await waitUntil('the Lease is observed', PATIENCE_MS, () => running.said().includes('the cluster is locked: held'));
    // An hour ago by the clock of that host: what counts is that it changes.
    await heldBy(MALLORY, 3600);
    const refused = await running.ended;
    expect(refused.code).toBe(7);
    expect(refused.stderr).toContain(`locked: held ${MALLORY}`);
    expect(await unlock()).toContain(`cluster: held by ${MALLORY.slice(3)}`);
    expect(await holder()).toBe(MALLORY);
    expect(await unlock('--force')).toContain(`cluster: freed; was held by ${MALLORY.slice(3)}`);
    expect(await holder()).toBe('');
    expect(await unlock()).toContain('cluster: not locked');
  });

  test('a kbuild that is killed: hosts are free long before the 45 s of silence, and its Lease stops no run on its machine', async () => {
    await lab.inside(w1, `rm ${modules}`);
    const running = start(['up', file, '--yes', '--json', '--kubeconfig', kubeconfig]);
    await waitUntil('a change', PATIENCE_MS, () => running.printed().includes('"kind":"changing"'));
    running.kill('SIGKILL');
    for (const host of HOSTS)
      expect((await lab.inside(host, 'timeout 10 flock /run/kbuild/lock true')).code, host).toBe(0);
    await running.ended;
    expect(await holder()).toContain(`(pid ${String(running.pid)})`);
    await lab.inside(w2, `rm ${modules}`);
    ok(await up());
    expect(await holder()).toBe('');
    unchanged(await up());
  });
});

describe('a port that another process holds', () => {
  test('check names host, port and process, all at once, and up changes nothing', async () => {
    const all = { ...inventory, hosts: [...inventory.hosts, ...(await lab.inventory([stray])).hosts] };
    write(all);
    await lab.inside(stray, 'systemd-run --quiet --unit=holder nc -lk 10250');
    await lab.inside(stray, 'timeout 10 sh -c "until ss -Hltn sport = :10250 | grep -q .; do sleep 0.1; done"');
    const { code, stdout } = await kbuild('check', file);
    expect(code).toBe(6);
    expect(stdout).toMatch(/10250/);
    expect(stdout).toMatch(/\bnc\b/);
    const built = await up();
    expect(built.code).toBe(6);
    expect((await lab.inside(stray, 'ls /etc/apt/sources.list.d')).stdout).not.toContain('kbuild');
    await lab.inside(stray, 'systemctl stop holder');
    write(inventory);
  });
});

describe('reset', () => {
  const canaries = `iptables -w -t filter -N MINE 2>/dev/null; iptables -w -A MINE -p tcp --dport 4242 -j ACCEPT
    printf x > /etc/cni/net.d/99-mine.conflist; mkdir -p /var/lib/kubelet-mine; printf y > /var/lib/kubelet-mine/z`;
  const canariesThere = `iptables -w -S MINE; cat /etc/cni/net.d/99-mine.conflist /var/lib/kubelet-mine/z`;

  test('of one worker takes it out of the cluster, and up joins it again', async () => {
    ok(await kbuild('reset', file, '--hosts', w2, '--yes-destroy', w2));
    expect(Object.keys(await nodes(cp)).sort()).toEqual([cp, w1].sort());
    const ran = ok(await up());
    console.log(`one worker joins again: ${ran.seconds.toFixed(1)} s`);
    expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true, [w2]: true });
  });

  test('needs the name of the cluster', async () => {
    expect((await kbuild('reset', file)).code).toBe(2);
    expect((await kbuild('reset', file, '--yes-destroy', 'wrong')).code).toBe(2);
  });

  test('takes down the whole cluster, and nothing that is not ours', async () => {
    for (const host of HOSTS) await lab.inside(host, canaries);
    const before = await lab.inside(w1, canariesThere);
    const ran = ok(await kbuild('reset', file, '--yes-destroy', 'first'));
    console.log(`reset of three hosts: ${ran.seconds.toFixed(1)} s`);
    for (const host of HOSTS) {
      expect(await lab.inside(host, canariesThere)).toEqual(before);
      expect(await leftByReset(host), host).toBe('');
    }
  });

  test('a second reset has nothing to do', async () => {
    unchanged(await kbuild('reset', file, '--yes-destroy', 'first'));
  });

  test('up after reset works', async () => {
    const ran = ok(await up());
    console.log(`up after reset: ${ran.seconds.toFixed(1)} s`);
    expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true, [w2]: true });
    expect(existsSync(kubeconfig)).toBe(true);
  });
});
