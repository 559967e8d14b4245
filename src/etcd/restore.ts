import { putControlPlaneAside } from '../cluster/stop-control-plane.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import type { On } from '../remote/remote.ts';
import { sh } from '../shell/sh.ts';
import { script } from '../templates.ts';

/** A restore: the same snapshot for all members, at one moment. */
export interface Restore {
  readonly inventory: Inventory;
  /** The control planes, all of them. */
  readonly controls: readonly LinuxHost[];
  /** The hosts of etcd's members: the same, or those of role etcd. */
  readonly members: readonly LinuxHost[];
  /** The local file. */
  readonly snapshot: string;
  /** Names this restore; a new one is another etcd cluster, which old members can never join. */
  readonly id: string;
  /** Tells what is done now. */
  readonly say: (what: string) => void;
}

const DATA = '/var/lib/etcd-kbuild-restored';
const ASIDE = `${paths.state}/restore`;

const peerUrl = (host: LinuxHost): string => `https://${host.internalAddress}:2380`;

const all = async (hosts: readonly LinuxHost[], work: (host: LinuxHost) => Promise<unknown>): Promise<void> => {
  await Promise.all(hosts.map(work));
};

/** The image of etcd that the host's control plane runs. */
async function etcdImage(on: On, host: LinuxHost): Promise<string> {
  const said = await on(host).run(
    sh`cat /etc/kubernetes/manifests/etcd.yaml ${`${ASIDE}/etcd.yaml`} 2>/dev/null | sed -n 's/^ *image: *//p' | head -n 1`,
  );
  return said.trim();
}

/**
 * Restores the whole control plane from one snapshot: data is made on every host first; then all API servers and etcds stop;
 * the old data is put aside and the new one in its place; etcd starts everywhere, then the rest. Cut off anywhere, the same
 * again goes on: the hosts are left as they are.
 */
export async function restoreControlPlane(on: On, restore: Restore): Promise<void> {
  const { inventory, controls, members, snapshot, id, say } = restore;
  const hosts = [...new Set([...controls, ...members])];
  const cluster = members.map((host) => `${host.name}=${peerUrl(host)}`).join(',');
  const file = `/var/lib/kbuild/snapshot-${id}.db`;
  say(`making etcd's data of it on ${members.map(({ name }) => name).join(', ')}`);
  await all(members, async (host) => {
    await on(host).upload(snapshot, file, 0o600);
    await on(host).job(
      'etcd-restore',
      script('linux/etcd-restore-prepare.sh', {
        FILE: file,
        DATA,
        IMAGE: await etcdImage(on, host),
        NAME: host.name,
        PEER: peerUrl(host),
        CLUSTER: cluster,
        TOKEN: `${inventory.name}-${id}`,
      }),
    );
    await on(host).run(sh`rm -f -- ${file}`);
  });
  say('stopping the control plane');
  await all(hosts, (host) => on(host).job('etcd-restore-stop', putControlPlaneAside(ASIDE)));
  say('starting etcd with the restored data');
  await all(members, (host) =>
    on(host).job(
      'etcd-restore-swap',
      script('linux/etcd-restore-swap.sh', { ASIDE, DATA, KEPT: `/var/lib/etcd-before-restore-${id}` }),
    ),
  );
  say('starting the API servers');
  await all(hosts, (host) => on(host).job('etcd-restore-start', script('linux/etcd-restore-start.sh', { ASIDE })));
}
