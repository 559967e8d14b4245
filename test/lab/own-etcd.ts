/** An etcd as users run their own: the static program under systemd on three hosts, with a CA that Kubernetes knows nothing of. */
import { readFileSync } from 'node:fs';
import * as lab from './lab.ts';
import { makeAuthority, makeLeaf, type KeyPair } from './openssl.ts';
import { KUBERNETES } from './versions.ts';

const FOLDER = '/etc/own-etcd';
const IMAGE = `etcd/manifests/${KUBERNETES[0].etcd}-0`;

/** An etcd that answers, and what its clients need. */
export interface OwnEtcd {
  readonly endpoints: readonly string[];
  /** The CA's certificate. */
  readonly ca: string;
  readonly client: KeyPair;
  /** etcdctl on the first member. Throws with its stderr. */
  readonly ctl: (command: string) => Promise<string>;
}

/** Where the lab's registry has the layers of etcd's image: one plain tar where the lab made it, several compressed ones of the published image. */
async function layers(): Promise<readonly string[]> {
  const accept = ['application/vnd.oci.image.manifest.v1+json', 'application/vnd.docker.distribution.manifest.v2+json'];
  const answer = await fetch(`${lab.REGISTRY_URL}/v2/${IMAGE}`, { headers: { accept: accept.join(', ') } });
  const manifest = (await answer.json()) as { readonly layers: readonly { readonly digest: string }[] };
  return manifest.layers.map(({ digest }) => `${lab.REGISTRY_URL}/v2/etcd/blobs/${digest}`);
}

const put = async (host: string, path: string, from: string): Promise<void> => {
  await lab.ssh(host, `install -D -m 0600 /dev/stdin ${path}`, readFileSync(from, 'utf8'));
};

/** Starts etcd on these hosts, with certificates made in `folder`. Returns when it is healthy. */
export async function ownEtcd(folder: string, hosts: readonly string[]): Promise<OwnEtcd> {
  const authority = await makeAuthority(folder, 'own-etcd-ca');
  const client = await makeLeaf(folder, 'kube-apiserver', authority);
  const address = (host: string): string => lab.hostSettings(host).address;
  const peers = hosts.map((host) => `${host}=https://${address(host)}:2380`).join(',');
  const endpoints = hosts.map((host) => `https://${address(host)}:2379`);
  const blobs = (await layers()).join(' ');
  await Promise.all(
    hosts.map(async (host) => {
      const leaf = await makeLeaf(folder, host, authority, [`IP:${address(host)}`, 'IP:127.0.0.1']);
      await put(host, `${FOLDER}/ca.crt`, authority.cert);
      await put(host, `${FOLDER}/server.crt`, leaf.cert);
      await put(host, `${FOLDER}/server.key`, leaf.key);
      const tls = ['', 'peer-'].map(
        (of) =>
          `--${of}cert-file ${FOLDER}/server.crt --${of}key-file ${FOLDER}/server.key --${of}trusted-ca-file ${FOLDER}/ca.crt --${of}client-cert-auth`,
      );
      const { code, stderr } = await lab.ssh(
        host,
        `for blob in ${blobs}; do curl -sSf "$blob" | gzip -dcf | tar -x -C / --wildcards '*usr/local/bin/etcd*' 2>/dev/null; done
         systemd-run --quiet --unit own-etcd -p Restart=always etcd --name ${host} --data-dir /var/lib/own-etcd \
           --listen-client-urls https://0.0.0.0:2379 --advertise-client-urls https://${address(host)}:2379 \
           --listen-peer-urls https://0.0.0.0:2380 --initial-advertise-peer-urls https://${address(host)}:2380 \
           --initial-cluster ${peers} --initial-cluster-state new --initial-cluster-token own ${tls.join(' ')}`,
      );
      if (code !== 0) throw new Error(`etcd on ${host}: ${stderr}`);
    }),
  );
  const ctl = async (command: string): Promise<string> => {
    const { code, stdout, stderr } = await lab.ssh(
      hosts[0]!,
      `etcdctl --endpoints ${endpoints.join(',')} --cacert ${FOLDER}/ca.crt --cert ${FOLDER}/server.crt --key ${FOLDER}/server.key --command-timeout 30s ${command}`,
    );
    if (code !== 0) throw new Error(`etcdctl ${command}: ${stderr}`);
    return stdout;
  };
  await ctl('endpoint health');
  return { endpoints, ca: authority.cert, client, ctl };
}
