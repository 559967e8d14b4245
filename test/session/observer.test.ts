import { afterEach, describe, expect, test } from 'vitest';
import type { Forward } from '../../src/cluster/fleet/https-peer.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import type { HostRemote } from '../../src/ssh/windows.ts';
import { DECIDING, observerOf } from '../../src/session/observer.ts';
import { capturedCluster, ownFrames } from '../fakes/cluster-server.ts';
import { cp1, cp2, inventoryOf } from '../fakes/cluster.ts';
import { fakeHttpsServer, type FakeHttpsServer } from '../fakes/https-server.ts';

const running: FakeHttpsServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ stop }) => stop()));
});

const frame = (name: string, text: string): string => `NONCE:begin:${name}\n${text}\nNONCE:end:${name}:0\n`;
const READS_OWN = /admin\.conf; else cat super-admin\.conf/;

/** Remotes whose hosts are joined, and the scripts that they were asked, as `host own` and `host facts`. */
function remotesOf(hosts: readonly LinuxHost[], forward: Forward, own = ownFrames()) {
  const asked: string[] = [];
  const remote = (host: LinuxHost): HostRemote =>
    ({
      host,
      transport: { loginMs: 1 },
      forward,
      ask: ({ script }: { readonly script: string }) => {
        const parts = [
          ...(/kubernetesTraces/.test(script) ? ['facts'] : []),
          ...(READS_OWN.test(script) ? ['own'] : []),
        ];
        asked.push(`${host.name} ${parts.join('+')}`);
        const word = /^NONCE=(\w+)$/m.exec(script)![1]!;
        const facts = frame('lockUsed', 'never') + frame('kubernetesTraces', '/etc/kubernetes/admin.conf');
        return Promise.resolve({ ...own, stdout: (facts + own.stdout).replaceAll('NONCE', word) });
      },
    }) as unknown as HostRemote;
  return { asked, remotes: new Map(hosts.map((host) => [host.name, remote(host)])) };
}

async function observing(own = ownFrames()) {
  const inventory = inventoryOf({ hosts: [cp1, cp2] });
  const server = await fakeHttpsServer((request) =>
    request === 'GET /readyz' ? { body: 'ok' } : capturedCluster(request),
  );
  running.push(server);
  const { asked, remotes } = remotesOf([cp1, cp2], server.forward, own);
  return { asked, addresses: () => server.addresses, observer: observerOf(inventory, remotes, () => 0) };
}

describe('the first control plane', () => {
  test('tells who its administrator is by the same script as the facts that decide where the cluster is observed', async () => {
    const { asked, observer } = await observing();
    const hosts = await Promise.all([cp1, cp2].map((host) => observer.host(host, DECIDING)));
    expect(asked.toSorted()).toEqual(['cp1 facts+own', 'cp2 facts']);
    expect(await observer.cluster(hosts, ['nodes'])).toMatchObject({ state: 'up', via: 'cp1' });
    expect(asked).toHaveLength(2);
  });

  test('is asked again for the next observation: a certificate may have been renewed', async () => {
    const { asked, observer } = await observing();
    const hosts = [await observer.host(cp1, DECIDING)];
    await observer.cluster(hosts, ['nodes']);
    await observer.cluster(hosts, ['nodes']);
    expect(asked).toEqual(['cp1 facts+own', 'cp1 own']);
  });

  test('has channels opened to all that is asked there while it tells its facts, each of which is used', async () => {
    const { observer, addresses } = await observing();
    const telling = observer.host(cp1, DECIDING);
    const early = [...addresses()];
    expect(early.toSorted()).toEqual(['10.0.0.11:2379', '10.0.0.11:6443', '127.0.0.1:2379', 'k8s.example:6443']);
    await observer.cluster([await telling], ['nodes', 'etcd', 'endpoint']);
    expect(addresses().slice(early.length), 'etcd of others than the first').not.toContainEqual(
      expect.stringMatching(/^(?:10\.0\.0\.11|127\.0\.0\.1|k8s\.example):/),
    );
  });

  test('is asked its facts alone when the cluster is not observed next', async () => {
    const { asked, observer } = await observing();
    await observer.host(cp1, [...DECIDING]);
    expect(asked).toEqual(['cp1 facts']);
  });

  test('whose kubeconfig cannot be read is asked by commands, as before', async () => {
    const { asked, observer } = await observing(ownFrames({ kubeconfig: undefined }));
    const hosts = [await observer.host(cp1, DECIDING)];
    await observer.cluster(hosts, ['nodes']);
    expect(asked).toEqual(['cp1 facts+own', 'cp1 ']);
  });
});
