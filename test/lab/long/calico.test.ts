/**
 * Calico's real programs, installed by its real operator: pods of different nodes, Services, NetworkPolicy, a Felix that is killed, a node
 * that restarts, and what reset leaves on three hosts; then both families on two of them. The tests build on each other.
 */
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildCalico, withCalico } from '../calico-operator.ts';
import { fresh } from '../fresh.ts';
import { giveIpv6, ipv6Of, nodeAddresses, reachedAt } from '../ipv6.ts';
import { kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { tellPluginStart } from '../plugin-start.ts';
import { dial, type EchoPod, kubectl, nodes, startEcho } from '../pods.ts';
import { waitUntil } from '../wait-until.ts';

const [cp, w1, w2] = ['calcp1', 'calw1', 'calw2'] as const;
const HOSTS = [cp, w1, w2];
const NAMESPACE = 'echo';
const PATIENCE_MS = 300_000;
let up: readonly string[];
let file: string;
let pods: readonly EchoPod[];

const write = (inventory: object): void =>
  writeFileSync(file, stringify({ ...inventory, name: 'calico' }, { aliasDuplicateObjects: false }));
const answers = async (from: EchoPod, host: string, port?: number): Promise<string | undefined> =>
  dial(cp, NAMESPACE, from, host, port).catch(() => undefined);
const podOn = (host: string): EchoPod => pods.find(({ node }) => node === host)!;

/** Every pod reaches every other one, and a Service by name from each of them. */
async function expectCarried(): Promise<void> {
  for (const from of pods) {
    for (const to of pods)
      await waitUntil(`${from.node} reaches the pod on ${to.node}`, PATIENCE_MS, async () => {
        return (await answers(from, to.ip)) === to.name;
      });
    await waitUntil(`${from.node} reaches the Service`, PATIENCE_MS, async () => {
      const answer = await answers(from, `echo.${NAMESPACE}.svc.cluster.local`, 80);
      return pods.some(({ name }) => name === answer);
    });
  }
}

/** What of Calico a host has in its kernel and on its disk. */
async function tracesOn(host: string): Promise<string> {
  const { stdout } = await lab.inside(
    host,
    `{ ip -o link; ip route; ip -6 route; iptables-save; ip6tables-save; iptables-legacy-save; } 2>/dev/null |
       grep -E 'cali(-|:|[0-9a-f]{11}|co)|[.]cali|proto 80|blackhole 10\\.|KUBE-SVC'
     nft list tables | grep -E ' calico(-arp)?$'
     ipset list -n 2>/dev/null | grep ^cali
     ls -d /var/lib/calico /var/log/calico /run/calico /run/nodeagent /etc/cni/net.d/*calico* /opt/cni/bin/calico* \\
       /usr/libexec/kubernetes/kubelet-plugins/volume/exec/* 2>/dev/null; true`,
  );
  return stdout;
}

/** What a user had on a host before, beside what Calico makes. */
const OWN = [
  'iptables -N calibre && iptables -A FORWARD -j calibre && ip route add blackhole 192.0.2.0/24 proto static',
  'nft add table ip calico_own && mkdir -p /var/lib/calibre',
].join(' && ');
const ownOn = async (host: string): Promise<string> =>
  (
    await lab.inside(
      host,
      'iptables-save | grep -- "-A FORWARD -j calibre"; ip route | grep 192.0.2; nft list tables | grep _own; ls -d /var/lib/calibre',
    )
  ).stdout;

beforeAll(async () => {
  await buildCalico();
  ({ up, file } = await fresh('calico', HOSTS));
  write(withCalico(await lab.inventory(HOSTS)));
});
afterAll(() => lab.down(HOSTS));

describe('VXLAN without BGP', () => {
  test('up makes the network, and a second run changes nothing', async () => {
    await lab.inside(w1, OWN);
    timed('1 control plane and 2 workers with Calico', await kbuild(...up));
    await tellPluginStart(cp, 'Calico', '-n calico-system -l k8s-app=calico-node');
    expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true, [w2]: true });
    unchanged(await kbuild(...up));
  });

  test('the operator says that all is available, with images of the tag that it asked for', async () => {
    await waitUntil('the operator says so', PATIENCE_MS, async () => {
      const status = `get tigerastatus calico -o 'jsonpath={.status.conditions[?(@.type=="Available")].status}'`;
      return (await kubectl(cp, status)) === 'True';
    });
    expect(await kubectl(cp, '-n calico-system get daemonset calico-node -o yaml')).toContain('calico/node:v3.29.2');
    expect(await tracesOn(w1)).toMatch(/vxlan\.calico/);
  });

  test('pods of all nodes reach each other, a Service by its name, and a NodePort answers on every host', async () => {
    pods = await startEcho(cp, NAMESPACE, 300);
    await expectCarried();
    const expose = `expose service echo --name outside --port 80 --target-port 8080 --type NodePort`;
    await kubectl(cp, `-n ${NAMESPACE} ${expose}`);
    const port = await kubectl(cp, `-n ${NAMESPACE} get service outside -o jsonpath={.spec.ports[0].nodePort}`);
    for (const host of (await lab.inventory(HOSTS)).hosts)
      await waitUntil(`${host.name} answers at its NodePort`, PATIENCE_MS, async () => {
        const { stdout } = await lab.inside(cp, `curl -s --max-time 3 http://${host.address}:${port}/hostname`);
        return pods.some(({ name }) => name === stdout.trim());
      });
  });

  test('a NetworkPolicy keeps packets away, and only those', async () => {
    const from = podOn(w1);
    const to = podOn(w2);
    const policy = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'nobody' },
      spec: { podSelector: { matchLabels: { closed: 'yes' } }, policyTypes: ['Ingress'] },
    };
    await kubectl(cp, `-n ${NAMESPACE} apply -f -`, JSON.stringify(policy));
    await kubectl(cp, `-n ${NAMESPACE} label pod ${to.name} closed=yes`);
    await waitUntil('the policy holds', PATIENCE_MS, async () => (await answers(from, to.ip)) === undefined);
    expect(await answers(from, podOn(cp).ip)).toBe(podOn(cp).name);
    const ingress = [{ from: [{ podSelector: { matchLabels: { friend: 'yes' } } }] }];
    const allowing = { ...policy, spec: { ...policy.spec, ingress } };
    await kubectl(cp, `-n ${NAMESPACE} apply -f -`, JSON.stringify(allowing));
    await kubectl(cp, `-n ${NAMESPACE} label pod ${from.name} friend=yes`);
    await waitUntil('it lets a friend in', PATIENCE_MS, async () => (await answers(from, to.ip)) === to.name);
    expect(await answers(podOn(cp), to.ip)).toBeUndefined();
    await kubectl(cp, `-n ${NAMESPACE} delete networkpolicy nobody`);
    await waitUntil('it is gone', PATIENCE_MS, async () => (await answers(podOn(cp), to.ip)) === to.name);
  });

  test('while Felix is dead its pods are still reached, and it comes back', async () => {
    const felix = async (): Promise<string> =>
      (await lab.inside(w1, 'pgrep -f -o "^calico-node -felix$" || true')).stdout.trim();
    const killed = await felix();
    await lab.inside(w1, `kill -9 ${killed}`);
    expect(await answers(podOn(w2), podOn(w1).ip)).toBe(podOn(w1).name);
    await waitUntil('it is back', PATIENCE_MS, async () => ![killed, ''].includes(await felix()));
    await expectCarried();
    unchanged(await kbuild(...up));
  });

  test('a node that restarts is Ready again, with its pods', async () => {
    await lab.reboot([w2]);
    await waitUntil(`${w2} is Ready`, PATIENCE_MS, async () => (await nodes(cp))[w2] === true);
    const old = podOn(w2).ip;
    pods = await waitUntil('its pod has started again', PATIENCE_MS, async () => {
      const found = await startEcho(cp, NAMESPACE, 300);
      return found.some(({ node, ip }) => node === w2 && ip !== old) ? found : undefined;
    });
    await expectCarried();
    unchanged(await kbuild(...up));
  });

  test('another plugin is refused on the live cluster', async () => {
    const written = withCalico(await lab.inventory(HOSTS));
    write({ ...written, network: { plugin: 'flannel' } });
    const { code, stderr } = await kbuild(...up);
    expect(code).toBe(7);
    expect(stderr).toContain('network.plugin is flannel, the cluster was made with calico');
    write(written);
  });

  test('reset leaves nothing of it without a restart, and takes nothing that is like it by name', async () => {
    ok(await kbuild('reset', file, '--yes-destroy', 'calico'));
    for (const host of HOSTS) expect(await tracesOn(host), host).toBe('');
    expect((await ownOn(w1)).split('\n').filter(Boolean)).toHaveLength(4);
  });
});

describe('both families', () => {
  test('the same hosts become such a cluster, and a second run changes nothing', async () => {
    const plain = await lab.inventory([cp, w1]);
    await giveIpv6([cp, w1]);
    const families = { podSubnet: '10.244.0.0/16,fd00:10:244::/56', serviceSubnet: '10.96.0.0/12,fd00:10:96::/112' };
    const hosts = plain.hosts.map((host) => ({ ...host, internalAddress: `${host.address},${ipv6Of(host.name)}` }));
    write({ ...withCalico(plain, families), hosts });
    timed('1 control plane and 1 worker with Calico and both families', await kbuild(...up));
    expect(await nodeAddresses(cp, w1)).toHaveLength(2);
    unchanged(await kbuild(...up));
  });

  test('pods reach each other and a Service by each family', async () => {
    expect(await reachedAt(cp, 'RequireDualStack')).toEqual([false, true]);
  });

  test('reset leaves nothing of either', async () => {
    ok(await kbuild('reset', file, '--yes-destroy', 'calico'));
    for (const host of [cp, w1]) expect(await tracesOn(host), host).toBe('');
  });
});
