import { expect, test } from 'vitest';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { certificatesNote, clusterNote, hostsNote } from '../../src/report/record/notes.ts';
import { statusOf } from '../../src/report/status-view.ts';
import { NOT_THROUGH_ONE } from '../../src/session/connect.ts';
import { certificateOf } from '../fakes/certificate.ts';
import {
  clusterOf,
  cp1,
  fleetIn,
  factsOf,
  inventoryOf,
  joinedControlPlane,
  nodeOf,
  OTHER_CA,
} from '../fakes/cluster.ts';

const osRelease = { prettyName: 'Debian GNU/Linux 12 (bookworm)' } as LinuxFacts['osRelease'];
const certificates = [certificateOf('apiserver', '2026-11-22T00:00:00.000Z')];
const inventory = inventoryOf();

const hosts: Readonly<Record<string, LinuxFacts>> = {
  joined: joinedControlPlane({ osRelease, certificates }),
  'of another cluster': joinedControlPlane({ osRelease, certificates, caFingerprint: OTHER_CA }),
  'without a marker': joinedControlPlane({ osRelease, certificates, marker: 'absent' }),
  fresh: factsOf({ osRelease, certificates: [] }),
};
const clusters: readonly ClusterView[] = [
  clusterOf({ nodes: [nodeOf({ name: 'cp1', role: 'control-plane' })] }),
  { state: 'down', reason: 'no answer' },
  { state: 'absent' },
];

test.each(Object.keys(hosts))(
  'the status of a host that is %s reads no fact that is left out with --no-hosts',
  (name) => {
    const read = new Set<string>();
    const facts = new Proxy(hosts[name]!, {
      get: (target, key) => {
        read.add(String(key));
        return Reflect.get(target, key) as unknown;
      },
    });
    for (const cluster of clusters) {
      const fleet = fleetIn(cluster, [cp1, facts]);
      statusOf(inventory, fleet, { drift: [], trouble: [] });
      hostsNote(fleet);
      clusterNote(inventory, fleet);
      certificatesNote(inventory, fleet);
    }
    expect([...read]).toEqual(expect.arrayContaining(['certificates', 'kubernetesTraces']));
    expect(NOT_THROUGH_ONE.filter((fact) => read.has(fact))).toEqual([]);
  },
);
