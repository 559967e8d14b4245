/** A cluster with stacked etcd behind a balancer of the user's own, or of kbuild's, for scenario tests. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { bootFresh } from './fresh.ts';
import { inventoryFile, kbuild, start, type Ran, type Running } from './kbuild.ts';
import * as lab from './lab.ts';
import { readable } from './ok.ts';
import { balance, type Balancer } from './tcp-balancer.ts';

/** Hosts, a balancer, and an inventory that a test changes. */
export interface Stacked {
  readonly file: string;
  readonly kubeconfig: string;
  /** The user's own; no client uses it where `virtual` is given. */
  readonly balancer: Balancer;
  /** What of `kubernetes` in the inventory says where the API is. */
  readonly kubernetes: { readonly endpoint?: string };
  /** The inventory names these hosts from now on, with these `other` settings, and the balancer their API servers. */
  readonly name: (hosts: readonly string[], other?: object) => Promise<void>;
  readonly up: (...flags: readonly string[]) => Promise<Ran>;
  readonly startUp: (...flags: readonly string[]) => Running;
  /** Any other command on this inventory; its state lies in the test's own folder. */
  readonly run: (...args: readonly string[]) => Promise<Ran>;
}

/**
 * Boots fresh hosts and a balancer; `cluster` names the cluster; `more` are further settings of its inventory. `virtual`: the address
 * that kbuild's own load balancers, on the control planes, have instead. `prepared`: those of the hosts that are not bare (prepared-disk.ts).
 */
export async function stacked(
  cluster: string,
  port: number,
  hosts: readonly string[],
  more: object = {},
  {
    virtual,
    prepared = [],
  }: {
    readonly virtual?: { readonly address: string; readonly port: number };
    readonly prepared?: readonly string[];
  } = {},
): Promise<Stacked> {
  await bootFresh(hosts, prepared);
  const balancer = await balance(port, []);
  const { folder, file } = inventoryFile({});
  const kubeconfig = join(folder, `${cluster}.kubeconfig`);
  process.env['XDG_STATE_HOME'] = join(folder, 'state');
  const kubernetes = virtual === undefined ? { endpoint: balancer.endpoint } : {};
  const name = async (names: readonly string[], other: object = {}): Promise<void> => {
    const inventory = await lab.inventory(names);
    balancer.setBackends(
      inventory.hosts
        .filter(({ role }) => role === 'control-plane')
        .map((host) => host.internalAddress ?? host.address),
    );
    const changed = {
      ...inventory,
      name: cluster,
      kubernetes: { ...(inventory['kubernetes'] as object), ...kubernetes },
      loadBalancer: virtual === undefined ? { kind: 'external' } : { kind: 'keepalived', ...virtual },
      ...more,
      ...other,
    };
    writeFileSync(file, stringify(changed, { aliasDuplicateObjects: false }));
  };
  await name(hosts);
  const upArgs = ['up', file, '--yes', '--kubeconfig', kubeconfig];
  return {
    file,
    kubeconfig,
    balancer,
    kubernetes,
    name,
    up: (...flags) => kbuild(...upArgs, ...flags),
    startUp: (...flags) => start([...upArgs, ...flags]),
    run: (...args) => kbuild(...args, '-i', file),
  };
}

/** `etcd` of `kbuild status --json`. */
interface EtcdStatus {
  readonly leader: string;
  readonly members: readonly {
    readonly name: string;
    readonly id: string;
    readonly healthy: boolean;
    readonly learner: boolean;
  }[];
}

/** What `kbuild status --json` says of etcd. */
export async function etcdOf({ run }: Stacked): Promise<EtcdStatus> {
  const { stdout, stderr } = await readable(() => run('status', '--json'));
  if (stdout === '') throw new Error(stderr);
  return (JSON.parse(stdout) as { readonly etcd: EtcdStatus }).etcd;
}

/** Its members, with what is wrong with them. */
export const membersOf = async (cluster: Stacked): Promise<readonly string[]> =>
  (await etcdOf(cluster)).members
    .map(({ name, healthy, learner }) => `${name}${healthy ? '' : ' down'}${learner ? ' learner' : ''}`)
    .sort();

/** A program of etcd's image in the etcd that runs on a control plane; its stdout, empty where none runs. */
export const inEtcd = async (host: string, command: string): Promise<string> =>
  (
    await lab.inside(
      host,
      `id=$(ctr -n k8s.io containers ls -q 'labels."io.kubernetes.container.name"==etcd' | while read -r c; do ctr -n k8s.io tasks ls | awk -v c="$c" '$1 == c && $3 == "RUNNING" { print c }'; done | head -n 1)
       ctr -n k8s.io tasks exec --exec-id "test-$$" "$id" ${command}`,
    )
  ).stdout;

const PKI = '/etc/kubernetes/pki/etcd';

/** etcdctl there, as the member's own client. */
export const etcdctl = (host: string, args: string): Promise<string> =>
  inEtcd(
    host,
    `etcdctl --endpoints https://127.0.0.1:2379 --cacert ${PKI}/ca.crt --cert ${PKI}/server.crt --key ${PKI}/server.key ${args}`,
  );
