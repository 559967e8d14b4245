import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { objectOf } from '../shell/decode.ts';
import { numberOf, probeInPlace } from '../shell/probe.ts';
import { script } from '../templates.ts';

/**
 * The range of the keys `/registry/…`, in base64 for etcd's HTTP gateway: the first key, and the first key after the
 * range.
 */
const REGISTRY = { first: 'L3JlZ2lzdHJ5Lw==', beyond: 'L3JlZ2lzdHJ5MA==' } as const;

/**
 * The answer of one endpoint of the user's etcd to a client with the API server's certificate. `problem`: why kbuild
 * cannot use the answer.
 */
export interface EtcdEndpoint {
  readonly url: string;
  readonly problem: string | undefined;
  /** e.g. `3.6.8`; empty with a problem. */
  readonly version: string;
  /** Number of keys below /registry/: objects of a Kubernetes cluster. */
  readonly keys: number;
}

interface Answers {
  readonly etcdserver?: string;
  readonly health?: string | boolean;
  readonly count?: string;
}

function answer(text: string): Answers {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
}

function parse(block: string): EtcdEndpoint {
  const [url = '', ...lines] = block.split('\n');
  const field = (name: string): string =>
    lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? '';
  const failed = (problem: string): EtcdEndpoint => ({ url, problem, version: '', keys: 0 });
  if (field('error') !== '') return failed(field('error'));
  const { etcdserver } = answer(field('version'));
  if (typeof etcdserver !== 'string')
    return failed(`it does not report its version (${field('version').slice(0, 80)})`);
  const { health } = answer(field('health'));
  if (String(health) !== 'true') return failed(`it is not healthy (${field('health').slice(0, 80)})`);
  if (!field('keys').startsWith('{"header"')) return failed(`its keys cannot be read (${field('keys').slice(0, 120)})`);
  return { url, problem: undefined, version: etcdserver, keys: numberOf(String(answer(field('keys')).count ?? 0)) };
}

/**
 * Answers of the user's etcd to a control plane that has not joined, with the client certificate of its future API
 * server. `not asked` if the host does not have that certificate yet, or if etcd is stacked.
 */
export function externalEtcd({ etcd }: Inventory, host: LinuxHost) {
  const urls = etcd.topology !== 'stacked' && host.role === 'control-plane' ? etcd.endpoints : [];
  const range = JSON.stringify({ key: REGISTRY.first, range_end: REGISTRY.beyond, count_only: true });
  return probeInPlace(
    script('etcd/probe-external-etcd.sh', {
      URLS: urls.join(' '),
      RANGE: range,
      CA: paths.etcdCa,
      CERTIFICATE: paths.etcdClientCertificate,
      KEY: paths.etcdClientKey,
    }),
    (out): readonly EtcdEndpoint[] | 'not asked' =>
      out.trim() === 'not asked'
        ? 'not asked'
        : out
            .split(/^endpoint /m)
            .slice(1)
            .map(parse),
  );
}
