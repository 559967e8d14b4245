/** A cluster with stacked etcd behind a balancer of the user's own, for scenario tests. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { inventoryFile, kbuild, start, type Ran, type Running } from './kbuild.ts';
import * as lab from './lab.ts';
import { balance, type Balancer } from './tcp-balancer.ts';

/** Hosts, a balancer, and an inventory that a test changes. */
export interface Stacked {
  readonly file: string;
  readonly kubeconfig: string;
  readonly balancer: Balancer;
  /** The inventory names these hosts from now on, with these `other` settings, and the balancer their API servers. */
  readonly name: (hosts: readonly string[], other?: object) => Promise<void>;
  readonly up: (...flags: readonly string[]) => Promise<Ran>;
  readonly startUp: (...flags: readonly string[]) => Running;
  /** Any other command on this inventory; its state lies in the test's own folder. */
  readonly run: (...args: readonly string[]) => Promise<Ran>;
}

/** Boots fresh hosts and a balancer; `cluster` names the cluster; `more` are further settings of its inventory. */
export async function stacked(
  cluster: string,
  port: number,
  hosts: readonly string[],
  more: object = {},
): Promise<Stacked> {
  await lab.up(hosts);
  await lab.reset(hosts);
  const balancer = await balance(port, []);
  const { folder, file } = inventoryFile({});
  const kubeconfig = join(folder, `${cluster}.kubeconfig`);
  process.env['XDG_STATE_HOME'] = join(folder, 'state');
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
      kubernetes: { ...(inventory['kubernetes'] as object), endpoint: balancer.endpoint },
      loadBalancer: { kind: 'external' },
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
    name,
    up: (...flags) => kbuild(...upArgs, ...flags),
    startUp: (...flags) => start([...upArgs, ...flags]),
    run: (...args) => kbuild(...args, '-i', file),
  };
}

/** What `kbuild status --json` says of etcd. */
export async function membersOf({ run }: Stacked): Promise<readonly string[]> {
  const { stdout, stderr } = await run('status', '--json');
  if (stdout === '') throw new Error(stderr);
  const { etcd } = JSON.parse(stdout) as {
    etcd: { members: { name: string; healthy: boolean; learner: boolean }[] };
  };
  return etcd.members
    .map(({ name, healthy, learner }) => `${name}${healthy ? '' : ' down'}${learner ? ' learner' : ''}`)
    .sort();
}
