/**
 * Cilium's real agent and operator: pods of different nodes, Services, NetworkPolicy, an agent that is killed, a node that restarts, an
 * address for a Service that the network reaches, and what reset leaves; without kube-proxy on three hosts, then beside kube-proxy on two of
 * them. The tests build on each other.
 */
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildCilium, noCgroups, ownCgroups, withCilium } from '../cilium.ts';
import { fresh } from '../fresh.ts';
import { kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { tellPluginStart } from '../plugin-start.ts';
import { answersFromOutside, dial, type EchoPod, kubectl, nodes, startEcho } from '../pods.ts';
import { waitUntil } from '../wait-until.ts';

const [cp, w1, w2] = ['cilcp1', 'cilw1', 'cilw2'] as const;
const HOSTS = [cp, w1, w2];
const NAMESPACE = 'echo';
const PATIENCE_MS = 300_000;
let up: readonly string[];
let file: string;
let plain: lab.LabInventory;
let pods: readonly EchoPod[];

const write = (inventory: object): void =>
  writeFileSync(file, stringify({ ...inventory, name: 'cilium' }, { aliasDuplicateObjects: false }));
const agentOf = (host: string): Promise<string> =>
  kubectl(cp, `-n kube-system get pods -l k8s-app=cilium --field-selector spec.nodeName=${host} -o name`);
/** What the agent of a host says. */
const agentSays = async (host: string, command: string): Promise<string> =>
  kubectl(cp, `-n kube-system exec ${(await agentOf(host)).trim()} -c cilium-agent -- cilium-dbg ${command}`);
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

/** What of Cilium, and of kube-proxy, a host has in its kernel and on its disk. */
async function tracesOn(host: string): Promise<string> {
  const { stdout } = await lab.inside(
    host,
    `ip -o link | grep -oE 'cilium_[a-z0-9]+|lxc[0-9a-z_]+'
     ip rule | grep -E '/0xf00|^100:'
     for d in /sys/class/net/*; do tc filter show dev "\${d##*/}" ingress; tc filter show dev "\${d##*/}" egress; done 2>/dev/null | grep cil_
     ls -d /sys/fs/bpf/cilium /sys/fs/bpf/tc/globals/cilium_* /run/cilium /var/lib/cilium /opt/cni/bin/cilium-cni /etc/cni/net.d/*cilium* 2>/dev/null
     grep cgroup2 /proc/mounts
     { iptables-save; iptables-legacy-save; } 2>/dev/null | grep -E 'CILIUM_|KUBE-(SVC|SEP)'; true`,
  );
  return stdout;
}

beforeAll(async () => {
  await buildCilium();
  ({ up, file } = await fresh('cilium', HOSTS));
  plain = await lab.inventory(HOSTS);
  await ownCgroups(HOSTS);
});
afterAll(async () => {
  await lab.down(HOSTS);
  await noCgroups(HOSTS);
});

describe('without kube-proxy', () => {
  test('up makes the network, with no pod of kube-proxy, and a second run changes nothing', async () => {
    write(withCilium(plain, 'none'));
    timed('1 control plane and 2 workers with Cilium, without kube-proxy', await kbuild(...up));
    await tellPluginStart(cp, 'Cilium', '-n kube-system -l k8s-app=cilium');
    expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true, [w2]: true });
    expect(await kubectl(cp, '-n kube-system get daemonsets -o name')).toBe('daemonset.apps/cilium\n');
    unchanged(await kbuild(...up));
  });

  test('the agent replaces kube-proxy and says that all is well', async () => {
    const status = await agentSays(w1, 'status');
    expect(status).toMatch(/KubeProxyReplacement:\s+True/);
    expect(status).toMatch(/Cilium:\s+Ok/);
    expect(await tracesOn(w1)).not.toContain('KUBE-SVC');
  });

  test('the agent has the cgroup of its own host alone, not the hierarchy that all hosts of the lab share', async () => {
    for (const host of HOSTS) {
      const mounts = await kubectl(
        cp,
        `-n kube-system exec ${(await agentOf(host)).trim()} -c cilium-agent -- cat /proc/self/mountinfo`,
      );
      const roots = mounts.split('\n').flatMap((line) => (line.includes(' - cgroup2 ') ? [line.split(' ')[3]!] : []));
      expect(roots, host).not.toEqual([]);
      for (const root of roots) expect(root, host).toMatch(new RegExp(`kbuild-lab[-/]${host}(?:/|$)`));
    }
  });

  test('pods of all nodes reach each other, a Service by its name, and a NodePort answers on every host', async () => {
    pods = await startEcho(cp, NAMESPACE, 300);
    await expectCarried();
    await kubectl(
      cp,
      `-n ${NAMESPACE} expose service echo --name outside --port 80 --target-port 8080 --type NodePort`,
    );
    const port = await kubectl(cp, `-n ${NAMESPACE} get service outside -o jsonpath={.spec.ports[0].nodePort}`);
    for (const host of plain.hosts)
      await waitUntil(`${host.name} answers at its NodePort`, PATIENCE_MS, async () => {
        // By sshd: what `inside` starts is in no cgroup of the host, where Cilium serves the host's own processes.
        const { stdout } = await lab.ssh(cp, `curl -s --max-time 3 http://${host.address}:${port}/hostname`);
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
    await kubectl(cp, `-n ${NAMESPACE} delete networkpolicy nobody`);
    await waitUntil('it is gone', PATIENCE_MS, async () => (await answers(from, to.ip)) === to.name);
  });

  test('while an agent is dead its pods are still reached, and it comes back', async () => {
    const before = await agentOf(w1);
    await lab.inside(w1, 'kill -9 $(pidof cilium-agent)');
    expect(await answers(podOn(w2), podOn(w1).ip)).toBe(podOn(w1).name);
    await waitUntil('the agent is back', PATIENCE_MS, async () =>
      /Cilium:\s+Ok/.test(await agentSays(w1, 'status').catch(() => '')),
    );
    expect(await agentOf(w1)).toBe(before);
    await expectCarried();
    unchanged(await kbuild(...up));
  });

  test('a node that restarts is Ready again, with its pods', async () => {
    await lab.reboot([w2]);
    await waitUntil(`${w2} is Ready`, PATIENCE_MS, async () => (await nodes(cp))[w2] === true);
    // Its pods have other addresses then.
    const old = podOn(w2).ip;
    pods = await waitUntil('its pod has started again', PATIENCE_MS, async () => {
      const found = await startEcho(cp, NAMESPACE, 300);
      return found.some(({ node, ip }) => node === w2 && ip !== old) ? found : undefined;
    });
    await expectCarried();
    unchanged(await kbuild(...up));
  });

  test('a Service of type LoadBalancer gets an address of a pool, and the machine of the lab is answered there', async () => {
    const written = withCilium(plain, 'none');
    const pools = { lan: ['10.77.0.248-10.77.0.249'] };
    write({ ...written, network: { ...(written['network'] as object), loadBalancers: { kind: 'cilium', pools } } });
    ok(await kbuild(...up));
    const ports = '--port 80 --target-port 8080 --type LoadBalancer';
    await kubectl(cp, `-n ${NAMESPACE} expose service echo --name balanced ${ports}`);
    const address = await waitUntil('it has an address', PATIENCE_MS, async () => {
      const status = '-o jsonpath={.status.loadBalancer.ingress[*].ip}';
      return (await kubectl(cp, `-n ${NAMESPACE} get service balanced ${status}`)) || undefined;
    });
    expect(address).toMatch(/^10\.77\.0\.24[89]$/);
    await waitUntil('it answers', PATIENCE_MS, () => answersFromOutside(address));
    unchanged(await kbuild(...up));
  });

  test('reset leaves nothing of it, without a restart', async () => {
    ok(await kbuild('reset', file, '--yes-destroy', 'cilium'));
    for (const host of HOSTS) expect(await tracesOn(host), host).toBe('');
  });
});

describe('beside kube-proxy', () => {
  test('the same hosts become such a cluster, and a second run changes nothing', async () => {
    plain = await lab.inventory([cp, w1]);
    write(withCilium(plain, 'iptables', { ipam: 'cluster-pool', port: 8473 }));
    timed('1 control plane and 1 worker with Cilium beside kube-proxy', await kbuild(...up));
    expect(await agentSays(w1, 'status')).toMatch(/KubeProxyReplacement:\s+False/);
    expect(await tracesOn(w1)).toContain('KUBE-SVC');
    unchanged(await kbuild(...up));
  });

  test('pods reach each other and a Service', async () => {
    pods = await startEcho(cp, NAMESPACE, 300);
    await expectCarried();
  });

  test('another plugin is refused on the live cluster', async () => {
    const written = withCilium(plain, 'iptables');
    write({ ...written, network: { plugin: 'flannel' } });
    const { code, stderr } = await kbuild(...up);
    expect(code).toBe(7);
    expect(stderr).toContain('network.plugin is flannel, the cluster was made with cilium');
    write(written);
  });
});
